/** memory_search under a token budget: which hits are given whole, which in their short form and which not at all. */
import type { RankedHit } from '../domain/ranking.ts';
import type { ScreenedItem } from '../guard/guard.ts';
import { wordsOf } from '../ranking/words.ts';
import { worth } from './context/choose.ts';
import { fill } from './context/fill.ts';
import { shortForm, type Form } from './context/short-form.ts';
import { promptTokens } from './context/tokens.ts';

/** Under this a passage is a scrap of a sentence. */
const LEAST_SHORT_TOKENS = 40;

export interface Given {
  readonly item: ScreenedItem<RankedHit>;
  readonly form: Form;
  /** Its text as it is given, in the envelope where that is due. */
  readonly content: string;
  /** What title and text take of the budget, as estimated. */
  readonly tokens: number;
}

export interface Budget {
  /** For the guard's screen: makes the short form of each hit from its fields as stored, so that no envelope is cut. */
  readonly lineOf: (hit: RankedHit) => string;
  /** Best first; never above the budget. What is not among them did not fit. */
  readonly within: (shown: readonly ScreenedItem<RankedHit>[]) => readonly Given[];
}

/**
 * All hits whole where they fit. Else each short, as many as are worth most a token (the rule of memory_context), and what is then left
 * goes to whole ones, the best first. Short means at most an equal share of the budget.
 */
export function budgetOf(tokens: number, topK: number, query: string): Budget {
  const asked = wordsOf(query);
  const most = Math.max(LEAST_SHORT_TOKENS, Math.floor(tokens / topK));
  const forms = new Map<string, Form>();
  return {
    lineOf: (hit) => {
      const { form, text } = shortForm(hit.record, asked, most, hit.passage);
      forms.set(hit.record.memory_id, form);
      return text;
    },
    within: (shown) => {
      const whole = shown.map((item) => givenAs(item, 'whole', item.value.record.content));
      if (sumOf(whole) <= tokens) return whole;
      const short = shown.map((item, i) => {
        const form = forms.get(item.value.record.memory_id) ?? 'whole';
        return form === 'whole' ? (whole[i] as Given) : givenAs(item, form, item.line ?? '');
      });
      const fitting = fill(
        short.map((one) => ({ value: worth(Math.max(one.item.value.score, Number.EPSILON)), tokens: one.tokens })),
        tokens,
      );
      let left = tokens - sumOf(fitting.flatMap((i) => short[i] ?? []));
      return fitting.map((i) => {
        const [cut, all] = [short[i] as Given, whole[i] as Given];
        if (all.tokens - cut.tokens > left) return cut;
        left -= all.tokens - cut.tokens;
        return all;
      });
    },
  };
}

function givenAs(item: ScreenedItem<RankedHit>, form: Form, content: string): Given {
  const { title } = item.value.record;
  return { item, form, content, tokens: Math.max(1, promptTokens(content) + (title === undefined ? 0 : promptTokens(title))) };
}

const sumOf = (given: readonly Given[]): number => given.reduce((sum, { tokens }) => sum + tokens, 0);
