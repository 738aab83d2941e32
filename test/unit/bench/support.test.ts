import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HttpClient } from '../../../bench/support/http-client.ts';
import { Latency, median } from '../../../bench/support/latency.ts';
import { shortened } from '../../../bench/support/machine.ts';
import { helpOf, parseOptions, UsageError, type BenchCommand } from '../../../bench/support/options.ts';
import { RecordingProxy } from '../../../bench/support/recording-proxy.ts';
import { writeResults } from '../../../bench/support/results.ts';

describe('bench support', () => {
  const command: BenchCommand = {
    name: 'bench:thing',
    summary: 'measures a thing',
    options: {
      sizes: { description: 'sizes', default: '10,20' },
      engine: { description: 'URL' },
      keep: { description: 'keep', flag: true },
    },
  };

  it('reads lists, counts, flags and defaults from the command line', () => {
    const options = parseOptions(command, ['--keep', '--engine', 'http://h']);
    expect(options?.counts('sizes')).to.deep.equal([10, 20]);
    expect(options?.flag('keep')).to.equal(true);
    expect(options?.optional('engine')).to.equal('http://h');
    expect(parseOptions(command, ['--help'])).to.equal(undefined);
    expect(helpOf(command)).to.include('npm run bench:thing -- [options]').and.include('(default: 10,20)');
  });

  it('names the option that is wrong', () => {
    expect(() => parseOptions(command, ['--size', '3'])).to.throw(UsageError, '--size');
    expect(() => parseOptions(command, ['--sizes', '10,x'])?.counts('sizes')).to.throw(UsageError, '--sizes takes whole numbers');
    expect(() => parseOptions(command, ['--sizes', '0'])?.counts('sizes')).to.throw(UsageError, '--sizes');
  });

  it('keeps percentiles to three digits and merges histograms', () => {
    const [a, b] = [new Latency(), new Latency()];
    for (let i = 1; i <= 100; i += 1) (i % 2 === 0 ? a : b).add(i);
    a.merge(b);
    const summary = a.summary();
    expect(summary.count).to.equal(100);
    expect(summary.p50_ms).to.be.closeTo(50, 0.5);
    expect(summary.p95_ms).to.be.closeTo(95, 0.5);
    expect(summary.max_ms).to.be.closeTo(100, 0.5);
  });

  it('takes the median of odd and even numbers of values', () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([4, 1, 2, 3])).to.equal(2.5);
    expect(median([])).to.be.NaN;
  });

  it('leaves folders and addresses out of the command it keeps', () => {
    expect(shortened(['--data', '/home/someone/data/retrieval', '--engine=http://10.0.0.1:9200', '--sets', 'all'])).to.deep.equal([
      '--data',
      'retrieval',
      '--engine=10.0.0.1:9200',
      '--sets',
      'all',
    ]);
  });

  it('writes figures rounded to four places', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-results-'));
    try {
      const path = writeResults('thing', { ratio: 1.234_567, list: [0.1 + 0.2] }, join(folder, 'made', 'on', 'demand'));
      expect(path).to.equal(join(folder, 'made', 'on', 'demand', 'thing.json'));
      expect(JSON.parse(readFileSync(path, 'utf8'))).to.deep.equal({ ratio: 1.2346, list: [0.3] });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  describe('the recording proxy', () => {
    let target: Server;
    let proxy: RecordingProxy;
    let client: HttpClient;
    before(async () => {
      target = createServer((request, response) => {
        request.resume().on('end', () => {
          const known = request.url === '/index/_search?x=1';
          response.writeHead(known ? 200 : 404, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' });
          response.end(JSON.stringify({ took: 1 }));
        });
      });
      await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
      proxy = await RecordingProxy.start(`http://127.0.0.1:${(target.address() as AddressInfo).port}`);
      client = new HttpClient(proxy.url);
    });
    after(async () => {
      client.close();
      await proxy.stop();
      await new Promise((resolve) => target.close(resolve));
    });

    it('passes status, headers and body on, and keeps the request as it was sent', async () => {
      const headers = { accept: 'application/vnd.elasticsearch+json', 'content-type': 'application/vnd.elasticsearch+json' };
      const answer = await client.send({ method: 'POST', path: '/index/_search?x=1', body: '{"query":"龙井"}', headers });
      expect(answer).to.include({ status: 200, text: '{"took":1}' });
      expect(answer.headers).to.include({ 'x-elastic-product': 'Elasticsearch' });
      expect(proxy.clear()).to.deep.equal([
        {
          method: 'POST',
          path: '/index/_search?x=1',
          contentType: 'application/vnd.elasticsearch+json',
          accept: 'application/vnd.elasticsearch+json',
          body: '{"query":"龙井"}',
        },
      ]);
      expect(proxy.calls).to.deep.equal([]);
    });

    it('lets a failure through as a failure', async () => {
      expect((await client.send({ method: 'GET', path: '/other' })).status).to.equal(404);
      const error = await client.json({ method: 'GET', path: '/other' }).then(
        () => undefined,
        (e: unknown) => e as Error,
      );
      expect(error?.message).to.equal('GET /other: 404 {"took":1}');
    });
  });
});
