/** Reads the answer of an OpenAI-compatible /embeddings call, which is untrusted: count, order, type, dimension and finiteness are checked. */
import { EmbeddingRejected, EmbeddingUnavailable, normalise } from './provider.ts';

/**
 * L2-normalised vectors in the order of the texts. `dims` undefined takes the dimension of the first vector.
 * @throws EmbeddingRejected with the index of the text whose vector has no direction; EmbeddingUnavailable where the answer is not what
 * was asked for (count, index, type, dimension): that is the endpoint's fault, and may pass, whatever the text.
 * Source: OpenAI API reference, "Create embeddings" (data[].embedding, data[].index).
 */
export function readEmbeddings(answer: unknown, count: number, dims: number | undefined): Float32Array[] {
  const data: unknown = field(answer, 'data');
  if (!Array.isArray(data)) throw new EmbeddingUnavailable('the answer of the embedding endpoint has no list of vectors');
  if (data.length !== count) throw new EmbeddingUnavailable('the embedding endpoint gave another number of vectors than of texts');
  const vectors = new Array<Float32Array | undefined>(count);
  let expected = dims;
  for (const [position, item] of data.entries()) {
    // Some compatible servers leave `index` out: then the order of the answer is the order of the texts.
    const index = field(item, 'index') ?? position;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw new EmbeddingUnavailable('the embedding endpoint gave an index outside the list of texts');
    }
    if (vectors[index] !== undefined) throw new EmbeddingUnavailable('the embedding endpoint gave one index twice');
    const vector = readVector(field(item, 'embedding'), expected, index);
    expected ??= vector.length;
    vectors[index] = vector;
  }
  return vectors as Float32Array[];
}

function readVector(values: unknown, dims: number | undefined, index: number): Float32Array {
  if (!Array.isArray(values) || values.length === 0) throw new EmbeddingUnavailable('the vector is not a list of numbers');
  if (dims !== undefined && values.length !== dims) {
    throw new EmbeddingUnavailable(`the vector has ${String(values.length)} dimensions, not ${String(dims)}`);
  }
  // JSON has no NaN: servers write null or a string, and both must not be coerced to 0.
  if (!values.every((value) => typeof value === 'number')) throw new EmbeddingRejected('the vector is not a list of numbers', index);
  const vector = normalise(Float32Array.from(values));
  if (vector === undefined) throw new EmbeddingRejected('the vector is zero or not finite', index);
  return vector;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
