/** Loads and compiles the text guard's policies (policies/guard) at start; a fault in them refuses to start. */
import { join } from 'node:path';
import { HindsightError } from '../../errors.ts';
import { loadPolicy } from '../../policy.ts';
import { compileNameOrders, nameOrdersSchema } from './name-orders.ts';
import { compileRules, conceptsSchema, rulesSchema } from './rules.ts';
import type { TextGuardPolicy } from './stage.ts';
import { verdictsSchema } from './verdicts.ts';

/** Throws ERR_CONFIG_INVALID with the file and the fault. */
export function loadGuardPolicy(dir: string): TextGuardPolicy {
  const concepts = loadPolicy(join(dir, 'concepts.yaml'), conceptsSchema);
  const rules = loadPolicy(join(dir, 'rules.yaml'), rulesSchema);
  const { verdicts } = loadPolicy(join(dir, 'verdicts.yaml'), verdictsSchema);
  const names = loadPolicy(join(dir, 'names.yaml'), nameOrdersSchema);
  return {
    rules: compiledFrom('rules.yaml', () => compileRules(concepts, rules)),
    verdicts,
    nameOrders: compiledFrom('names.yaml', () => compileNameOrders(names)),
  };
}

function compiledFrom<T>(file: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    const detail = `guard/${file}: ${error instanceof Error ? error.message : String(error)}`;
    throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail }, cause: error });
  }
}
