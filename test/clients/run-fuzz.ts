/**
 * Hostile requests to every route and tool of the composed service: no 5xx, no hang, nothing of the inside and nothing of another tenant in
 * an answer. `node --import tsx test/clients/run-fuzz.ts [--inputs 100000] [--seed N] [--seconds N]`; 5,000 inputs in at most 240 s by default.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { operations } from '../../src/operations/index.ts';
import { fuzzRequests, type FuzzRequest } from '../support/fuzz-arbitraries.ts';
import { startHashedService } from '../support/service.ts';

const SCOPES = ['read', 'write', 'forget', 'share', 'confirm', 'audit', 'reveal', 'admin'].map((name) => `memory:${name}`);
/** At once; the property of one run. */
const BATCH = 16;
const ANSWER_TIMEOUT_MS = 30_000;
const MARK = 'xylographica';
const INSIDE = /\bat .*\.(?:ts|js)\b|node_modules|elasticsearch|_exception|illegal_argument|SyntaxError|ZodError|ECONN|\/home\/|\/root\//i;
/** Failures of ours in answers whose status cannot say so: results of tools. */
const OURS = /"(?:code|name)\\?":\\?"ERR_(?:INTERNAL|STORE_\w+|GUARD_UNAVAILABLE|AUDIT_UNAVAILABLE)|"code":-32603/;

const { values } = parseArgs({
  options: { inputs: { type: 'string', default: '5000' }, seed: { type: 'string' }, seconds: { type: 'string' } },
});
const inputs = Number(values.inputs);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const seconds = Number(values.seconds ?? Math.max(240, inputs / 20));
if (![inputs, seed, seconds].every((n) => Number.isInteger(n) && n > 0))
  throw new Error('--inputs, --seed and --seconds take whole numbers');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench', MCP_TOOLS: 'all' });
const token = await service.mint({ tenant: 'fuzz', sub: 'fuzz', scopes: SCOPES });
const other = await service.mint({ tenant: 'other', sub: 'victim', scopes: SCOPES });
await service.call('POST', '/v1/memories', other, { content: `The ${MARK} of another tenant.`, subject: MARK, tags: [MARK], wait: true });

let sent = 0;
const statuses = new Map<number, number>();

async function send({ method, path, headers, body }: FuzzRequest): Promise<string | undefined> {
  const allowed = Object.fromEntries(Object.entries(headers).filter(([, value]) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)));
  let response: Response;
  let text: string;
  try {
    response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...allowed },
      ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    text = response.headers.get('content-type') === 'application/gzip' ? '' : await response.text();
    if (!response.bodyUsed) await response.arrayBuffer();
  } catch (error) {
    return `no answer: ${String(error)} ${error instanceof Error && error.cause instanceof Error ? error.cause.message : ''}`;
  }
  sent += 1;
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  if (response.status >= 500) return `status ${response.status}: ${text.slice(0, 300)}`;
  if (text.includes(MARK)) return `another tenant's text: ${text.slice(0, 300)}`;
  if (OURS.test(text)) return `a failure of ours: ${text.slice(0, 300)}`;
  if (response.status >= 400 && INSIDE.test(text)) return `something of the inside: ${text.slice(0, 300)}`;
  for (const [name, value] of [
    ['x-content-type-options', 'nosniff'],
    ['cache-control', 'no-store'],
    ['content-security-policy', "default-src 'none'"],
  ] as const)
    if (!(response.headers.get(name) ?? '').includes(value)) return `${name} is ${String(response.headers.get(name))}`;
  return undefined;
}

say(`fuzz: ${inputs} inputs, seed ${seed}, at most ${seconds} s`);
const property = fc.asyncProperty(fc.array(fuzzRequests(operations), { minLength: BATCH, maxLength: BATCH }), async (batch) => {
  const faults = (await Promise.all(batch.map(async (one) => ({ one, fault: await send(one) })))).filter(
    ({ fault }) => fault !== undefined,
  );
  const [first] = faults;
  if (first !== undefined) throw new Error(`${first.fault}\n${JSON.stringify(first.one).slice(0, 2_000)}`);
});
const result = await fc.check(property, {
  seed,
  numRuns: Math.ceil(inputs / BATCH),
  interruptAfterTimeLimit: seconds * 1_000,
  // the batch names its request; shrinking would send it all again
  endOnFailure: true,
});
const ended = await service.call('GET', '/livez', '');
const polluted = Object.keys(Object.prototype).length > 0;
await service.close();

say(
  `fuzz: ${sent} answers, by status ${[...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')}`,
);
if (result.failed && result.errorInstance !== null)
  say(`FAILED (seed ${seed}): ${result.errorInstance instanceof Error ? result.errorInstance.message : 'no reason given'}`);
const failed = (result.failed && result.errorInstance !== null) || ended.status !== 200 || polluted || sent < Math.min(inputs, 500);
say(`${failed ? 0 : 1} passed, ${failed ? 1 : 0} failed`);
process.exit(failed ? 1 : 0);
