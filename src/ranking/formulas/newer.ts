/** Finds among the best hits those that say anew what an older one said: of a fact that changed the newest has to win. */
import type { Evidence } from '../signals/signal.ts';
import { jaccard, wordsOf } from '../words.ts';
import type { Scored } from './formula.ts';

/** Words in common (Jaccard): from here on two texts speak of one thing; from the second on they say the same, and nothing changed. */
const LEAST_ALIKE = 0.5;
const SAME = 0.9;
/** A change takes a day: what is said twice in one conversation is no change. */
const LEAST_MS = 86_400_000;
/** Of two that answer so differently well the better one is not outdated by the other. */
const MOST_BEHIND = 0.15;
const BEST = 20;
/** A statement of a fact is short; longer texts share half of their words by chance of topic. */
const MAX_UNITS = 400;
/** Of the question's words: two statements that hold the same ones, and half of them, answer it both. */
const SAME_ANSWER = 0.75;
const LEAST_ASKED = 0.5;
const LEAST_WORDS = 2;
/** How surely a hit says anew what an older one said, by their likeness alone; 1 where the question says what they have in common. */
const ALIKE = 0.25;
/** Words beside those of the question: a longer text says more than the answer. */
const MAX_OTHERS = 7;

/** By how much the newer one stands before the older one. */
const EDGE = 0.01;

/** The words of each wording of a question for what holds now. */
type Asked = readonly ReadonlySet<string>[];

interface Statement {
  readonly scored: Scored;
  readonly atMs: number;
  readonly subject: string;
  readonly words: () => ReadonlySet<string>;
}

/**
 * Of hits among the best 20 that say anew what an older one of the same subject said, how surely (0 to 1): .25 where they share at least half
 * of their words but not nearly all, 1 where `asked` (the words of a question for what holds now) is given and both answer it in the same words
 * of the question; but no more than puts them before that one. Bench run, 40 pairs of a changed fact, the newest first at a weight of .2: Chinese .65 -> .85, English .60 -> .90; nine dev
 * sets: recall@5 the same, nDCG@10 - .0006.
 */
export function newerStatements(page: readonly Scored[], weight: number, asked: Asked = []): ReadonlyMap<Evidence, number> {
  const statements = [...page]
    .sort((a, b) => b.total - a.total)
    .slice(0, BEST)
    .filter(({ evidence }) => evidence.record.content.length <= MAX_UNITS)
    .map((scored): Statement => {
      const { event_at: at, subject = '', content } = scored.evidence.record;
      let words: ReadonlySet<string> | undefined;
      return { scored, atMs: Date.parse(at), subject, words: () => (words ??= wordsOf(content)) };
    });
  const renewals = statements.map(
    (one) =>
      [
        one.scored.evidence,
        Math.max(0, ...statements.map((old) => Math.min(renewal(one, old, asked), enough(one, old) / weight))),
      ] as const,
  );
  return new Map(renewals.filter(([, surely]) => surely > 0));
}

/** What puts a hit before an older one, and before nothing else. */
function enough(one: Statement, old: Statement): number {
  return Math.max(0, old.scored.total - one.scored.total) + EDGE;
}

function renewal(one: Statement, old: Statement, asked: Asked): number {
  if (one.atMs - old.atMs < LEAST_MS || one.subject !== old.subject || old.scored.total - one.scored.total > MOST_BEHIND) return 0;
  // few pairs come here: most hits are of different subjects or days
  const [words, before] = [one.words(), old.words()];
  const alike = jaccard(words, before);
  if (alike >= SAME) return 0;
  if (asked.some((wording) => answerAlike(words, before, wording))) return 1;
  return alike >= LEAST_ALIKE ? ALIKE : 0;
}

function answerAlike(words: ReadonlySet<string>, before: ReadonlySet<string>, asked: ReadonlySet<string>): boolean {
  const [now, then] = [common(asked, words), common(asked, before)];
  const least = Math.max(LEAST_WORDS, LEAST_ASKED * asked.size);
  if (now.size < least || then.size < least) return false;
  if (words.size - now.size > MAX_OTHERS || before.size - then.size > MAX_OTHERS) return false;
  return jaccard(now, then) >= SAME_ANSWER;
}

function common(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...a].filter((word) => b.has(word)));
}
