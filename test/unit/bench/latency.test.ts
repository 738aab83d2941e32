import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { benchPolicies } from '../../../bench/latency/corpus-service.ts';
import { cellTable, latencyHtml, latencyPlots } from '../../../bench/latency/html.ts';
import { cellKey, cellsOf, layoutsOf, settingsOf, type Cell, type Dimensions } from '../../../bench/latency/plan.ts';
import { agreement, recommend } from '../../../bench/latency/recommend.ts';
import { LatencyRecord, type CellFigures, type SideFigures } from '../../../bench/latency/record.ts';
import { loadProfiles } from '../../../src/ranking/profile.ts';

const DIMENSIONS: Dimensions = {
  sizes: [2_000, 1_000],
  indexes: ['int8_hnsw', 'flat'],
  namespaces: [4, 400],
  tenants: [1],
  topK: [5, 20],
  neighbours: [1_000, 200],
  filters: ['none', 'narrow'],
  concurrency: [1, 8],
};
const BASE: Cell = {
  size: 2_000,
  index: 'int8_hnsw',
  namespaces: 4,
  tenants: 1,
  topK: 5,
  neighbours: 1_000,
  filter: 'none',
  concurrency: 1,
};

const side = (p95: number): SideFigures => ({
  count: 10,
  p50_ms: p95 / 2,
  p95_ms: p95,
  p99_ms: p95 * 2,
  max_ms: p95 * 3,
  per_second: 1_000 / p95,
});
const figures = (cell: Partial<Cell>, p95: number, hits?: number[][]): CellFigures => ({
  ...BASE,
  ...cell,
  rest: side(p95),
  raw: side(p95 / 2),
  plain: side(p95 / 4),
  ...(hits === undefined ? {} : { hits }),
});

describe('bench latency', () => {
  describe('the plan', () => {
    it('varies one dimension at a time around the first value of each', () => {
      expect(layoutsOf(DIMENSIONS)).to.deep.equal([
        { index: 'int8_hnsw', namespaces: 4, tenants: 1 },
        { index: 'flat', namespaces: 4, tenants: 1 },
        { index: 'int8_hnsw', namespaces: 400, tenants: 1 },
      ]);
      expect(settingsOf(DIMENSIONS)).to.have.length(5);
      expect(settingsOf(DIMENSIONS)[0]).to.deep.equal({ topK: 5, neighbours: 1_000, filter: 'none', concurrency: 1 });
    });

    it('lets one import grow through the sizes and names every cell otherwise', () => {
      const cells = layoutsOf(DIMENSIONS).flatMap((layout) => cellsOf(layout, DIMENSIONS));
      expect(cells).to.have.length(3 * 2 * 5);
      expect(new Set(cells.map(cellKey))).to.have.length(cells.length);
      expect(cells.slice(0, 10).map((cell) => cell.size)).to.deep.equal([...Array<number>(5).fill(1_000), ...Array<number>(5).fill(2_000)]);
    });
  });

  describe('the record', () => {
    let folder: string;
    let path: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'bench-cells-'));
      path = join(folder, 'cells.jsonl');
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it('gives finished cells to a rerun of the same sources, and none to another', () => {
      new LatencyRecord(path, 'one').addCell(figures({}, 8));
      expect(new LatencyRecord(path, 'one').has(BASE)).to.equal(true);
      expect(new LatencyRecord(path, 'one').has({ ...BASE, concurrency: 8 })).to.equal(false);
      expect(new LatencyRecord(path, 'one').cells([{ ...BASE, topK: 20 }, BASE])).to.deep.equal([figures({}, 8)]);
      expect(new LatencyRecord(path, 'two').has(BASE)).to.equal(false);
    });

    it('reads past a line that was cut short', () => {
      new LatencyRecord(path, 'one').addCell(figures({}, 8));
      appendFileSync(path, '{"run":"one","kind":"cell","fig');
      expect(new LatencyRecord(path, 'one').has(BASE)).to.equal(true);
    });

    it('begins anew when told to', () => {
      new LatencyRecord(path, 'one').addCell(figures({}, 8));
      expect(new LatencyRecord(path, 'one', true).has(BASE)).to.equal(false);
      expect(existsSync(path)).to.equal(false);
    });
  });

  describe('the recommendation', () => {
    const cells = [
      figures({}, 40, [
        [1, 2],
        [3, 9],
      ]),
      figures({ neighbours: 200 }, 20, [
        [1, 8],
        [7, 9],
      ]),
      figures({ index: 'flat' }, 90, [
        [1, 2],
        [3, 4],
      ]),
      figures({ concurrency: 8 }, 70),
      figures({ topK: 20 }, 60),
      figures({ namespaces: 400 }, 10),
      figures({ size: 1_000 }, 5),
    ];

    it('measures quality against the exact answer of the same questions', () => {
      expect(agreement(cells[0] as CellFigures, cells, 1_000)).to.equal(0.75);
      expect(agreement(cells[1] as CellFigures, cells, 1_000)).to.equal(0.25);
      expect(agreement(cells[2] as CellFigures, cells, 1_000)).to.equal(1);
      expect(agreement(cells[3] as CellFigures, cells, 1_000)).to.equal(undefined);
    });

    it('takes the best quality within the target, then the speed', () => {
      const found = recommend(cells, [], DIMENSIONS, 50);
      expect(found?.held).to.equal(true);
      expect(found?.settings).to.deep.equal({ ELASTICSEARCH_VECTOR_INDEX: 'int8_hnsw', 'boosts.neighbours': 1_000, searches_at_once: 1 });
      expect(found?.sentences.join('\n'))
        .to.include('75.0 % of the hits')
        .and.include('8 take 70.0 ms')
        .and.include('With top_k 20: p95 60.0 ms, over the target.')
        .and.include('400 namespaces instead of 4, p95 is 75 % lower');
      expect(recommend(cells, [], DIMENSIONS, 30)?.settings).to.include({ 'boosts.neighbours': 200 });
      expect(recommend(cells, [], DIMENSIONS, 100)?.settings).to.include({ ELASTICSEARCH_VECTOR_INDEX: 'flat' });
    });

    it('says that nothing holds the target, and names the fastest', () => {
      const found = recommend(cells, [], DIMENSIONS, 1);
      expect(found?.held).to.equal(false);
      expect(found?.settings).to.deep.equal({ ELASTICSEARCH_VECTOR_INDEX: 'int8_hnsw', 'boosts.neighbours': 200 });
      expect(found?.sentences[0]).to.include('over the target of 1.0 ms');
    });

    it('is silent without cells', () => {
      expect(recommend([], [], DIMENSIONS, 50)).to.equal(undefined);
    });

    it('stands with plots and all cells in one file that loads nothing', () => {
      const html = latencyHtml({
        machine: '2 cores <fast>',
        cells,
        corpora: [],
        dimensions: DIMENSIONS,
        recommendation: recommend(cells, [], DIMENSIONS, 50),
        targetMs: 50,
      });
      expect(html)
        .to.include('2 cores &#60;fast&#62;')
        .and.not.match(/<script|<link|src=|url\(/);
      expect(html.match(/<svg /g)).to.have.length(latencyPlots(cells, DIMENSIONS, 50).size);
      expect([...latencyPlots(cells, DIMENSIONS, 50).keys()]).to.deep.equal([
        'latency-size.svg',
        'latency-concurrency.svg',
        'latency-throughput.svg',
        'latency-settings.svg',
      ]);
      const { head, rows } = cellTable(cells, 1_000);
      for (const row of rows) expect(row).to.have.length(head.length);
      expect(rows[0]).to.include('20.0 / 40.0 / 80.0').and.include('75.0 %').and.include('2.00').and.include('4.00');
    });
  });

  it('gives the service a ranking profile for each number of neighbours, else as assistant', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-policies-'));
    try {
      const policies = benchPolicies(folder, [200]);
      const profiles = loadProfiles(join(policies, 'ranking'));
      const [assistant, made] = [profiles.get('assistant'), profiles.get('bench-n200')];
      expect(made?.boosts).to.deep.equal({ ...assistant?.boosts, neighbours: 200 });
      expect(made?.weights).to.deep.equal(assistant?.weights);
      expect(readFileSync(join(policies, 'limits.yaml'), 'utf8')).to.include('buckets:');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
