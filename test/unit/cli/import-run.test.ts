/** An import that goes on where another run was ended, and the file of its faults. */
import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { RestCall, RestClient } from '../../../src/cli/rest-client.ts';
import { runImport, type ImportJob } from '../../../src/cli/transfer/import-run.ts';
import { NOT_BEGUN, writeState } from '../../../src/cli/transfer/import-state.ts';
import { surveyFile } from '../../../src/cli/transfer/survey.ts';

describe('runImport', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'import-run-'));
  after(() => rmSync(dataDir, { recursive: true }));

  /** Three rows, the first done in an earlier run with a fault of 20 bytes, the last one no JSON. */
  async function goOn(name: string): Promise<{ readonly job: ImportJob; readonly sent: unknown[] }> {
    const path = join(dataDir, `${name}.jsonl`);
    writeFileSync(path, '{"content":"one"}\n{"content":"two"}\nthree\n');
    writeState(dataDir, name, { ...NOT_BEGUN, line: 1, outcomes: { invalid: 1 }, faults: 1, faultBytes: 20 });
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
    return { job: { client, dataDir, path, survey: await surveyFile(path), rows, batchRows: 2, key: name, faultsPath, stderr }, sent };
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
});
