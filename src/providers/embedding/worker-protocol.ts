/** Messages between the service thread and the embedding worker. */

/** Main to worker: one text, its prefix included. The worker answers in order, one reply a request. */
export interface WorkerRequest {
  readonly space: string;
  readonly text: string;
}

/** Worker to main. `ready` or `unusable` comes once, first; `reason` is for the log. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'unusable'; readonly reason: string }
  | { readonly type: 'vector'; readonly vector: Float32Array }
  | { readonly type: 'rejected'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string };
