/** What a prompt reads of one memory: its text as a single entry, and the marks that say whose word it is, of when and how sure; pure. */
import type { HitRecord, RankedHit } from '../../domain/ranking.ts';
import { tierName } from '../../domain/trust.ts';
import { confirmedFor, confirmedThemself, isOwnWord, standingFor } from '../../guard/confirmation.ts';
import { wordsOf } from '../../ranking/words.ts';
import { filled, type BlockWords, type ContextRules } from './policy.ts';
import { shortForm } from './short-form.ts';

/** Makes the text of a hit for a question: facts as subject and topic with their value, long memories by the passage that answers. */
export function lineMaker(query: string, words: BlockWords, { max_item_tokens: most }: ContextRules): (hit: RankedHit) => string {
  const asked = wordsOf(query);
  return (hit) => {
    const { layer, subject, topic, title } = hit.record;
    const label =
      layer === 'semantic' && subject !== undefined && topic !== undefined
        ? filled(words.pair, { subject, topic })
        : title === undefined
          ? undefined
          : filled(words.titled, { title });
    const text = hit.passage ?? shortForm(hit.record, asked, most).text;
    // on a line of its own the text is neutralised like any other; the guard joins the two
    return label === undefined ? text : `${label}\n${text}`;
  };
}

export interface Marks {
  readonly words: BlockWords;
  readonly rules: Pick<ContextRules, 'confidence'>;
  /** Owner id of whoever the block is for. */
  readonly reader: string;
  /** What held before, as it may be shown, and until when (ISO 8601). */
  readonly was?: { readonly text: string; readonly until: string } | undefined;
}

/** Source, date, confidence and state, the words of the policy alone; what was before comes as the guard gave it. */
export function marksOf(record: HitRecord, { words, rules, reader, was }: Marks): string {
  const { confidence, status, doubt = 0 } = record;
  const parts = [
    sourceOf(record, words, reader),
    dayOf(record),
    confidence === undefined ? undefined : confidenceWord(confidence, words, rules),
    status === 'conflict' ? words.marks.disputed : undefined,
    doubt > 0 ? words.marks.outdated : undefined,
    was === undefined ? undefined : filled(words.marks.was, { text: was.text, date: was.until.slice(0, 10) }),
  ];
  return parts.filter((part) => part !== undefined).join(words.marks.separator);
}

/** What came from outside is named by what it came from; "the user" is the reader, and what others said or confirmed is theirs. */
function sourceOf(record: HitRecord, { sources }: BlockWords, reader: string): string {
  const { origin, guard } = record;
  const name = tierName(standingFor(record, reader).tier);
  const byReader = isOwnWord(record, reader) || guard.confirmed_by?.principal === reader || confirmedThemself(record, reader);
  if (!byReader && (name === 'user_stated' || name === 'user_confirmed'))
    return confirmedFor(record, reader) ? sources.member_confirmed : sources.member;
  if (name !== 'external') return sources[name];
  const type = origin.at(-1)?.type;
  return type === 'web' || type === 'document' || type === 'email' || type === 'import' ? sources[type] : sources.external;
}

const dayOf = ({ occurred_at: occurred, created_at: created }: HitRecord): string => (occurred ?? created).slice(0, 10);

function confidenceWord(confidence: number, { confidence: said }: BlockWords, { confidence: from }: Marks['rules']): string {
  return confidence >= from.high ? said.high : confidence >= from.medium ? said.medium : said.low;
}
