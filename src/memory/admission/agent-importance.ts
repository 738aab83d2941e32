/** How much an agent's own importance weighs, at a write and at a change. */
import type { Actor } from '../../domain/principal.ts';

/** `given`, but of an agent at most `max`: its own importance is a hint, however its words are let in. */
export function cappedImportance(given: number, actor: Actor, max: number): number {
  return actor === 'agent' ? Math.min(given, max) : given;
}
