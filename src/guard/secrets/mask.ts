/** Masks what the detectors find: the text with a mark in place of each value, and the values apart; everything that is stored passes here. */
import type { FindSecrets } from './detect.ts';
import { isCredential, type Finding, type SecretKind } from './finding.ts';

/** A value that was taken out of a text. */
export interface FoundSecret {
  /** Where it stood: content, title, metadata … */
  readonly field: string;
  readonly kind: SecretKind;
  readonly value: string;
  /** True: it is kept sealed, and its mark shows the last two characters. */
  readonly kept: boolean;
}

/** Which values are kept sealed. A person's own data is; a credential only when the person asks for it (guard.md, content classes). */
export type Keep = 'personal' | 'all';

/** Masking changes what stands beside a value, so the result is looked at again. */
const MAX_ROUNDS = 4;
const SHOWN_CHARS = 2;

/** The mark that stands for a value: `[masked:api_key]`, or `[masked:phone ..46]` for one that is kept. */
export function markOf({ kind, value, kept }: Pick<FoundSecret, 'kind' | 'value' | 'kept'>): string {
  const tail = kept && value.length >= 4 * SHOWN_CHARS ? value.slice(-SHOWN_CHARS).replace(/[^\p{L}\p{N}]/gu, '') : '';
  return tail === '' ? `[masked:${kind}]` : `[masked:${kind} ..${tail}]`;
}

/** A value that is taken out of a field, and whether it is kept. */
export function secretOf(field: string, kind: SecretKind, value: string, keep: Keep): FoundSecret {
  return { field, kind, value, kept: keep === 'all' || !isCredential(kind) };
}

/** `text` with marks; `context` stands before it when it is read (the key of a metadata value) and is not changed. */
export function maskText(
  find: FindSecrets,
  text: string,
  field: string,
  keep: Keep,
  context = '',
): { readonly text: string; readonly found: readonly FoundSecret[] } {
  let masked = text;
  const found: FoundSecret[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const findings = find(context + masked).filter(({ end }) => end > context.length);
    if (findings.length === 0) break;
    const taken: FoundSecret[] = [];
    masked = replaced(masked, findings, context.length, (kind, value) => {
      const secret = secretOf(field, kind, value, keep);
      taken.push(secret);
      return markOf(secret);
    });
    found.push(...taken);
  }
  return { text: masked, found };
}

function replaced(text: string, findings: readonly Finding[], shift: number, mark: (kind: SecretKind, value: string) => string): string {
  let result = '';
  let from = 0;
  for (const { start, end, kind } of findings) {
    const begin = Math.max(from, start - shift);
    result += text.slice(from, begin) + mark(kind, text.slice(begin, end - shift));
    from = end - shift;
  }
  return result + text.slice(from);
}
