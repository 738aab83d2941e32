/** Takes weight from a memory in doubt: another one contradicts it, its owner said that it fails, or what it was made from is gone; fuse applies it to every formula's scores. */
import type { SignalPart } from '../domain/ranking.ts';
import type { Lang } from './context.ts';
import type { Scored } from './formulas/formula.ts';

const SENTENCES = {
  contradiction: { en: 'It is possibly outdated: another memory contradicts it', zh: '可能已经过时：另一条记忆与它矛盾' },
  feedback: { en: 'It is possibly wrong or outdated: its owner said so', zh: '可能有误或已经过时：其所有者已如此反馈' },
  origin: { en: 'It stands on less than before: a memory that it was made from was forgotten', zh: '依据减少：它所依据的一条记忆已被遗忘' },
} as const;

/** Feedback and forgetting leave a memory as it stands; only a contradiction makes its status. */
function causeOf({ status, feedback }: Scored['evidence']['record']): keyof typeof SENTENCES {
  if (status === 'conflict') return 'contradiction';
  return (feedback?.wrong ?? 0) + (feedback?.outdated ?? 0) > 0 ? 'feedback' : 'origin';
}

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
    sentence: SENTENCES[causeOf(scored.evidence.record)][lang],
  };
  return { ...scored, total: scored.total + contribution, parts: [...scored.parts, part] };
}
