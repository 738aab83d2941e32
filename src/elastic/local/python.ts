/** Finds Python and runs it for the making of a model, turning its faults into sentences. */
import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { HindsightError } from '../../errors.ts';

const PROBE_TIMEOUT_MS = 20_000;
const PROGRESS_EVERY_MS = 5_000;
const OUTPUT_TAIL_CHARS = 16_000;
/** Windows has `py` and `python`, and there `python3` may be a door to its shop. */
const COMMANDS = process.platform === 'win32' ? ['py', 'python'] : ['python3', 'python'];

type Env = Readonly<Record<string, string | undefined>> | undefined;

export interface PythonRun {
  readonly env: Env;
  /** Where Python's output is left when it fails. */
  readonly logPath: string;
  /** Called at the start of a step and every five seconds. */
  readonly onProgress: (message: string) => void;
}

/** The command of a Python 3.9 or newer. Throws ERR_MODEL_BUILD. */
export async function findPython(env: Env): Promise<string> {
  for (const command of COMMANDS) {
    const found = await new Promise<boolean>((resolve) => {
      const probe = ['-c', 'import sys; sys.exit(0 if sys.version_info >= (3, 9) else 1)'];
      execFile(command, probe, { timeout: PROBE_TIMEOUT_MS, ...(env === undefined ? {} : { env }) }, (error) => resolve(error === null));
    });
    if (found) return command;
  }
  const detail =
    'Python 3.9 or newer was not found, and making the multilingual model needs it once: install it (Debian and Ubuntu: ' +
    'apt install python3 python3-venv; macOS: brew install python; Windows: winget install Python.Python.3.13) and run the command again';
  throw new HindsightError('ERR_MODEL_BUILD', { params: { detail } });
}

/** Runs one step to its end. Throws ERR_MODEL_BUILD, or ERR_ENGINE_DISK when the disk is full. */
export async function runPython(step: string, command: string, args: readonly string[], run: PythonRun): Promise<void> {
  run.onProgress(step);
  const startedAt = performance.now();
  const timer = setInterval(() => {
    run.onProgress(`${step} (${Math.round((performance.now() - startedAt) / 1000)} s)`);
  }, PROGRESS_EVERY_MS);
  let output = '';
  const read = (chunk: string): void => {
    output = (output + chunk).slice(-OUTPUT_TAIL_CHARS);
  };
  try {
    const code = await new Promise<number | null>((resolve) => {
      const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(run.env === undefined ? {} : { env: run.env }) });
      child.stdout.setEncoding('utf8').on('data', read);
      child.stderr.setEncoding('utf8').on('data', read);
      child.on('error', (error) => {
        read(String(error));
        resolve(null);
      });
      child.on('close', resolve);
    });
    if (code === 0) return;
    await writeFile(run.logPath, output);
    throw pythonFault(step, output, run.logPath);
  } finally {
    clearInterval(timer);
  }
}

/** The error for a step that failed, judged from its output, which is kept at `logPath`. Pure. */
export function pythonFault(step: string, output: string, logPath: string): HindsightError {
  const cause = new Error(output.trim());
  if (/No space left on device|Errno 28/i.test(output)) {
    const detail = 'The disk is full while making the multilingual model: free 1 GB and start again';
    return new HindsightError('ERR_ENGINE_DISK', { params: { detail }, cause });
  }
  const detail = /ensurepip|No module named '?venv/i.test(output)
    ? 'Python cannot make a virtual environment: install what it lacks (Debian and Ubuntu: apt install python3-venv) and run the command again'
    : /Could not find a version|No matching distribution|ConnectionError|NewConnectionError|Temporary failure|timed out|refused/i.test(
          output,
        )
      ? `pip could not fetch what the multilingual model is made of: check the network, the proxy and pip’s index, and run the command again (pip’s own words are in ${logPath})`
      : `Making the multilingual model failed at "${step}": Python’s own words are in ${logPath}`;
  return new HindsightError('ERR_MODEL_BUILD', { params: { detail }, cause });
}
