/** One attempt to bring the engine up, with the reason when it fails: used for the first start and for every restart. */
import { join } from 'node:path';
import { basicHeader, type EngineCredential } from './credential.ts';
import { spawnEngine, type EngineProcess } from './engine-process.ts';
import type { JvmOptions } from './jvm.ts';
import { writeOwner } from './owner-record.ts';
import { explainStart, type StartFault } from './start-fault.ts';

const START_TIMEOUT_MS = 120_000;
export const STOP_GRACE_MS = 20_000;

export interface JvmBase extends Omit<JvmOptions, 'httpPort' | 'credentialFile'> {
  /** undefined: the engine asks for none. */
  readonly credential: EngineCredential | undefined;
}

export interface Started {
  readonly engine: EngineProcess;
  readonly httpPort: number;
  readonly version: string;
}

export interface NotStarted {
  readonly fault: StartFault;
  /** The log lines of this attempt. */
  readonly log: string;
}

/** Spawns the JVM and waits until it answers; a failed one has gone when this resolves. `onSpawn` gets hold of it at once. */
export async function startOnce(
  jvm: JvmBase,
  httpPort: number,
  onSpawn: (engine: EngineProcess) => void = () => undefined,
): Promise<Started | NotStarted> {
  const logPath = join(jvm.dataDir, 'logs', 'elasticsearch.log');
  const { credential } = jvm;
  const headers: Record<string, string> = credential === undefined ? {} : { authorization: basicHeader(credential) };
  const engine = await spawnEngine({ ...jvm, httpPort, credentialFile: credential?.file }, logPath, headers);
  onSpawn(engine);
  const outcome = await engine.waitReady(START_TIMEOUT_MS);
  if (outcome.kind === 'ready') {
    if (engine.pid !== undefined) await writeOwner(jvm.dataDir, engine.pid);
    return { engine, httpPort, version: outcome.version };
  }
  await engine.stop(STOP_GRACE_MS);
  return { fault: explainStart(outcome.log, { dataDir: jvm.dataDir, logPath, httpPort, heapMb: jvm.heapMb }), log: outcome.log };
}
