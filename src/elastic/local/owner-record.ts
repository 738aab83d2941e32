/** A note in the data directory that names the service whose engine runs on it, so that a second start can say who is in the way. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './process-alive.ts';

const OWNER_FILE = 'engine.json';

interface OwnerRecord {
  readonly service_pid: number;
  readonly engine_pid: number;
}

/** Written each time an engine has come up; Lucene's lock, not this note, keeps a second engine out. */
export async function writeOwner(dataDir: string, enginePid: number): Promise<void> {
  const record: OwnerRecord = { service_pid: process.pid, engine_pid: enginePid };
  await writeFile(join(dataDir, OWNER_FILE), JSON.stringify(record), { mode: 0o600 });
}

/**
 * The pid of the service that runs an engine on this directory, when service and engine are both alive. Ask only after
 * Lucene's lock has refused: then a stale note, whose ids other processes may have been given, can't block a start.
 */
export async function readOwner(dataDir: string): Promise<number | undefined> {
  try {
    const record = JSON.parse(await readFile(join(dataDir, OWNER_FILE), 'utf8')) as OwnerRecord;
    return isAlive(record.service_pid) && isAlive(record.engine_pid) ? record.service_pid : undefined;
  } catch {
    return undefined; // no note, or one cut short
  }
}
