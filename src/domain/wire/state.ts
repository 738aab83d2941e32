/** Wire schema of a session's task state: a JSON object of named slots. */
import { z } from 'zod';
import { findUnstorable } from '../../text/clean.ts';
import { LIMITS } from './common.ts';

/** Names are what a program addresses a slot by: one word, of letters of any script, digits, `_` and `-`. */
const NAME = new RegExp(`^[\\p{L}\\p{M}\\p{N}_-]{1,${LIMITS.slotNameChars}}$`, 'u');
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);
const TOO_LARGE = `is larger than ${LIMITS.stateBytes} bytes`;

/** At most 64 slots, 6 levels and 16 KB; a slot that is null is none. */
export const taskState = z.record(z.string(), z.unknown()).superRefine((value, ctx) => {
  const fault = stateFault(value);
  if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
});
export type TaskState = z.output<typeof taskState>;

function stateFault(state: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.keys(state).length > LIMITS.stateSlots) return `has more than ${LIMITS.stateSlots} slots`;
  let values = 0;
  const walk = (node: unknown, depth: number): string | undefined => {
    // each takes two bytes at least: what is far too large is not walked to its end
    values += 1;
    if (values * 2 > LIMITS.stateBytes) return TOO_LARGE;
    if (typeof node === 'string') return findUnstorable(node) === null ? undefined : 'holds a NUL or a lone surrogate';
    if (typeof node !== 'object' || node === null) return undefined;
    if (depth > LIMITS.stateDepth) return `is deeper than ${LIMITS.stateDepth} levels`;
    for (const [name, child] of Object.entries(node)) {
      if (!Array.isArray(node) && (!NAME.test(name) || RESERVED.has(name)))
        return `has a name that is not 1 to ${LIMITS.slotNameChars} letters, digits, "_" or "-", or is reserved`;
      const fault = walk(child, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const fault = walk(state, 1);
  if (fault !== undefined) return fault;
  return Buffer.byteLength(JSON.stringify(state)) > LIMITS.stateBytes ? TOO_LARGE : undefined;
}
