/** The service killed while it stores texts and moves slots: all of it is there once, each slot has one value, and no version is half written. */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import { EmbeddingServer, hashBackend } from '../support/embedding-server.ts';
import { acquireEngine } from '../support/engine.ts';
import { dropEverything, eventually, serveLocal, type Running } from '../support/program.ts';
import { freePort, HASH_DIMS } from '../support/service.ts';

/** 20 kills among 1,000 writes by `TEST_KILLS=20 TEST_WRITES=1000`. */
const KILLS = Number(process.env['TEST_KILLS'] ?? 3);
const WRITES = Number(process.env['TEST_WRITES'] ?? 150);
const WRITERS = 6;
const SLOTS = 10;

interface Job {
  readonly body: {
    readonly content: string;
    readonly subject: string;
    readonly topic?: string;
    readonly kind: 'fact';
    readonly layer: 'semantic';
  };
  readonly slot: number | undefined;
}

/** Every third is a new value of one of ten slots, the others are texts that are said once. */
function jobOf(n: number): Job {
  if (n % 3 !== 0)
    return {
      slot: undefined,
      body: { content: `Locker ${n} opens with code K${n}Z 快递柜`, subject: `locker ${n}`, kind: 'fact', layer: 'semantic' },
    };
  const slot = (n / 3) % SLOTS;
  return {
    slot,
    body: {
      content: `The service unit${slot} listens on port ${10_000 + n}`,
      subject: `unit${slot}`,
      topic: 'port',
      kind: 'fact',
      layer: 'semantic',
    },
  };
}

describe('a service killed in the middle of claims and slots', function () {
  this.timeout(120_000 + KILLS * 60_000);
  const prefix = `t${randomBytes(5).toString('hex')}`;
  let folder: string;
  let engine: Awaited<ReturnType<typeof acquireEngine>>;
  let embeddings: EmbeddingServer;
  let port: number;
  let service: Running | undefined;
  const acknowledged: { readonly id: string; readonly job: Job }[] = [];

  const start = (): Promise<Running> =>
    serveLocal(join(folder, 'data'), port, {
      ELASTICSEARCH_URL: engine.url,
      ELASTICSEARCH_INDEX_PREFIX: prefix,
      EMBEDDING_PROFILE: 'openai',
      EMBEDDING_BASE_URL: embeddings.baseUrl,
      EMBEDDING_MODEL: 'hashed-words',
    });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-conflicts-'));
    engine = await acquireEngine();
    embeddings = await EmbeddingServer.start(hashBackend(HASH_DIMS));
    port = await freePort();
  });
  after(async () => {
    await service?.program.kill();
    await embeddings.stop();
    await dropEverything(engine.url, prefix);
    await engine.release();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  });

  it(`acknowledges all of ${WRITES} writes over ${KILLS} kills, sent again without a key where they were cut off`, async () => {
    const queue = Array.from({ length: WRITES }, (_, n) => jobOf(n));
    const kills = Array.from({ length: KILLS }, () => 1 + Math.floor(Math.random() * (WRITES - 2))).sort((a, b) => a - b);
    service = await start();
    while (queue.length > 0) {
      const { program } = service;
      const running = service;
      const writer = async (): Promise<void> => {
        for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
          const answer = await running.call('POST', '/v1/memories', job.body).catch(() => undefined);
          if (answer?.status !== 200) {
            queue.push(job);
            return;
          }
          const [result] = answer.body.results;
          expect(result.outcome, JSON.stringify(result)).to.be.oneOf(['stored', 'duplicate', 'replaced']);
          acknowledged.push({ id: result.memory_id, job });
          if (acknowledged.length >= (kills[0] ?? Infinity)) {
            kills.shift();
            program.child.kill('SIGKILL');
          }
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, writer));
      if (queue.length === 0) break;
      expect(await program.exited).to.deep.equal({ code: null, signal: 'SIGKILL' });
      service = await start();
    }
    expect(acknowledged).to.have.length(WRITES);
  });

  const stored = async (kind: string, query: object): Promise<readonly MemoryRecord[]> => {
    await fetch(`${engine.url}/${prefix}-mem-*/_refresh`, { method: 'POST' });
    const response = await fetch(`${engine.url}/${prefix}-mem-*${kind}/_search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ size: 10_000, query, _source: { excludes: ['vec_*'] } }),
    });
    const { hits } = (await response.json()) as { hits: { hits: { _source: MemoryRecord }[] } };
    return hits.hits.map(({ _source }) => _source);
  };

  it('has every text that it acknowledged, once', async () => {
    const heads = await stored('-g*', { term: { doc_type: 'memory' } });
    const byId = new Map(heads.map((record) => [record.memory_id, record]));
    for (const { id, job } of acknowledged) expect(byId.get(id)?.content, id).to.equal(job.body.content);
    const texts = heads.filter(({ topic, status }) => topic === undefined && status === 'active').map(({ content }) => content);
    const wanted = acknowledged.filter(({ job }) => job.slot === undefined).map(({ job }) => job.body.content);
    expect(texts.sort()).to.deep.equal([...new Set(wanted)].sort());
  });

  it('has one value in each slot, also where the kill fell between the slot and its memories', async () => {
    const active = await eventually(
      () => stored('-g*', { bool: { filter: [{ term: { topic: 'port' } }, { term: { status: 'active' } }] } }),
      (records) => records.length <= SLOTS,
      90_000,
    );
    expect(active.map(({ subject }) => subject).sort()).to.deep.equal(Array.from({ length: SLOTS }, (_, slot) => `unit${slot}`).sort());
  });

  it('has every earlier version of every memory, and none of a later one', async () => {
    const heads = await stored('-g*', { term: { doc_type: 'memory' } });
    const copies = await stored('-versions', { term: { doc_type: 'memory' } });
    const there = new Set(copies.map(({ memory_id, version }) => `${memory_id}@${version}`));
    for (const { memory_id, version, status, superseded_by } of heads) {
      for (let n = 1; n < version; n += 1) expect(there.has(`${memory_id}@${n}`), `${memory_id}@${n}`).to.equal(true);
      // a copy of the version that stands is what a change that was cut off leaves: harmless, and the next change uses it
      expect(there.has(`${memory_id}@${version + 1}`)).to.equal(false);
      if (status === 'superseded') expect(heads.some((other) => other.memory_id === superseded_by)).to.equal(true);
    }
    expect(heads.some(({ status }) => status === 'superseded')).to.equal(true);
  });
});
