/** Profiles `local` and `local-multilingual`: int8 ONNX models in a worker thread of this process; no network, no account, no Python. */
import { access } from 'node:fs/promises';
import { withoutCommon } from './common-direction.ts';
import { EmbeddingQueue } from './embedding-queue.ts';
import { EmbeddingThread } from './embedding-thread.ts';
import { LOCAL_PROFILES, modelFiles, type LocalProfile } from './local-models.ts';
import {
  blankIndex,
  EmbeddingRejected,
  EmbeddingUnavailable,
  spaceNamed,
  type EmbeddingKind,
  type EmbeddingProvider,
  type VectorSpace,
} from './provider.ts';

export interface LocalEmbeddingOptions {
  /** Holds `<model>.onnx` and `<model>-tokenizer.json` of every model of the profile. */
  readonly modelsDir: string;
  /** 'local' without it. */
  readonly profile?: LocalProfile;
}

export class LocalEmbeddingProvider implements EmbeddingProvider {
  readonly profile: LocalProfile;
  readonly spaces: readonly VectorSpace[];
  readonly #modelsDir: string;
  readonly #thread: EmbeddingThread;
  readonly #queue: EmbeddingQueue;

  constructor({ modelsDir, profile = 'local' }: LocalEmbeddingOptions) {
    this.#modelsDir = modelsDir;
    this.profile = profile;
    this.spaces = LOCAL_PROFILES[profile].models.map((model) => model.space);
    // ONNX Runtime (1.29 and newer) reports its use to its maker and leaves a device id in the home folder, unless this
    // stands in the environment before it is loaded. Set here: a worker's own process.env never reaches native code.
    process.env['ORT_DISABLE_TELEMETRY'] = '1';
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    this.#thread = new EmbeddingThread({
      entry: new URL(`./local-worker.${extension}`, import.meta.url),
      workerData: { modelsDir, profile },
    });
    this.#queue = new EmbeddingQueue((space, text) => this.#thread.run(space, text));
  }

  spacesForText(text: string): readonly string[] {
    return LOCAL_PROFILES[this.profile].routing.spacesForText(text);
  }

  spacesForQuery(text: string): readonly string[] {
    return LOCAL_PROFILES[this.profile].routing.spacesForQuery(text);
  }

  async embed(space: string, texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]> {
    spaceNamed(this.spaces, space);
    const blank = blankIndex(texts);
    if (blank >= 0) throw new EmbeddingRejected('the text is blank', blank);
    const model = LOCAL_PROFILES[this.profile].models.find((one) => one.space.name === space);
    const prefix = model?.prefix[kind] ?? '';
    const vectors = await this.#queue.submit(
      space,
      texts.map((text) => prefix + text),
      kind,
      signal,
    );
    const { common } = model ?? {};
    return common === undefined || kind !== 'query' ? vectors : vectors.map((vector) => withoutCommon(vector, common));
  }

  /** Checks the files first: "file missing" is the one fault a person can mend, and ONNX Runtime words it badly. */
  async ready(): Promise<void> {
    for (const file of LOCAL_PROFILES[this.profile].models.flatMap((model) => Object.values(modelFiles(this.#modelsDir, model)))) {
      await access(file).catch((error: unknown) => {
        throw new EmbeddingUnavailable(`the model file ${file} is missing`, error);
      });
    }
    await this.#thread.start();
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
