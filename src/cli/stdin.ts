/** Text from standard input: the content of a memory with `-`, and the answer to a question. */
import { createInterface } from 'node:readline/promises';
import type { Surroundings } from './command-spec.ts';
import { CommandFailed } from './failure.ts';
import { EXIT } from './exit-codes.ts';

/** More than any field takes: the service's limit for a content is 32,000 characters. */
const MAX_BYTES = 1_048_576;

/** All of it, as UTF-8. Throws CommandFailed when it is longer than 1 MiB or no UTF-8. */
export async function readStdin(stdin: Surroundings['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    chunks.push(piece);
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new CommandFailed(`standard input holds more than ${MAX_BYTES} bytes`, EXIT.usage);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CommandFailed('standard input is not UTF-8', EXIT.usage);
  }
}

/** Asks at the terminal; true only for a yes. End of input counts as no. */
export async function confirm(question: string, streams: Pick<Surroundings, 'stdin' | 'stderr'>): Promise<boolean> {
  return (await choose(question, streams)) === 'yes';
}

/** Asks at the terminal; undefined for anything but a yes or a no, end of input too. */
export async function choose(
  question: string,
  { stdin, stderr }: Pick<Surroundings, 'stdin' | 'stderr'>,
): Promise<'yes' | 'no' | undefined> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const said = (await Promise.race([lines.question(question), ended])).trim();
    if (/^(?:y|yes|是|好|确定)$/i.test(said)) return 'yes';
    return /^(?:n|no|否|不|不是|拒绝)$/i.test(said) ? 'no' : undefined;
  } finally {
    lines.close();
  }
}
