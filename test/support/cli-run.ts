/** A command run in this process: what it wrote, and its exit code as the entry would give it. */
import { PassThrough, Writable } from 'node:stream';
import type { Lang, Surroundings } from '../../src/cli/command-spec.ts';
import { findCommand } from '../../src/cli/commands.ts';
import { reportFailure } from '../../src/cli/failure.ts';

export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliSettings {
  readonly lang?: Lang;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Streams that say they are a terminal. */
  readonly terminal?: boolean;
}

class Sink extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns = 80;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}

export async function runCli(args: readonly string[], settings: CliSettings = {}): Promise<CliRun> {
  const [name = '', ...rest] = args;
  const [stdout, stderr] = [new Sink(settings.terminal ?? false), new Sink(settings.terminal ?? false)];
  const stdin = Object.assign(new PassThrough(), { isTTY: settings.terminal ?? false });
  stdin.end(settings.stdin ?? '');
  const surroundings: Surroundings = { env: settings.env ?? {}, lang: settings.lang ?? 'en', stdout, stderr, stdin };
  try {
    const code = await (await findCommand(name, surroundings.lang)).run(rest, surroundings);
    return { code, out: stdout.text, err: stderr.text };
  } catch (error) {
    const code = reportFailure(error, rest.includes('--json'), surroundings);
    return { code, out: stdout.text, err: stderr.text };
  }
}
