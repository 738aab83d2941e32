/** The formulas a profile may name. */
import type { Formula } from './formula.ts';
import { hybrid } from './hybrid.ts';
import { seedAge } from './seed-age.ts';
import { seedMultiplicative } from './seed-multiplicative.ts';
import { seedSimple } from './seed-simple.ts';
import { seedStrategy } from './seed-strategy.ts';
import { seedWeighted } from './seed-weighted.ts';

export const FORMULAS: Readonly<Record<string, Formula>> = {
  hybrid,
  'seed-weighted': seedWeighted,
  'seed-age': seedAge,
  'seed-multiplicative': seedMultiplicative,
  'seed-simple': seedSimple,
  'seed-strategy': seedStrategy,
};
