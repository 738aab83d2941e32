/** The table of marked credentials (policies/guard/secrets.yaml) and its detector: prefix + charset + length + checksum or entropy. */
import { z } from 'zod';
import type { DeepReadonly } from '../../policy.ts';
import { endsInCrc } from './checksums.ts';
import type { Finding } from './finding.ts';
import { entropy, isPlaceholder, isRandom } from './randomness.ts';

const length = z.union([z.int().min(8).max(1_000), z.tuple([z.int().min(8), z.int().max(1_000)])]);
const common = {
  id: z.string().regex(/^[a-z0-9-]{2,40}$/),
  entropy: z.number().min(1).max(6).optional(),
  companion: z.tuple([z.int().min(20), z.int().max(64)]).optional(),
};

export const secretsSchema = z.strictObject({
  version: z.literal(1),
  charsets: z.record(z.string(), z.string()),
  tokens: z
    .array(
      z.union([
        z.strictObject({
          ...common,
          prefix: z.array(z.string().min(2)).min(1),
          body: z.string(),
          length,
          check: z.enum(['crc32-base62']).optional(),
        }),
        z.strictObject({ ...common, anchor: z.string().min(1), pattern: z.string().min(8) }),
      ]),
    )
    .min(1),
});
export type SecretsPolicy = DeepReadonly<z.output<typeof secretsSchema>>;

interface Token {
  readonly id: string;
  /** One of these stands in every text that holds the token. */
  readonly literals: readonly string[];
  readonly pattern: RegExp;
  readonly check: boolean;
  readonly entropy: number | undefined;
  readonly companion: RegExp | undefined;
}

/** Every token has one; most prose has none. */
const LONG_RUN = /(?<![A-Za-z0-9+/=%$:_.-])[A-Za-z0-9+/=%$:_.-]{16}/;
/** Least bits a character of a token: less is a row of x or of stars. */
const LEAST_ENTROPY = 2.6;
/** How far behind an id its secret stands. */
const COMPANION_REACH = 160;

/** Compiles the table. @throws an Error that names the row whose pattern does not compile. */
export function tokenDetector(policy: SecretsPolicy): (text: string) => Iterable<Finding> {
  const tokens = policy.tokens.map((row) => compile(row, policy.charsets));
  return function* find(text) {
    if (!LONG_RUN.test(text)) return;
    for (const token of tokens) if (token.literals.some((literal) => text.includes(literal))) yield* matches(token, text);
  };
}

function compile(row: SecretsPolicy['tokens'][number], charsets: SecretsPolicy['charsets']): Token {
  const companion =
    row.companion === undefined
      ? undefined
      : new RegExp(`(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/]{${row.companion[0]},${row.companion[1]}}(?![A-Za-z0-9+/_-])`, 'g');
  const shared = { id: row.id, entropy: row.entropy, companion };
  if ('pattern' in row) return { ...shared, literals: [row.anchor], pattern: new RegExp(row.pattern, 'g'), check: false };
  const body = charsets[row.body] ?? row.body;
  // a fixed length ends where its characters do; an open one takes all there is, so that neither is read twice
  const run = typeof row.length === 'number' ? `[${body}]{${row.length}}(?![${body}])` : `[${body}]{${row.length[0]},}`;
  const pattern = new RegExp(`(?<![A-Za-z0-9])(?:${row.prefix.map(escaped).join('|')})(${run})`, 'g');
  return { ...shared, literals: row.prefix, pattern, check: row.check !== undefined };
}

function* matches(token: Token, text: string): Iterable<Finding> {
  for (const match of text.matchAll(token.pattern)) {
    const [whole, body = whole] = match;
    if (!isToken(token, body)) continue;
    const end = match.index + trimmed(whole).length;
    yield { start: match.index, end, kind: 'api_key', detector: token.id };
    if (token.companion === undefined) continue;
    for (const secret of text.slice(end, end + COMPANION_REACH).matchAll(token.companion)) {
      if (!isRandom(secret[0], 3.2)) continue;
      yield { start: end + secret.index, end: end + secret.index + secret[0].length, kind: 'api_key', detector: `${token.id}-secret` };
    }
  }
}

function isToken(token: Token, body: string): boolean {
  if (token.check && endsInCrc(body)) return true;
  if (isPlaceholder(body)) return false;
  return token.entropy === undefined ? entropy(body) >= LEAST_ENTROPY : isRandom(body, token.entropy);
}

/** Marks that end a sentence rather than a token. */
const trimmed = (token: string): string => token.replace(/[.,=-]{1,3}$/, (tail) => (tail.startsWith('=') ? tail : ''));

const escaped = (literal: string): string => literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
