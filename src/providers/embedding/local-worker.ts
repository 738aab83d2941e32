/** Entry of the embedding worker thread: loads every model of the profile, then embeds one text a message. Started by EmbeddingThread only. */
import { parentPort, workerData } from 'node:worker_threads';
import { LOCAL_PROFILES } from './local-models.ts';
import { loadOnnxModel, type Encode } from './onnx-model.ts';
import { enterGate, leaveGate } from './run-gate.ts';
import type { LocalWorkerData, WorkerMessage, WorkerRequest } from './worker-protocol.ts';

if (parentPort === null) throw new Error('local-worker runs as a worker thread only');
const port = parentPort;

const send = (message: WorkerMessage): void => {
  port.postMessage(message, message.type === 'vector' ? [message.vector.buffer as ArrayBuffer] : []);
};
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const { modelsDir, profile, gate } = workerData as LocalWorkerData;
const encoders = new Map<string, Encode>();

async function answer(request: WorkerRequest): Promise<void> {
  if (request.type === 'stop') {
    port.close();
    return;
  }
  if (!enterGate(gate)) return;
  try {
    const vector = await encoders.get(request.space)?.(request.text);
    send(vector === undefined ? { type: 'rejected', reason: 'the model gave no finite vector' } : { type: 'vector', vector });
  } catch (error) {
    send({ type: 'failed', reason: reasonOf(error) });
  } finally {
    leaveGate(gate);
  }
}

async function load(): Promise<void> {
  if (!enterGate(gate)) return;
  try {
    for (const model of LOCAL_PROFILES[profile].models) encoders.set(model.space.name, await loadOnnxModel(modelsDir, model));
    port.on('message', (request: WorkerRequest) => void answer(request));
    send({ type: 'ready' });
  } catch (error) {
    // Without a listener on the port the thread ends by itself.
    send({ type: 'unusable', reason: reasonOf(error) });
  } finally {
    leaveGate(gate);
  }
}

await load();
