/** stdin and stdout of the stdio entry: one JSON-RPC message a line, nothing else on stdout, the end when stdin ends. */
import { setTimeout as delay } from 'node:timers/promises';
import { refusalOf } from './mcp-frame.ts';
import { createServiceFinder, type FinderOptions } from './mcp-service.ts';
import { Relay } from './mcp-relay.ts';
import type { Json } from './mcp-upstream.ts';
import { packageVersion } from './package-version.ts';

/** A message that the service would refuse as too large by far; nothing after it can be trusted to be a line. */
const MAX_LINE_CHARS = 32 * 1_048_576;
/** How long answers on their way are waited for once stdin has ended: enough for a script that pipes its calls in. */
const LAST_ANSWERS_MS = 1_500;

/** Resolves to the exit code when the client is gone. */
export async function runStdio(options: Omit<FinderOptions, 'note'>): Promise<number> {
  const note = (line: string): void => void process.stderr.write(`hindsight-es: ${line}\n`);
  const send = (message: Json): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
  const service = createServiceFinder({ ...options, note });
  const relay = new Relay({ service, version: packageVersion(), send, note });
  process.stdout.once('error', () => process.exit(0));

  const stdin = process.stdin.setEncoding('utf8') as AsyncIterable<string>;
  let rest = '';
  for await (const chunk of stdin) {
    rest += chunk;
    if (rest.length > MAX_LINE_CHARS) {
      note('a line on stdin is longer than any message may be');
      return leave(1);
    }
    // U+2028 may stand in a JSON string: only LF ends a line
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) receive(line, relay, send);
  }
  receive(rest, relay, send);
  for (const began = performance.now(); relay.running > 0 && performance.now() - began < LAST_ANSWERS_MS;) await delay(10);
  return leave(0);
}

function receive(line: string, relay: Relay, send: (message: Json) => void): void {
  if (line.trim() === '') return;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    send({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error: a line on stdin is not JSON' } });
    return;
  }
  const refused = refusalOf(message);
  if (refused === undefined) void relay.take(message as Json);
  else send(refused);
}

/** Open streams and timers must not hold the process; what was written to a pipe has been handed over already. */
function leave(code: number): never {
  process.exit(code);
}
