/** An import that goes on where another run was ended, and the file of its faults. */
import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { RestCall, RestClient } from '../../../src/cli/rest-client.ts';
import { runImport, type ImportJob, type InDoubt } from '../../../src/cli/transfer/import-run.ts';
import { NOT_BEGUN, readState, writeState, type ImportState } from '../../../src/cli/transfer/import-state.ts';
import { surveyFile } from '../../../src/cli/transfer/survey.ts';

const NOW = Date.UTC(2026, 2, 1);
const HOUR_MS = 3_600_000;

describe('runImport', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'import-run-'));
  after(() => rmSync(dataDir, { recursive: true }));

  /** Three rows, the first done in an earlier run with a fault of 20 bytes, the last one no JSON. */
  async function goOn(
    name: string,
    more: Partial<ImportJob> = {},
    state: Partial<ImportState> = {},
  ): Promise<{ readonly job: ImportJob; readonly sent: unknown[] }> {
    const path = join(dataDir, `${name}.jsonl`);
    writeFileSync(path, '{"content":"one"}\n{"content":"two"}\nthree\n');
    writeState(dataDir, name, { ...NOT_BEGUN, line: 1, outcomes: { invalid: 1 }, faults: 1, faultBytes: 20, ...state });
    const sent: unknown[] = [];
    const call = async ({ body }: RestCall) => {
      const { items } = body as { readonly items: readonly unknown[] };
      sent.push(...items);
      const text = JSON.stringify({ results: items.map(() => ({ memory_id: 'm', outcome: 'stored' })), verified: false, trace_id: 't' });
      return { status: 200, headers: {}, text };
    };
    const client: RestClient = { url: 'http://localhost', call, open: () => Promise.reject(new Error('not used')) };
    const rows = { map: new Map<string, string>(), namespace: undefined, extra: 'reject', known: new Set(['content']) } as const;
    const faultsPath = `${path}.faults.jsonl`;
    const stderr = new PassThrough() as unknown as ImportJob['stderr'];
    const survey = await surveyFile(path);
    const fixed = { batchRows: 2, key: name, clock: () => NOW, keepsIds: false, inDoubt: undefined };
    return { job: { client, dataDir, path, survey, rows, faultsPath, stderr, ...fixed, ...more }, sent };
  }

  it('sends the rows that are left and forgets faults that were told after the last whole batch', async () => {
    const { job, sent } = await goOn('resumed');
    writeFileSync(job.faultsPath, `${'a'.repeat(19)}\nof a batch under way\n`);
    expect(await runImport(job)).to.include({ line: 3, faults: 2, finished: true });
    expect(sent).to.deep.equal([{ content: 'two' }]);
    expect(readFileSync(job.faultsPath, 'utf8')).to.equal(`${'a'.repeat(19)}\n{"line":3,"pointer":"","reason":"is not JSON"}\n`);
  });

  it('goes on where its faults file was moved away or cut meanwhile', async () => {
    const { job } = await goOn('moved');
    expect(existsSync(job.faultsPath)).to.equal(false);
    expect(await runImport(job)).to.include({ faults: 2, finished: true });
    expect(readFileSync(job.faultsPath, 'utf8')).to.equal('{"line":3,"pointer":"","reason":"is not JSON"}\n');
    const cut = await goOn('cut');
    writeFileSync(cut.job.faultsPath, 'aaa\n');
    await runImport(cut.job);
    expect(readFileSync(cut.job.faultsPath, 'utf8')).to.equal('aaa\n{"line":3,"pointer":"","reason":"is not JSON"}\n');
  });

  describe('of a batch whose answer was never noted', () => {
    const sending = (hours: number) => ({ sending: { line: 3, atMs: NOW - hours * HOUR_MS } });

    it('sends it again while the service knows its key', async () => {
      const { job, sent } = await goOn('fresh', {}, sending(22.9));
      expect(await runImport(job)).to.include({ finished: true });
      expect(sent).to.have.length(1);
    });

    it('sends nothing when the service may have forgotten it, and says which lines it was', async () => {
      const { job, sent } = await goOn('old', {}, sending(23));
      const error = await runImport(job).then(
        () => undefined,
        (thrown: unknown) => thrown as InDoubt,
      );
      expect(error).to.include({ name: 'InDoubt' });
      expect(error?.lines).to.deep.equal([2, 3]);
      expect(sent).to.deep.equal([]);
      expect(readState(dataDir, 'old'), 'asked again by the next run').to.deep.include(sending(23));
    });

    it('skips or sends it as it is told', async () => {
      const skipped = await goOn('skip', { inDoubt: 'skip' }, sending(48));
      expect((await runImport(skipped.job)).outcomes).to.deep.equal({ invalid: 2, skipped: 1 });
      expect(skipped.sent).to.deep.equal([]);
      const again = await goOn('send', { inDoubt: 'send' }, sending(48));
      expect((await runImport(again.job)).outcomes).to.deep.equal({ invalid: 2, stored: 1 });
      expect(again.sent).to.have.length(1);
    });

    it('sends rows that keep their ids, which are stored once however often', async () => {
      const { job, sent } = await goOn('ids', { keepsIds: true }, sending(48));
      await runImport(job);
      expect(sent).to.have.length(1);
    });

    it('notes a batch before it is sent, with the time of its first try', async () => {
      const gone = { url: 'u', open: () => Promise.reject(new Error('no')), call: () => Promise.reject(new Error('killed')) };
      const first = await goOn('noted', { client: gone });
      expect(await runImport(first.job).catch((error: Error) => error)).to.include({ message: 'killed' });
      expect(readState(dataDir, 'noted').sending).to.deep.equal({ line: 3, atMs: NOW });
      const later = await runImport({ ...first.job, clock: () => NOW + 10 * HOUR_MS }).catch((error: Error) => error);
      expect(later).to.include({ message: 'killed' });
      expect(readState(dataDir, 'noted').sending?.atMs).to.equal(NOW);
      const end = await runImport({ ...(await goOn('noted')).job });
      expect(end).not.to.have.property('sending');
    });
  });
});
