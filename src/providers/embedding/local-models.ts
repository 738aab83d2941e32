/** The models that run in this process as data: files, pooling, prefixes, space, and which texts belong to which space. */
import { join } from 'node:path';
import { hasHan, hasLatinWord } from '../../text/script.ts';
import { COMMON_OF_BGE_SMALL_ZH, type CommonDirection } from './common-direction.ts';
import type { EmbeddingKind, SpaceRouting, VectorSpace } from './provider.ts';

export interface LocalModel {
  readonly space: VectorSpace;
  /** Base name of `<file>.onnx` and `<file>-tokenizer.json` in modelsDir, as inside the Maven jars. */
  readonly file: string;
  readonly pooling: 'cls' | 'mean';
  readonly prefix: Readonly<Record<EmbeddingKind, string>>;
  /** Taken out of queries. */
  readonly common?: CommonDirection;
  /**
   * Word pieces as BERT has them, lower-cased, or SentencePiece unigrams, cased. The shipped bge-zh tokenizer is cased over a vocabulary
   * without one capital letter: "Docker" and "Kubernetes" are the same [UNK], and texts that differ in such a name only have cosine 1.000.
   * Lower-casing gives .797, and recall@5 of .995 for .985 on CMRC, .887 for .885 on MemDaily, .853 for .853 on MemoryBank zh.
   */
  readonly pieces: 'bert-uncased' | 'unigram';
}

/** Profiles whose models run in this process. */
export type LocalProfile = 'local' | 'local-multilingual';

/**
 * Calibration and boosts: chosen on dev splits with the one hybrid query (cosines of e5 crowd in .7 to .95, those of
 * bge-zh lie in .12 to .61 once the common direction is out of the query).
 */
const ZH: LocalModel = {
  space: {
    name: 'zh',
    field: 'vec_zh',
    modelId: 'bge-small-zh-v1.5-int8-uncased',
    dims: 512,
    calibration: { offset: 0.12, scale: 0.49 },
    // Latin questions: bge-zh rates Latin pairs about .2 higher than Han ones. Bench run on dev: memorybank_x recall@5 + .014, LoCoMo + .003.
    crossCalibration: { offset: 0.28, scale: 0.44 },
    // 400 with the common direction left in, where cosines lie closer together
    knnBoost: 370,
  },
  file: 'bge-small-zh-v1.5-q',
  pooling: 'cls',
  prefix: { query: '', passage: '' },
  common: COMMON_OF_BGE_SMALL_ZH,
  pieces: 'bert-uncased',
};

const EN: LocalModel = {
  space: {
    name: 'en',
    field: 'vec_en',
    modelId: 'e5-small-v2-int8',
    dims: 384,
    calibration: { offset: 0.64, scale: 0.3 },
    knnBoost: 950,
  },
  file: 'e5-small-v2-q',
  pooling: 'mean',
  prefix: { query: 'query: ', passage: 'passage: ' },
  pieces: 'bert-uncased',
};

/** One space for a hundred languages and across them; convert-multilingual.py makes the files. */
const MULTI: LocalModel = {
  space: {
    name: 'multi',
    field: 'vec_multi',
    modelId: 'multilingual-e5-small-q4-int8',
    dims: 384,
    // Chinese pairs stand .06 above English ones and pairs across languages .04 below: one scale holds all three. Of .64-.76 / .16-.30 on
    // dev (bench run, macro of eight recall@5 within .001 at its best) the one that loses fewest answers across languages to the floor.
    calibration: { offset: 0.66, scale: 0.27 },
    knnBoost: 950,
  },
  file: 'multilingual-e5-small',
  pooling: 'mean',
  prefix: { query: 'query: ', passage: 'passage: ' },
  pieces: 'unigram',
};

/** Of profile `local`. */
export const LOCAL_MODELS: readonly LocalModel[] = [ZH, EN];

/** Absolute paths of a model's two files. */
export function modelFiles(modelsDir: string, model: LocalModel): { readonly onnx: string; readonly tokenizer: string } {
  return { onnx: join(modelsDir, `${model.file}.onnx`), tokenizer: join(modelsDir, `${model.file}-tokenizer.json`) };
}

/**
 * Of profile `local`. Every text gets a zh vector, so that a Chinese question finds English memories; a text with Latin words gets an en
 * vector too. A Han query searches zh alone; a Latin query en first, then zh; any other zh.
 */
export const LOCAL_ROUTING: SpaceRouting = {
  spacesForText: (text) => (hasLatinWord(text) ? ['zh', 'en'] : ['zh']),
  spacesForQuery: (text) => (!hasHan(text) && hasLatinWord(text) ? ['en', 'zh'] : ['zh']),
};

const MULTI_SPACES: readonly string[] = [MULTI.space.name];

/** What each profile loads, and where its texts and queries go. */
export const LOCAL_PROFILES: Readonly<Record<LocalProfile, { readonly models: readonly LocalModel[]; readonly routing: SpaceRouting }>> = {
  local: { models: LOCAL_MODELS, routing: LOCAL_ROUTING },
  'local-multilingual': {
    models: [MULTI],
    routing: { spacesForText: () => MULTI_SPACES, spacesForQuery: () => MULTI_SPACES },
  },
};
