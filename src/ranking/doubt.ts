/** Takes weight from a memory that another one contradicts: the older of two, or the less trusted; fuse applies it to every formula's scores. */
import type { SignalPart } from '../domain/ranking.ts';
import type { Lang } from './context.ts';
import type { Scored } from './formulas/formula.ts';

/** The score less the share that is in doubt (0..1, `doubt` of the record), with one more signal that says so. */
export function doubted(scored: Scored, lang: Lang): Scored {
  const { doubt } = scored.evidence.record;
  if (doubt === undefined || doubt <= 0 || scored.total <= 0) return scored;
  const share = Math.min(1, doubt);
  const contribution = -share * scored.total;
  const part: SignalPart = {
    signal: 'doubt',
    raw: doubt,
    normalised: share,
    weight: -scored.total,
    contribution,
    sentence: lang === 'zh' ? '可能已经过时：另一条记忆与它矛盾' : 'It is possibly outdated: another memory contradicts it',
  };
  return { ...scored, total: scored.total + contribution, parts: [...scored.parts, part] };
}
