/** One ONNX sentence encoder: tokenise, run, pool, normalise. Runs inside the embedding worker, which it blocks while it computes. */
import { readFile } from 'node:fs/promises';
import * as tokenizers from '@huggingface/tokenizers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { modelFiles, type LocalModel } from './local-models.ts';
import { normalise } from './provider.ts';
import { cutText } from './cut-text.ts';

/** Positions of these models; the last one is kept for the token that ends a text. */
const MAX_TOKENS = 512;
/** 512 tokens are at most about 2,500 characters of prose; the rest leaves room for words of many characters. */
const MAX_TEXT_UNITS = 8_192;

/** A text (prefix included) to a vector of length 1; undefined when the model gives one without a direction. */
export type Encode = (text: string) => Promise<Float32Array | undefined>;

interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] };
}

/** The package's own types import each other without extensions, which NodeNext cannot follow. */
const { Tokenizer } = tokenizers as unknown as { readonly Tokenizer: new (json: object, config: object) => Tokenizer };

/** Loads `<file>.onnx` and `<file>-tokenizer.json`; throws what the file system or ONNX Runtime throws. */
export async function loadOnnxModel(modelsDir: string, model: LocalModel): Promise<Encode> {
  const files = modelFiles(modelsDir, model);
  const tokenizer = await loadTokenizer(files.tokenizer, model.pieces);
  const session = await InferenceSession.create(files.onnx, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionProviders: ['cpu'],
    logSeverityLevel: 3,
  });
  const { dims } = model.space;

  return async (text) => {
    const ids = tokenIds(tokenizer, model.pieces, text);
    // One text a run: the int8 activations are scaled over the whole batch, so batching changes vectors (cosine .99).
    const output = await session.run(inputs(session.inputNames, ids));
    const hidden = output[session.outputNames[0] ?? '']?.data;
    if (!(hidden instanceof Float32Array) || hidden.length !== ids.length * dims) {
      throw new Error(`${model.file}.onnx does not give ${String(dims)} float32 values a token`);
    }
    return normalise(model.pooling === 'cls' ? hidden.slice(0, dims) : meanOf(hidden, ids.length, dims));
  };
}

async function loadTokenizer(path: string, pieces: LocalModel['pieces']): Promise<Tokenizer> {
  const json = JSON.parse(await readFile(path, 'utf8')) as { normalizer: Record<string, unknown> };
  if (pieces === 'unigram') return new Tokenizer(json, { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' });
  const specials = { cls_token: '[CLS]', sep_token: '[SEP]', pad_token: '[PAD]', unk_token: '[UNK]' };
  return new Tokenizer({ ...json, normalizer: { ...json.normalizer, lowercase: true } }, specials);
}

function tokenIds(tokenizer: Tokenizer, pieces: LocalModel['pieces'], text: string): readonly number[] {
  const cut = cutText(text, MAX_TEXT_UNITS);
  // A literal "[SEP]" in a memory must not become the control token of that name.
  const plain = pieces === 'unigram' ? cut.replace(/<(\/?s|pad|unk)>/g, '< $1 >') : cut.replace(/\[(CLS|SEP|PAD|UNK|MASK)\]/g, '[ $1 ]');
  const { ids } = tokenizer.encode(plain);
  return ids.length <= MAX_TOKENS ? ids : [...ids.slice(0, MAX_TOKENS - 1), ...ids.slice(-1)];
}

function inputs(names: readonly string[], ids: readonly number[]): Record<string, Tensor> {
  const shape = [1, ids.length];
  const feeds: Record<string, Tensor> = {
    input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
    attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
  };
  return Object.fromEntries(Object.entries(feeds).filter(([name]) => names.includes(name)));
}

/** Sum over tokens: the mean up to a factor that normalising removes. */
function meanOf(hidden: Float32Array, tokens: number, dims: number): Float32Array {
  const sum = new Float32Array(dims);
  for (let t = 0; t < tokens; t += 1) {
    for (let d = 0; d < dims; d += 1) sum[d] = (sum[d] ?? 0) + (hidden[t * dims + d] ?? 0);
  }
  return sum;
}
