/** Scenario files: who calls which operation with what, and what must come back, whatever front end it goes through. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { declaredFields } from '../../src/mcp/tool-schema.ts';
import { operations } from '../../src/operations/index.ts';
import { mismatch, substitute, valueAt } from './scenario-match.ts';
import type { CallResult, FrontEnd, Input } from './scenario-front-ends.ts';
import type { TestService } from './service.ts';

const token = z.strictObject({
  /** Made unique for each run. Without one: the tenant that scenarios share, under a subject that is made unique instead. */
  tenant: z.string().optional(),
  sub: z.string().optional(),
  actor: z.enum(['user', 'agent', 'service']).default('user'),
  can: z.array(z.string()).default(['read', 'write', 'forget']),
  namespaces: z.array(z.string()).optional(),
});

const step = z.strictObject({
  as: z.string(),
  call: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
  /** HTTP headers of the call. */
  headers: z.record(z.string(), z.string()).optional(),
  /** Before the call: seconds that the service's clock is moved on. */
  after_seconds: z.number().optional(),
  /** The answer. */
  expect: z.record(z.string(), z.unknown()).optional(),
  error: z.strictObject({ code: z.string(), status: z.number(), at: z.string().optional() }).optional(),
  /** Name -> dotted path in the answer; `$name` stands for it from then on. */
  save: z.record(z.string(), z.string()).default({}),
});

const scenario = z.strictObject({
  title: z.string(),
  /** Names used by `as`; a name that is not here is a user with that sub. `$own_<name>` stands for the token's own namespace. */
  tokens: z.record(z.string(), token).default({}),
  steps: z.array(step).min(1),
});

export type Scenario = z.output<typeof scenario> & { readonly file: string };
type Step = z.output<typeof step>;

export function loadScenarios(dir: string): readonly Scenario[] {
  const files = readdirSync(dir).filter((name) => name.endsWith('.yaml'));
  return files.sort().map((file) => ({ file, ...scenario.parse(parse(readFileSync(join(dir, file), 'utf8'))) }));
}

export interface ScenarioWorld {
  readonly service: TestService;
  readonly rest: FrontEnd;
  readonly mcp: FrontEnd;
  advance(seconds: number): void;
}

/**
 * Runs every step in order through one front end; the first that answers otherwise than expected fails the run. Answers the operations
 * that were called through it.
 */
export async function runScenario(
  world: ScenarioWorld,
  { title, tokens, steps }: Scenario,
  through: FrontEnd,
  run: string,
): Promise<ReadonlySet<string>> {
  const called = new Set<string>();
  const saved = new Map<string, unknown>();
  const minted = new Map<string, Promise<string>>();
  const tokenOf = (name: string): Promise<string> => {
    const { tenant, sub = name, actor, can, namespaces } = tokens[name] ?? token.parse({});
    const who = tenant === undefined ? { tenant: 'common', sub: `${sub}-${run}` } : { tenant: `${tenant}-${run}`, sub };
    saved.set(`own_${name}`, `user.${who.sub}`);
    const scopes = can.map((scope) => `memory:${scope}`);
    const made = minted.get(name) ?? world.service.mint({ ...who, actor, scopes, namespaces, clientId: `${name}-client` });
    minted.set(name, made);
    return made;
  };
  for (const [i, each] of steps.entries()) {
    const where = `${title}: step ${i + 1}, ${each.call} as ${each.as}`;
    if (each.after_seconds !== undefined) world.advance(each.after_seconds);
    const front = isForMcp(each) ? through : world.rest;
    if (front === through) called.add(each.call);
    const bearer = await tokenOf(each.as);
    const input = substitute(each.input, saved) as Input;
    const result = await front.call(bearer, each.call, input, each.headers);
    check(result, each, saved, where);
    if (result.ok) for (const [name, path] of Object.entries(each.save)) saved.set(name, valueAt(result.output, path));
  }
  if (called.size === 0) throw new Error(`${title}: no step of it goes through ${through.name}`);
  return called;
}

/** Through REST in both runs goes what MCP has no place for: headers, and fields that the tool does not take. */
function isForMcp(each: Step): boolean {
  const operation = operations.find(({ name }) => name === each.call);
  if (operation === undefined) throw new Error(`no operation ${each.call}`);
  const taken = declaredFields(operation);
  return each.headers === undefined && Object.keys(each.input).every((field) => taken.has(field));
}

function check(result: CallResult, { expect, error }: Step, saved: ReadonlyMap<string, unknown>, where: string): void {
  if (error === undefined) {
    if (!result.ok) throw new Error(`${where}: ${result.code} ${JSON.stringify(result.problem)}`);
    const fault = expect === undefined ? undefined : mismatch(result.output, substitute(expect, saved));
    if (fault !== undefined) throw new Error(`${where}: ${fault}`);
    return;
  }
  if (result.ok) throw new Error(`${where}: expected ${error.code}, got ${JSON.stringify(result.output)}`);
  if (result.code !== error.code || (result.status !== undefined && result.status !== error.status))
    throw new Error(`${where}: expected ${error.code} (${error.status}), got ${JSON.stringify(result.problem)}`);
  const pointers = ((result.problem.errors ?? []) as { pointer: string }[]).map(({ pointer }) => pointer);
  if (error.at !== undefined && !pointers.includes(error.at))
    throw new Error(`${where}: no fault at ${error.at}, but at ${pointers.join(', ')}`);
}
