import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { peers } from '../../../bench/peers/catalogue.ts';
import { lastLine } from '../../../bench/peers/install.ts';
import { jobOf } from '../../../bench/peers/job.ts';
import { KeptFigures, type Kept } from '../../../bench/peers/kept.ts';
import { PeerUnavailable, type Peer } from '../../../bench/peers/peer.ts';
import { peerFigures, peerMarkdown } from '../../../bench/peers/report.ts';
import type { CorpusRow, QueryRow, RetrievalSet } from '../../../bench/support/dataset.ts';

const namespaces = ['a/1', 'a/2', 'a/3', 'a/4'];
const corpus: CorpusRow[] = namespaces.flatMap((namespace) =>
  Array.from({ length: 10 }, (_, i) => ({
    id: `${namespace}/${i}`,
    namespace,
    text: `Turn ${i}`,
    created_at: '2023-01-01T00:00:00Z',
    speaker: 'Melanie',
  })),
);
const query = (namespace: string, i: number, category = 'single-hop'): QueryRow => ({
  id: `${namespace}/q${i}`,
  namespace,
  query: `What about ${i}?`,
  relevant: [`${namespace}/${i}`],
  category,
  asked_at: '2023-02-01T00:00:00Z',
});
const set: RetrievalSet = {
  name: 'tiny.dev',
  corpus,
  queries: namespaces.flatMap((namespace) => [query(namespace, 0), query(namespace, 1), query(namespace, 2, 'adversarial')]),
};
const peer = (id: string): Peer => {
  const refuse = (): Promise<never> => Promise.reject(new PeerUnavailable('not here'));
  return { id, name: id.toUpperCase(), setting: 'its best', fingerprint: () => 'f', prepare: refuse, run: refuse };
};
const kept = (job: string, ranked: string[][]): Kept => ({
  job,
  peer: 'f',
  version: '1.2.3',
  date: '2026-11-30T18:00:00.000Z',
  load: 0.1,
  commit: 'abc',
  embedder: { query: 5, passage: 6 },
  answers: { refused: 1, writeMs: [1, 2, 3], searchMs: [4, 4], ranked, extra: {} },
});

describe('bench peers', () => {
  describe('a job', () => {
    it('takes whole namespaces up to the number of documents, the same ones each time, and always one', () => {
      const job = jobOf(set, { documents: 25, questions: 100 });
      expect(job.documents).to.have.length(20);
      expect(job.documents).to.deep.equal(jobOf(set, { documents: 25, questions: 100 }).documents);
      expect(new Set(job.queries.map((row) => row.namespace)).size).to.equal(2);
      expect(jobOf(set, { documents: 1, questions: 100 }).documents).to.have.length(10);
    });

    it('leaves out the questions whose figures are published nowhere and draws of the others', () => {
      expect(jobOf(set, { documents: 40, questions: 100 }).queries).to.have.length(8);
      expect(jobOf(set, { documents: 40, questions: 3 }).queries).to.have.length(3);
    });

    it('names the speaker in what peers store, unless the text does so itself', () => {
      const chat = { ...set, corpus: corpus.map((row) => ({ ...row, speaker: 'user+assistant' })) };
      expect(jobOf(set, { documents: 10, questions: 1 }).documents[0]?.text).to.equal('Melanie: Turn 0');
      expect(jobOf(chat, { documents: 10, questions: 1 }).documents[0]?.text).to.equal('Turn 0');
    });

    it('goes to the Chinese model where any text or question is Chinese, else to the English one', () => {
      const chinese = { ...set, queries: set.queries.map((row) => ({ ...row, query: '谁？' })) };
      expect(jobOf(set, { documents: 40, questions: 9 })).to.include({ language: 'en', model: 'en', dims: 384 });
      expect(jobOf(chinese, { documents: 40, questions: 9 })).to.include({ language: 'zh', model: 'zh', dims: 512 });
    });
  });

  describe('kept figures', () => {
    let folder: string;
    before(() => (folder = mkdtempSync(join(tmpdir(), 'bench-peers-'))));
    after(() => rmSync(folder, { recursive: true }));

    it('hold for the very documents and questions they were measured on', () => {
      const figures = new KeptFigures(folder);
      const job = jobOf(set, { documents: 10, questions: 2 });
      expect(figures.read(peer('one'), job)).to.equal(undefined);
      figures.write(peer('one'), job, kept(job.fingerprint, [['x'], ['y']]));
      expect(figures.read(peer('one'), job)?.answers.ranked).to.deep.equal([['x'], ['y']]);
      expect(figures.read(peer('two'), job)).to.equal(undefined);
      expect(figures.read(peer('one'), jobOf(set, { documents: 10, questions: 1 }))).to.equal(undefined);
    });
  });

  describe('the report', () => {
    const job = jobOf(set, { documents: 10, questions: 2 });
    const [first, second] = job.queries.map((row) => row.relevant[0] ?? '');
    const [here, away] = [peer('here'), peer('away')];
    const rows = [
      { peer: here, job, kept: kept(job.fingerprint, [[first ?? ''], ['wrong', second ?? '']]) },
      { peer: away, job, reason: 'pip could not install away' },
    ];

    it('gives the figures of who was measured and the reason for who was not', () => {
      const [measured, missing] = peerFigures(rows) as Record<string, unknown>[];
      expect(measured).to.deep.include({ peer: 'HERE', version: '1.2.3', refused: 1 });
      expect(measured).to.have.nested.property('recall_5.mean', 1);
      expect(measured).to.have.nested.property('mrr.mean', 0.75);
      expect(measured).to.have.nested.property('write.p50_ms').closeTo(2, 0.01);
      expect(missing).to.deep.equal({ peer: 'AWAY', set: 'tiny.dev', not_measured: 'pip could not install away' });
    });

    it('has a row for each of them in the tables, with what was not stored', () => {
      const markdown = peerMarkdown([here, away], [job], rows);
      expect(markdown).to.include('tiny: 10 documents, 2 questions');
      expect(markdown).to.match(/\| HERE +\| 1\.000 \[1\.000, 1\.000\]/);
      expect(markdown).to.match(/\| AWAY +\| – /);
      expect(markdown).to.include('its best; 1 documents not stored');
      expect(markdown).to.include('pip could not install away');
    });
  });

  it('names every peer once, and those it cannot measure with a reason', async () => {
    const all = peers();
    expect(new Set(all.map(({ id }) => id)).size).to.equal(all.length);
    for (const id of ['hindsight', 'graphiti', 'cognee', 'letta']) {
      const failure = await all
        .find((one) => one.id === id)
        ?.prepare('nowhere')
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(PeerUnavailable);
      expect((failure as Error).message).to.match(/ installs/);
    }
  });

  it('tells what went wrong without addresses and folders', () => {
    const text = 'Traceback\n  File "/home/u/x.py"\nValueError: no /home/u/model at https://hub.example/a?b for mem0/v1\n';
    expect(lastLine(text)).to.equal('ValueError: no … at … for mem0/v1');
  });
});
