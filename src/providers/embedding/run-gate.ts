/**
 * A flag shared by the service thread and the embedding worker: process.exit() waits until no native call is running.
 * Without it, ending a thread inside ONNX Runtime aborts the process (uncaught Napi::Error, SIGABRT, exit code 134).
 */

const BUSY = 0;
const SHUT = 1;

/** Shared memory; made by the service thread for one worker. */
export type RunGate = Int32Array<SharedArrayBuffer>;

export function createRunGate(): RunGate {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** Worker: before a native call. False when the process is ending, then the call must not be made. */
export function enterGate(gate: RunGate): boolean {
  // Busy is set before shut is read, and the other side does it the other way round: one of the two always sees the other.
  Atomics.store(gate, BUSY, 1);
  if (Atomics.load(gate, SHUT) === 0) return true;
  leaveGate(gate);
  return false;
}

/** Worker: after a native call. */
export function leaveGate(gate: RunGate): void {
  Atomics.store(gate, BUSY, 0);
  Atomics.notify(gate, BUSY);
}

/** Service thread, in the process's 'exit' event: lets no further call begin and blocks until the present one is done or `timeoutMs` have passed. */
export function shutGate(gate: RunGate, timeoutMs: number): void {
  Atomics.store(gate, SHUT, 1);
  Atomics.wait(gate, BUSY, 1, timeoutMs);
}
