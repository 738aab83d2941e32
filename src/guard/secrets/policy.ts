/** Loads the table of marked credentials at start; a fault in it refuses to start. */
import { join } from 'node:path';
import { HindsightError } from '../../errors.ts';
import { loadPolicy } from '../../policy.ts';
import { createFinder, type FindSecrets } from './detect.ts';
import { secretsSchema } from './table.ts';

/** The finder over policies/guard/secrets.yaml. Throws ERR_CONFIG_INVALID with the file and the fault. */
export function loadSecretFinder(guardDir: string): FindSecrets {
  const policy = loadPolicy(join(guardDir, 'secrets.yaml'), secretsSchema);
  try {
    return createFinder(policy);
  } catch (error) {
    const detail = `guard/secrets.yaml: ${error instanceof Error ? error.message : String(error)}`;
    throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail }, cause: error });
  }
}
