/** How early each hit is among those of one page: who asks for the first conversation wants the first day, whatever was said on it. */
import type { Evidence } from '../signals/signal.ts';
import type { Scored } from './formula.ts';

const DATE_CHARS = 10;

/** 1 for hits of the earliest day (UTC) of event_at, 0 for the latest; the days between in even steps. One day alone is the earliest. */
export function earliness(page: readonly Scored[]): ReadonlyMap<Evidence, number> {
  const dayOf = ({ evidence }: Scored): string => evidence.record.event_at.slice(0, DATE_CHARS);
  const days = [...new Set(page.map(dayOf))].sort();
  const steps = Math.max(1, days.length - 1);
  return new Map(page.map((scored) => [scored.evidence, 1 - days.indexOf(dayOf(scored)) / steps]));
}
