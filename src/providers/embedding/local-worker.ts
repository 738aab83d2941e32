/** Entry of the embedding worker thread: loads every local model, then embeds one text a message. Started by EmbeddingThread only. */
import { parentPort, workerData } from 'node:worker_threads';
import { LOCAL_MODELS } from './local-models.ts';
import { loadOnnxModel, type Encode } from './onnx-model.ts';
import type { WorkerMessage, WorkerRequest } from './worker-protocol.ts';

const port = parentPort;
if (port === null) throw new Error('local-worker runs as a worker thread only');

const send = (message: WorkerMessage): void => {
  port.postMessage(message, message.type === 'vector' ? [message.vector.buffer as ArrayBuffer] : []);
};
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const encoders = new Map<string, Encode>();

async function answer(request: WorkerRequest): Promise<void> {
  try {
    const vector = await encoders.get(request.space)?.(request.text);
    send(vector === undefined ? { type: 'rejected', reason: 'the model gave no finite vector' } : { type: 'vector', vector });
  } catch (error) {
    send({ type: 'failed', reason: reasonOf(error) });
  }
}

try {
  const { modelsDir } = workerData as { readonly modelsDir: string };
  for (const model of LOCAL_MODELS) encoders.set(model.space.name, await loadOnnxModel(modelsDir, model));
  port.on('message', (request: WorkerRequest) => void answer(request));
  send({ type: 'ready' });
} catch (error) {
  send({ type: 'unusable', reason: reasonOf(error) });
}
