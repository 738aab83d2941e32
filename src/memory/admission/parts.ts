/** What admission is made of: the policy, and the model's grade where a model is configured; compose/admission fills it. */
import type { AskGrade } from './model-grade.ts';
import type { CompiledAdmission } from './policy.ts';

export interface AdmissionParts {
  readonly policy: CompiledAdmission;
  /** With a language model: what no rule speaks about is asked of it. */
  readonly ask?: AskGrade;
}
