/** The held-out rows of secrets and look-alikes (secret-rows.txt) with their values filled in; the same every time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../bench/support/random.ts';
import { inForm, secretValue } from './secret-values.ts';

export interface SecretSpan {
  /** UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

export interface SecretRow {
  readonly id: string;
  readonly lang: string;
  readonly text: string;
  readonly spans: readonly SecretSpan[];
}

const ROWS = join(import.meta.dirname, 'secret-rows.txt');
const SLOT = /\{(-|[a-z_]+:)([a-z0-9_]+)(?:~([a-z0-9_]+))?\}/g;
const SEED = 20_261_130;

/** All rows; each has a generator of its own, so that a row added changes no other. */
export function heldOutSecrets(seed = SEED): readonly SecretRow[] {
  return readFileSync(ROWS, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line, i) => {
      const [lang = '', template = ''] = line.split(/ \| (.*)/s);
      return { id: `held-out-${i + 1}`, lang, ...filled(template.replaceAll('\\n', '\n'), new Random(seed + i * 7919)) };
    });
}

function filled(template: string, random: Random): Pick<SecretRow, 'text' | 'spans'> {
  const spans: SecretSpan[] = [];
  let text = '';
  let from = 0;
  for (const match of template.matchAll(SLOT)) {
    const [slot, kind = '', recipe = '', form] = match;
    text += template.slice(from, match.index);
    const plain = secretValue(recipe, random);
    const value = form === undefined ? plain : inForm(plain, form, random);
    if (kind !== '-') spans.push({ start: text.length, end: text.length + value.length, kind: kind.slice(0, -1) });
    text += value;
    from = match.index + slot.length;
  }
  return { text: text + template.slice(from), spans };
}
