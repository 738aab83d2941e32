/** `tune` against a running service: weights found by cross-validation, measured by its answers, written as a profile that it loads. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TuneResult } from '../../src/cli/tune/result.ts';
import { loadProfiles } from '../../src/ranking/profile.ts';
import { runCli, type CliRun } from '../support/cli-run.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const POLICIES = join(import.meta.dirname, '..', '..', 'policies');
const DRINKS = ['tea', 'coffee', 'cocoa', 'juice', 'milk', 'water', 'cider', 'lemonade', 'broth', 'soda', 'wine', 'beer'];

describe('tune', function () {
  this.timeout(180_000);
  let service: HashedService;
  let token: string;
  let dir: string;
  let judged: string;

  const tune = (args: readonly string[], lang: 'en' | 'zh' = 'en'): Promise<CliRun> =>
    runCli(['tune', ...args, '--url', service.url, '--token', token], { lang });

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tune-'));
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    token = await service.mint({ actor: 'service', scopes: ['memory:read', 'memory:write', 'memory:admin'] });
    // what is marked as important is what is asked for; nothing in the words tells it from the other one
    const items = DRINKS.flatMap((drink) => [
      { content: `The pantry of the north house holds ${drink} in bottles`, kind: 'fact', subject: `${drink} north`, importance: 0.1 },
      { content: `The pantry of the south house holds ${drink} in bottles`, kind: 'fact', subject: `${drink} south`, importance: 0.9 },
    ]);
    const { body } = await service.call('POST', '/v1/memories', token, {
      items: items.map((one) => ({ ...one, admission: 'keep' })),
      wait: true,
    });
    const ids = body.results.map(({ memory_id: id }: { memory_id: string }) => id);
    judged = join(dir, 'judged.jsonl');
    const rows = DRINKS.map((drink, i) => ({ query: `Which pantry of the house holds ${drink} in bottles`, relevant: [ids[2 * i + 1]] }));
    writeFileSync(judged, `${rows.map((row) => JSON.stringify(row)).join('\n')}\n\n`);
  });
  after(async () => {
    await service.close();
    rmSync(dir, { recursive: true });
  });

  it('finds the signal that tells the right ones, with the held-out gain of the service’s own answers, the same for the same seed', async () => {
    const from = join(dir, 'policies');
    cpSync(POLICIES, from, { recursive: true });
    // a profile of the operator that has no weight for it
    writeFileSync(join(from, 'ranking', 'plain.yaml'), 'extends: assistant\nversion: 1\nweights: { vector: 0.7, lexical: 0.3 }\n');
    await service.restart({ POLICIES_DIR: from });
    const args = [judged, '--profile', 'plain', '--policies', from, '--folds', '3', '--json'];
    const { code, out, err } = await tune([...args, '--out', join(from, 'ranking', 'ours.yaml')]);
    expect(code, err).to.equal(0);
    const result = JSON.parse(out) as TuneResult;
    expect(result).to.include({ questions: 12, out_of_reach: 0, folds: 3, certain: true });
    expect(result.moved.map(({ signal }) => signal)).to.include('importance');
    expect(result.after.ndcg).to.be.greaterThan(result.before.ndcg);
    expect(result.gain.ndcg.low).to.be.greaterThan(0);
    const again = JSON.parse((await tune(args)).out) as TuneResult;
    expect({ ...again, file: undefined }).to.deep.equal({ ...result, file: undefined });
    // the file is a profile, and the service ranks by it
    const written = readFileSync(join(from, 'ranking', 'ours.yaml'), 'utf8');
    expect(written)
      .to.match(/^# Weights of plain/)
      .and.include('extends: plain');
    expect(loadProfiles(join(from, 'ranking')).get('ours')?.weights).to.deep.equal(result.weights);
    await service.restart();
    const { body } = await service.call('POST', '/v1/memories/search', token, {
      query: 'Which pantry of the house holds tea in bottles',
      profile: 'ours',
    });
    expect(body.hits[0].content).to.include('south');
  });

  it('says in both languages that nothing better was found, and writes no file then', async () => {
    const file = join(dir, 'none.yaml');
    const lost = join(dir, 'lost.jsonl');
    const absent = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
    writeFileSync(lost, DRINKS.map((drink) => JSON.stringify({ query: `Which pantry holds ${drink}`, relevant: [absent] })).join('\n'));
    const en = await tune([lost, '--folds', '2', '--out', file]);
    expect(en).to.include({ code: 0 });
    expect(en.out)
      .to.match(/12 of them have no relevant memory among their candidates/)
      .and.match(/No better weights were found/);
    expect((await tune([lost, '--folds', '2'], 'zh')).out).to.include('没有找到更好的权重');
    expect(() => readFileSync(file)).to.throw('ENOENT');
  });

  it('refuses rows that are none, too few of them, unknown profiles, and a file that is there', async () => {
    const bad = join(dir, 'bad.jsonl');
    writeFileSync(bad, '{"query": "q"}\nnot json\n');
    const faults = await tune([bad]);
    expect(faults.code).to.equal(2);
    expect(faults.err)
      .to.match(/line 1: \/relevant/)
      .and.match(/line 2: /);
    writeFileSync(bad, readFileSync(judged, 'utf8').split('\n').slice(0, 3).join('\n'));
    expect((await tune([bad])).err).to.include('3 judged questions');
    expect((await tune([join(dir, 'absent.jsonl')])).err).to.include('ENOENT');
    for (const args of [
      ['--profile', 'seed-age'],
      ['--profile', 'nobody'],
      ['--folds', '1'],
      ['--seed', 'x'],
      ['--measure', 'f1'],
      ['--out', 'Our Team.txt'],
    ])
      expect((await tune([judged, ...args])).code, args.join(' ')).to.equal(2);
    expect((await tune([])).code).to.equal(2);
    writeFileSync(join(dir, 'there.yaml'), '');
    expect(await tune([judged, '--out', join(dir, 'there.yaml')]))
      .to.include({ code: 1 })
      .with.property('err')
      .that.includes('is there already');
  });
});
