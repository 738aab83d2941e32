import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import type { AuditFacts } from '../../../src/domain/audit.ts';
import { HindsightError, type ErrorCode } from '../../../src/errors.ts';
import { createAudit, type Audit } from '../../../src/operations/audit.ts';
import { defineOperation, type AnyOperation } from '../../../src/operations/define.ts';
import { createInvoke, type Invoke, type InvokeCall } from '../../../src/operations/invoke.ts';
import { operations } from '../../../src/operations/index.ts';
import { testAuditLog } from '../../support/audit-store.ts';
import { principal } from '../../support/principals.ts';
import { INSTRUCTIONS } from '../http/support/instructions.ts';
import { GUARD, MEMORY_ID, memoryDouble, type MemoryDouble, type NotedCall } from '../http/support/memory-double.ts';

interface Bench {
  readonly invoke: Invoke;
  readonly memory: MemoryDouble;
  readonly costs: [string, number][];
  readonly metrics: [string, string][];
  readonly logs: string[];
}

function bench(limit?: () => HindsightError, maxInFlight = Infinity, audit?: Audit): Bench {
  const memory = memoryDouble();
  const costs: [string, number][] = [];
  const metrics: [string, string][] = [];
  const logs: string[] = [];
  const note = (level: string) => (fields: object, message: string) => void logs.push(JSON.stringify({ level, message, ...fields }));
  const invoke = createInvoke({
    memory,
    instructions: INSTRUCTIONS,
    auditLog: testAuditLog(),
    limiter: {
      consume: async (_who, operation, cost) => {
        if (limit !== undefined) throw limit();
        costs.push([operation, cost]);
        return { limit: 10, remaining: 9, resetSeconds: 1 };
      },
    },
    clock: () => 0,
    logger: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    maxInFlight,
    audit,
    metrics: { operationDone: (operation, code) => void metrics.push([operation, code]) },
  });
  return { invoke, memory, costs, metrics, logs };
}

const call = (scopes?: string[]): InvokeCall => ({
  principal: principal(scopes === undefined ? {} : { scopes }),
  traceId: 'f'.repeat(32),
  signal: new AbortController().signal,
  idempotencyKey: undefined,
  route: 'test',
});

const named = (name: string): AnyOperation => {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

async function failure(run: Promise<unknown>): Promise<HindsightError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof HindsightError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('operations/invoke', () => {
  it('answers the output with the trace id and counts the call', async () => {
    const { invoke, memory, costs, metrics } = bench();
    const output = await invoke(named('memory_search'), { query: '茶' }, call());
    expect(output).to.deep.equal({ hits: [], nothing_relevant: true, degraded: [], took_ms: 1, trace_id: 'f'.repeat(32) });
    expect(memory.calls).to.have.length(1);
    expect(costs).to.deep.equal([['memory_search', 2]]);
    expect(metrics).to.deep.equal([['memory_search', 'OK']]);
  });

  const faulty: [string, string, unknown, string][] = [
    ['a missing field', 'memory_search', {}, '/query'],
    ['a wrong type', 'memory_search', { query: 'q', top_k: 'five' }, '/top_k'],
    ['a size of -1', 'memory_search', { query: 'q', top_k: -1 }, '/top_k'],
    ['a size above the limit', 'memory_search', { query: 'q', top_k: 21 }, '/top_k'],
    ['a weight that is not a number', 'memory_search', { query: 'q', weights: { lexical: NaN } }, '/weights'],
    ['an infinite weight', 'memory_search', { query: 'q', weights: { lexical: Infinity } }, '/weights'],
    ['a negative weight', 'memory_search', { query: 'q', weights: { lexical: -1 } }, '/weights'],
    ['a weight of 1e308', 'memory_search', { query: 'q', weights: { lexical: 1e308 } }, '/weights'],
    ['a weight that is a script', 'memory_search', { query: 'q', weights: { script: 'doc[0]' } }, '/weights'],
    ['an unknown field', 'memory_search', { query: 'q', tenant_secret: 1 }, ''],
    ['an unknown field in the filter', 'memory_search', { query: 'q', filter: { script_secret: {} } }, '/filter'],
    ['a wildcard object as tags', 'memory_search', { query: 'q', filter: { tags: { wildcard: '*' } } }, '/filter/tags'],
    ['a lone surrogate', 'memory_search', { query: 'a\ud800' }, '/query'],
    ['a NUL', 'memory_write', { content: 'a\u0000b' }, '/content'],
    ['neither content nor items', 'memory_write', {}, '/content'],
    ['items beside content', 'memory_write', { content: 'x', items: [{ content: 'y' }] }, '/content'],
    ['501 items', 'memory_write', { items: Array.from({ length: 501 }, () => ({ content: 'x' })) }, '/items'],
    ['a namespace in capitals', 'memory_write', { content: 'x', namespace: 'T2' }, '/namespace'],
    ['a prototype key in metadata', 'memory_write', { content: 'x', metadata: { constructor: { prototype: 1 } } }, '/metadata'],
    ['an update that changes nothing', 'memory_update', { memory_id: MEMORY_ID }, ''],
    ['an id with a query', 'memory_forget', { memory_id: MEMORY_ID, query: 'x' }, '/query'],
    ['an array instead of an object', 'memory_search', [], ''],
    ['null', 'memory_search', null, ''],
    ['a text', 'memory_search', 'query', ''],
  ];
  for (const [what, operation, input, pointer] of faulty) {
    it(`refuses ${what} with a pointer and calls nothing`, async () => {
      const { invoke, memory, costs } = bench();
      const error = await failure(invoke(named(operation), input, call()));
      expect(error.code).to.equal('ERR_REQUEST_INVALID');
      expect(error.faults[0]?.pointer).to.equal(pointer);
      expect(memory.calls).to.deep.equal([]);
      expect(costs).to.deep.equal([]);
    });
  }

  it('names all faults at once, twenty at most', async () => {
    const { invoke } = bench();
    const error = await failure(invoke(named('memory_search'), { query: 1, top_k: 0, min_score: 2 }, call()));
    expect(error.faults.map((fault) => fault.pointer)).to.have.members(['/query', '/top_k', '/min_score']);
    const many = { query: 'q', namespaces: Array.from({ length: 50 }, () => 'T2') };
    expect((await failure(invoke(named('memory_search'), many, call()))).faults).to.have.length(20);
  });

  it('never repeats a value or an unknown key', async () => {
    const { invoke } = bench();
    const secret = 'zqx-secret-zqx';
    const nasty = fc.constantFrom<unknown>(
      { [secret]: 1, query: 'q' },
      { query: 'q', profile: secret.toUpperCase() },
      { query: 'q', filter: { metadata: { [secret]: {} } } },
      { query: 'q', filter: { [secret]: 1, kind: [secret] } },
      { query: 'q', weights: { [secret]: 1 } },
      { query: 'q', namespaces: [`${secret}/..`] },
      { query: 'q', asked_at: secret },
      { query: `${secret}\u0000` },
      secret,
      [secret],
    );
    await fc.assert(
      fc.asyncProperty(nasty, async (input) => {
        const error = await failure(invoke(named('memory_search'), input, call()));
        expect(JSON.stringify([error.message, error.faults]).toLowerCase()).to.not.contain(secret);
      }),
    );
  });

  it('refuses a caller without the scope and names the scope', async () => {
    const { invoke, memory } = bench();
    const error = await failure(invoke(named('memory_write'), { content: 'x' }, call(['memory:read'])));
    expect(error.code).to.equal('ERR_SCOPE_MISSING');
    expect(error.params).to.deep.equal({ scope: 'memory:write' });
    expect(memory.calls).to.deep.equal([]);
  });

  it('does not call the handler when the limit is used up', async () => {
    const { invoke, memory } = bench(() => new HindsightError('ERR_RATE_LIMITED', { params: { seconds: 3 }, retryAfterSeconds: 3 }));
    const error = await failure(invoke(named('memory_search'), { query: 'q' }, call()));
    expect(error.code).to.equal('ERR_RATE_LIMITED');
    expect(error.retryAfterSeconds).to.equal(3);
    expect(memory.calls).to.deep.equal([]);
  });

  it('counts a batch as more than one call', async () => {
    const { invoke, costs } = bench();
    await invoke(named('memory_write'), { items: Array.from({ length: 500 }, () => ({ content: 'x' })) }, call());
    await invoke(named('memory_write'), { content: 'x' }, call());
    expect(costs).to.deep.equal([
      ['memory_write', 22],
      ['memory_write', 2],
    ]);
  });

  it('tells the caller of the limit and hands the handler the bare call', async () => {
    const { invoke, memory } = bench();
    const seen: number[] = [];
    await invoke(named('memory_search'), { query: 'q' }, { ...call(), onLimit: (result) => void seen.push(result.remaining) });
    expect(seen).to.deep.equal([9]);
    expect(memory.calls[0]?.call).to.not.have.property('onLimit');
  });

  it('turns an upstream error into ERR_INTERNAL and keeps its text in the log only', async () => {
    const { invoke, memory, logs, metrics } = bench();
    memory.intercept = async () => {
      throw new Error('search_phase_execution_exception at hs-mem');
    };
    const error = await failure(invoke(named('memory_search'), { query: 'q' }, call()));
    expect(error.code).to.equal('ERR_INTERNAL');
    expect(error.message).to.equal('Something went wrong on our side');
    expect(metrics).to.deep.equal([['memory_search', 'ERR_INTERNAL' satisfies ErrorCode]]);
    expect(logs.join()).to.contain('operation failed').and.to.contain('"level":"error"');
  });

  it('tells a writer that an unanswered write may have been stored, and a reader just to try again', async () => {
    const { invoke, memory } = bench();
    memory.intercept = async () => {
      throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error('timed out') });
    };
    const told = async (name: string, input: object, more: Partial<InvokeCall> = {}): Promise<string> => {
      const error = await failure(invoke(named(name), input, { ...call(), ...more }));
      expect(error.code).to.equal('ERR_STORE_UNAVAILABLE');
      expect([error.status, error.retryAfterSeconds, (error.cause as Error).message]).to.deep.equal([503, 1, 'timed out']);
      return error.message.replace('Elasticsearch cannot be reached right now; ', '');
    };
    expect(await told('memory_search', { query: 'q' })).to.equal('try again');
    expect(await told('memory_write', { content: 'x' }, { idempotencyKey: 'k' })).to.equal(
      'the write may or may not have been stored: send it again with the same Idempotency-Key',
    );
    expect(await told('memory_write', { content: 'x' })).to.match(/^the write may or may not have been stored: search for it/);
    expect(await told('memory_update', { memory_id: MEMORY_ID, pinned: true })).to.match(/^the change may or may not have been made/);
    expect(await told('memory_forget', { memory_id: MEMORY_ID })).to.match(/^the change may or may not have been made/);
  });

  it('answers on the grid of time of a refusal what says nothing about an id, and at once a page without an id', async () => {
    const { invoke, memory } = bench();
    for (const name of ['memory_confirmations', 'memory_quarantine']) {
      const from = performance.now();
      const { items } = await invoke(named(name), { memory_id: MEMORY_ID }, call(['memory:read', 'memory:confirm']));
      expect(items).to.deep.equal([]);
      // the clock stands, so that a whole step of 25 ms is left
      expect(performance.now() - from, name).to.be.above(20);
      expect(named(name).silent?.({ memory_id: MEMORY_ID }, { items: [] }), name).to.equal(true);
      expect(named(name).silent?.({ memory_id: MEMORY_ID }, { items: [{}] }), name).to.equal(false);
      expect(named(name).silent?.({}, { items: [] }), name).to.equal(false);
    }
    const invalid = (pointer: string) => ({ results: [{ errors: [{ pointer, message: 'm' }] }] });
    expect(named('memory_write').silent?.({}, invalid('/items/0/source/parents'))).to.equal(true);
    expect(named('memory_write').silent?.({}, invalid('/items/0/content'))).to.equal(false);
    for (const code of ['ERR_MEMORY_NOT_FOUND', 'ERR_RECALL_NOT_FOUND'] as const) {
      memory.intercept = async () => Promise.reject(new HindsightError(code));
      const from = performance.now();
      await failure(invoke(named('memory_get'), { memory_id: MEMORY_ID }, call()));
      expect(performance.now() - from, code).to.be.above(20);
    }
  });

  it('refuses at once what comes while as many calls run as may, and takes the next when one has ended', async () => {
    const { invoke, memory } = bench(undefined, 2);
    const open: (() => void)[] = [];
    memory.intercept = async () => {
      await new Promise<void>((resolve) => open.push(resolve));
      throw new HindsightError('ERR_MEMORY_NOT_FOUND');
    };
    const get = () => failure(invoke(named('memory_get'), { memory_id: MEMORY_ID }, call()));
    const running = [get(), get()];
    const refused = await get();
    expect([refused.code, refused.status, refused.retryAfterSeconds]).to.deep.equal(['ERR_BUSY', 503, 1]);
    while (open.length < 2) await new Promise((resolve) => setImmediate(resolve));
    open.splice(0, 1)[0]?.();
    expect((await running[0])?.code).to.equal('ERR_MEMORY_NOT_FOUND');
    expect((await failure(invoke(named('memory_get'), {}, call()))).code, 'a faulty call gives its place back').to.equal(
      'ERR_REQUEST_INVALID',
    );
    const next = get();
    while (open.length < 2) await new Promise((resolve) => setImmediate(resolve));
    open.forEach((end) => end());
    expect((await next).code).to.equal('ERR_MEMORY_NOT_FOUND');
    await running[1];
  });

  for (const [how, leave] of [
    ['is at its end', async (lines) => expect(await lines.next()).to.deep.equal({ done: true, value: undefined })],
    ['breaks', async (lines) => expect(await failure(lines.next())).to.include({ code: 'ERR_STORE_UNAVAILABLE' })],
    ['is left by its reader', async (lines) => void (await lines.return?.())],
    [
      'is broken off by its reader',
      async (lines) => expect((await failure(Promise.resolve(lines.throw?.(new HindsightError('ERR_BUSY'))))).code).to.equal('ERR_BUSY'),
    ],
  ] as [string, (lines: AsyncIterator<unknown>) => Promise<void>][])
    it(`counts an answer that is a stream until it ${how}`, async () => {
      const { invoke, memory } = bench(undefined, 1);
      memory.intercept = async ({ method }) =>
        method !== 'exportLines'
          ? { hits: [], nothing_relevant: true, degraded: [], took_ms: 1 }
          : (async function* () {
              yield 'one';
              if (how === 'breaks') throw new HindsightError('ERR_STORE_UNAVAILABLE');
            })();
      const search = () => invoke(named('memory_search'), { query: 'q' }, call());
      const { lines } = await invoke(named('memory_export'), {}, call(['memory:read', 'memory:admin']));
      const iterator = (lines as AsyncIterable<unknown>)[Symbol.asyncIterator]();
      expect((await failure(search())).code, 'not read yet').to.equal('ERR_BUSY');
      expect(await iterator.next()).to.deep.equal({ done: false, value: 'one' });
      expect((await failure(search())).code, 'being read').to.equal('ERR_BUSY');
      await leave(iterator);
      await iterator.return?.();
      expect(await search()).to.include({ nothing_relevant: true });
      const again = invoke(named('memory_export'), {}, call(['memory:read', 'memory:admin']));
      expect((await failure(search())).code, 'the place was given back once').to.equal('ERR_BUSY');
      await again;
    });

  it('does not let an answer out that breaks the schema', async () => {
    const { invoke, memory, logs } = bench();
    memory.intercept = async () => ({ hits: 'everything' });
    expect((await failure(invoke(named('memory_search'), { query: 'q' }, call()))).code).to.equal('ERR_INTERNAL');
    expect(logs.join()).to.contain('output breaks its own schema').and.not.to.contain('everything');
  });

  it('drops answer fields that the schema does not name', async () => {
    const { invoke, memory } = bench();
    memory.intercept = async () => ({ hits: [], nothing_relevant: true, degraded: [], took_ms: 1, seq_no: 5 });
    expect(await invoke(named('memory_search'), { query: 'q' }, call())).to.not.have.property('seq_no');
  });

  describe('with an audit log that stores a write’s record beside the write', () => {
    const RESULTS = [{ memory_id: MEMORY_ID, outcome: 'stored', version: 1, settled: false, replaced: [], masked: [] }] as const;
    const write = (outcome: string) => ({ results: [{ ...RESULTS[0], outcome, guard: GUARD }] });

    /** `during`: what the gateway does between being told to store and answering. */
    async function audited(name: string, during: (noted: NotedCall) => Promise<unknown>): Promise<{ facts: AuditFacts[]; code: string }> {
      const facts: AuditFacts[] = [];
      const trail = {
        up: true,
        append: async (taken: AuditFacts) => void facts.push(taken),
        begin: (taken: AuditFacts) => ({ seq: facts.push(taken), stored: Promise.resolve() }),
        flush: async () => undefined,
        anchor: () => undefined,
        close: async () => undefined,
      };
      const { invoke, memory } = bench(undefined, undefined, createAudit({ trail, hashing: { key: Buffer.alloc(32), mask: (t) => t } }));
      memory.intercept = during;
      const code = await invoke(named(name), { content: 'Ann drinks tea.' }, call()).then(
        () => 'OK',
        (error: unknown) => (error as HindsightError).code,
      );
      return { facts, code };
    }
    const tellAnd = (answer: () => unknown) => async (noted: NotedCall) => {
      noted.call.aboutToStore?.(write('stored').results as never);
      return answer();
    };
    const said = (facts: readonly AuditFacts[]) => facts.map(({ outcome, detail = {} }) => [outcome, detail['ahead'], detail['corrects']]);

    it('leaves one record when what was foretold came true', async () => {
      const { facts, code } = await audited(
        'memory_write',
        tellAnd(() => write('stored')),
      );
      expect([code, said(facts)]).to.deep.equal(['OK', [['ok', true, undefined]]]);
    });

    it('leaves a second one when the store did not take it, or the call failed', async () => {
      const refused = await audited(
        'memory_write',
        tellAnd(() => write('failed')),
      );
      expect([refused.code, said(refused.facts)]).to.deep.equal([
        'OK',
        [
          ['ok', true, undefined],
          ['ok', undefined, 1],
        ],
      ]);
      const failed = await audited(
        'memory_write',
        tellAnd(() => {
          throw new HindsightError('ERR_STORE_UNAVAILABLE');
        }),
      );
      expect([failed.code, said(failed.facts)]).to.deep.equal([
        'ERR_STORE_UNAVAILABLE',
        [
          ['ok', true, undefined],
          ['failed', undefined, 1],
        ],
      ]);
    });

    it('records afterwards what a user may still be asked about', async () => {
      const { facts } = await audited('memory_write', async ({ call: by }) => {
        by.aboutToStore?.(write('pending').results as never);
        return write('pending');
      });
      expect(said(facts)).to.deep.equal([['ok', undefined, undefined]]);
    });
  });

  it('takes operations from outside the registry', async () => {
    const { invoke } = bench();
    const echo = defineOperation({
      name: 'memory_echo',
      title: 'Echo',
      description: 'test',
      effect: 'read',
      idempotent: true,
      scope: 'memory:read',
      cost: 1,
      http: [],
      mcp: { tool: 'never', fields: [] },
      input: z.strictObject({ a: z.int() }),
      output: z.object({ b: z.int() }),
      examples: [{ a: 1 }],
      handle: async ({ a }) => ({ b: a + 1 }),
    });
    expect(await invoke(echo, { a: 1 }, call())).to.deep.equal({ b: 2 });
  });
});
