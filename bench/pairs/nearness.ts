/** How near the labelled pairs are to each other in the local vector spaces, on the scale of policies/duplicates.yaml: what its threshold was chosen by. */
import { cosineOf } from '../../src/memory/conflicts/nearest.ts';
import type { RelationPolicy } from '../../src/memory/conflicts/relation-policy.ts';
import { LocalEmbeddingProvider } from '../../src/providers/embedding/local.ts';
import { spaceNamed } from '../../src/providers/embedding/provider.ts';
import { testModelsDir } from '../../test/contract/embedding-provider-models.ts';
import { LANGS, type readPairs } from './score.ts';

export interface Nearness {
  readonly space: string;
  /** Class of the pairs. */
  readonly kind: string;
  readonly pairs: number;
  /** Share at or above the threshold. */
  readonly compared: number;
  readonly median: number;
}

const AT_ONCE = 32;

/** Each language in its own space; loads the models of the machine's cache. */
export async function nearness(rows: ReturnType<typeof readPairs>, policy: RelationPolicy): Promise<readonly Nearness[]> {
  const provider = new LocalEmbeddingProvider({ modelsDir: await testModelsDir() });
  await provider.ready();
  try {
    const found: Nearness[] = [];
    for (const lang of LANGS) {
      const space = spaceNamed(provider.spaces, lang);
      const { offset, scale } = policy.duplicates.vector.spaces[lang] ?? space.calibration;
      const own = rows.filter((row) => row.lang === lang);
      const texts = [...new Set(own.flatMap(({ older, newer }) => [older.content, newer.content]))];
      const vectors = new Map<string, Float32Array>();
      for (let from = 0; from < texts.length; from += AT_ONCE) {
        const some = texts.slice(from, from + AT_ONCE);
        (await provider.embed(lang, some, 'passage')).forEach((vector, i) => vectors.set(some[i] ?? '', vector));
      }
      const cosine = (a: string, b: string): number =>
        (vectors.get(a) ?? new Float32Array()).reduce((sum, x, i) => sum + x * (vectors.get(b)?.[i] ?? 0), 0);
      for (const kind of new Set(own.map((row) => row.class))) {
        const cosines = own.filter((row) => row.class === kind).map(({ older, newer }) => cosine(older.content, newer.content));
        cosines.sort((a, b) => a - b);
        const median = ((cosines[Math.floor(cosines.length / 2)] ?? 0) - offset) / scale;
        const compared = cosines.filter((x) => x >= cosineOf(space, policy)).length / cosines.length;
        found.push({ space: lang, kind, pairs: cosines.length, compared, median });
      }
    }
    return found;
  } finally {
    await provider.close();
  }
}
