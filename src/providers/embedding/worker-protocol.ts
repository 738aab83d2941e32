/** Messages between the service thread and the embedding worker. */

import type { LocalProfile } from './local-models.ts';
import type { RunGate } from './run-gate.ts';

export interface LocalWorkerData {
  readonly modelsDir: string;
  readonly profile: LocalProfile;
  readonly gate: RunGate;
}

/** Main to worker: one text, its prefix included; the worker answers in order, one reply a request. `stop` ends the thread when what it does is done. */
export type WorkerRequest = { readonly type: 'embed'; readonly space: string; readonly text: string } | { readonly type: 'stop' };

/** Worker to main. `ready` or `unusable` comes once, first; `reason` is for the log. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'unusable'; readonly reason: string }
  | { readonly type: 'vector'; readonly vector: Float32Array }
  | { readonly type: 'rejected'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string };
