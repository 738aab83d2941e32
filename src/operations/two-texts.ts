/** What operations that take a question in two wordings check and charge alike. */
import type { z } from 'zod';
import { LIMITS } from '../domain/wire/common.ts';

/** A question, its other wordings, or both. */
interface Texts {
  readonly query?: string | undefined;
  readonly queries?: readonly string[] | undefined;
}

const distinct = ({ query, queries = [] }: Texts): ReadonlySet<string> => new Set([...(query === undefined ? [] : [query]), ...queries]);

/** Each text has its own clauses and its own vector. */
const TEXT_POINTS = 1;

/** At least one text, at most a turn and its rewrite; equal ones count once. */
export function checkTexts(texts: Texts, ctx: z.RefinementCtx): void {
  const { size } = distinct(texts);
  if (size === 0) ctx.addIssue({ code: 'custom', path: ['query'], message: 'is required' });
  if (size > LIMITS.queriesPerSearch)
    ctx.addIssue({ code: 'custom', path: ['queries'], message: 'holds, with query, more than two different texts' });
}

/** Points beyond those of one text. */
export const textPoints = (texts: Texts): number => Math.max(0, distinct(texts).size - 1) * TEXT_POINTS;
