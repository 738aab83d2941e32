/** The service killed while it writes: what it acknowledged is there afterwards, found by id and by search, with its vectors. */
import { expect } from 'chai';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basicHeader, engineCredential } from '../../src/elastic/local/credential.ts';
import { eventually, isThere, serveLocal, type Running } from '../support/program.ts';
import { freePort } from '../support/service.ts';

const WRITES = 200;
const WRITERS = 8;
const ROUNDS = 3;

interface Acknowledged {
  readonly id: string;
  readonly content: string;
}

describe('a service killed in the middle of its writes', function () {
  this.timeout(300_000);
  let folder: string;
  let port: number;
  let service: Running | undefined;
  const acknowledged: Acknowledged[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-crash-'));
    port = await freePort();
  });
  after(async () => {
    await service?.program.kill();
    if (service !== undefined) await engineGone(service);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  });

  for (let round = 1; round <= ROUNDS; round += 1) {
    const killAfter = 10 + Math.floor(Math.random() * (WRITES - 40));

    it(`loses nothing it had acknowledged (round ${round}, killed after ${killAfter} of ${WRITES})`, async () => {
      service ??= await serveLocal(join(folder, 'data'), port);
      const { program } = service;
      const before = acknowledged.length;
      await writeUntilKilled(service, round, killAfter);
      expect(await program.exited).to.deep.equal({ code: null, signal: 'SIGKILL' });
      const made = acknowledged.length - before;
      expect(made).to.be.at.least(killAfter).and.below(WRITES);
      await engineGone(service);

      service = await serveLocal(join(folder, 'data'), port);
      await each(acknowledged, async ({ id, content }) => {
        const kept = await service!.call('GET', `/v1/memories/${id}`);
        expect(kept.status, id).to.equal(200);
        expect(kept.body.content, id).to.equal(content);
      });
    });
  }

  /** It ends with its service, however that one ended. */
  function engineGone({ engine }: Running): Promise<boolean> {
    return eventually(
      async () => isThere(engine.pid),
      (there) => !there,
      30_000,
    );
  }

  /** Writers side by side; the kill falls between two answers of theirs. */
  async function writeUntilKilled(target: Running, round: number, killAfter: number): Promise<void> {
    let next = 0;
    let done = 0;
    const writer = async (): Promise<void> => {
      while (next < WRITES) {
        const n = (next += 1);
        const content = `Round ${round}, parcel ${n}: locker code K${round}${String(n).padStart(4, '0')} 快递柜取件码`;
        const answer = await target.call('POST', '/v1/memories', { content }).catch(() => undefined);
        if (answer === undefined) return; // cut off: nothing was promised
        expect(answer.body.results[0].outcome).to.equal('stored');
        acknowledged.push({ id: answer.body.results[0].memory_id, content });
        done += 1;
        if (done === killAfter) target.program.child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
  }

  async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const left = [...items];
    const worker = async (): Promise<void> => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
    };
    await Promise.all(Array.from({ length: WRITERS }, worker));
  }

  async function vectorCounts(engineUrl: string): Promise<{ all: number; due: number; withVector: number }> {
    const count = async (query: object): Promise<number> => {
      const response = await fetch(`${engineUrl}/hs-mem-*-g*/_count`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: basicHeader(await engineCredential(join(folder, 'data'))) },
        body: JSON.stringify({ query }),
      });
      return ((await response.json()) as { count: number }).count;
    };
    const [all, due, withVector] = await Promise.all([
      count({ term: { doc_type: 'memory' } }),
      count({ exists: { field: 'spaces_due' } }),
      count({ exists: { field: 'vec_zh' } }),
    ]);
    return { all, due, withVector };
  }

  it('fills the vectors that were due, also those a dead worker had leased, and finds every memory by search', async () => {
    if (service === undefined) throw new Error('the rounds above have not run');
    const { engine, program } = service;
    const { all } = await eventually(
      () => vectorCounts(engine.url),
      (counts) => counts.due === 0 && counts.withVector === counts.all,
      180_000,
    );
    expect(all).to.be.at.least(acknowledged.length);
    await each(acknowledged, async ({ id, content }) => {
      const found = await service!.call('POST', '/v1/memories/search', { query: content, top_k: 3 });
      expect(
        found.body.hits.map((hit: { memory_id: string }) => hit.memory_id),
        content,
      ).to.include(id);
    });
    program.child.kill('SIGTERM');
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    expect(existsSync(join(folder, 'data', 'run.json'))).to.equal(false);
  });
});
