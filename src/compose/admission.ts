/** Admission as the service runs it: the policy, and the language model's grade where one is configured. */
import { join } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import type { LanguageModel } from '../domain/language-model.ts';
import type { AdmissionParts } from '../memory/admission/parts.ts';
import { gradeByModel } from '../memory/admission/model-grade.ts';
import { admissionSchema, compileAdmission } from '../memory/admission/policy.ts';
import { loadPolicy } from '../policy.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface AdmissionNeeds {
  readonly policiesDir: string;
  readonly model: LanguageModel | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Throws ERR_CONFIG_INVALID for a policy that is none. Nothing is asked of the model before a write. */
export function openAdmission({ policiesDir, model, clock, logger }: AdmissionNeeds): AdmissionParts {
  const policy = compileAdmission(loadPolicy(join(policiesDir, 'admission.yaml'), admissionSchema));
  if (model === undefined) return { policy };
  const onFailed = (err: unknown): void =>
    logger.warn({ err, model: model.model }, 'the language model gave no grade; the rules of admission decide');
  return { policy, ask: gradeByModel({ model, limits: policy.model, clock, onFailed }) };
}
