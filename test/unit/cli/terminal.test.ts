/** What a person sees and what goes to the log file: the narrator and the service log. */
import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { banner } from '../../../src/cli/banner.ts';
import { createNarrator } from '../../../src/cli/narrator.ts';
import { readRunFile, removeRunFile, writeRunFile } from '../../../src/cli/run-file.ts';
import { openServiceLog } from '../../../src/cli/service-log.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';

const RUN = { url: 'http://127.0.0.1:8420', token: 'user.to.ken', agent_token: 'agent.to.ken', pid: 4711 };

describe('createNarrator', () => {
  it('writes a line for each step', () => {
    let text = '';
    const narrator = createNarrator((line) => (text += line));
    narrator.progress({ phase: 'engine', message: 'starting' });
    narrator.progress({ phase: 'engine', message: 'ready in 3.1 s', done: true });
    narrator.say('! a warning');
    narrator.stop();
    expect(text).to.equal('- engine: starting\n- engine: ready in 3.1 s\n! a warning\n');
  });

  it('gives a sign of life in silence, for the phase that is not over, and none after the end', () => {
    const realSet = globalThis.setInterval;
    const realClear = globalThis.clearInterval;
    let tick: (() => void) | undefined;
    let everyMs: number | undefined;
    let nowMs = 0;
    let text = '';
    globalThis.setInterval = ((callback: () => void, ms: number) => {
      tick = callback;
      everyMs = ms;
      return { unref: () => 1 };
    }) as unknown as typeof setInterval;
    globalThis.clearInterval = () => (tick = undefined);
    try {
      const narrator = createNarrator(
        (line) => (text += line),
        () => nowMs,
      );
      narrator.progress({ phase: 'models', message: 'loading' });
      narrator.progress({ phase: 'engine', message: 'starting' });
      narrator.progress({ phase: 'models', message: 'ready', done: true });
      nowMs = 5_000;
      tick?.();
      nowMs = 10_000;
      tick?.();
      narrator.stop();
      expect(tick).to.equal(undefined);
    } finally {
      globalThis.setInterval = realSet;
      globalThis.clearInterval = realClear;
    }
    expect(everyMs).to.equal(5_000);
    expect(text.split('\n').slice(3)).to.deep.equal(['  … engine: 5 s', '  … engine: 10 s', '']);
  });
});

describe('openServiceLog', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-log-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps every line in a file for the owner alone and tells warnings in short', () => {
    const said: string[] = [];
    const log = openServiceLog(folder, (line) => said.push(line));
    const logger = createLogger({ logLevel: 'info' }, log);
    logger.info({ took_ms: 3 }, 'request done');
    logger.warn({ err: new Error('connect refused') }, 'search is degraded');
    logger.debug({}, 'below the level');
    const lines = readFileSync(log.path, 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal(['request done', 'search is degraded']);
    expect(statSync(log.path).mode & 0o777).to.equal(0o600);
    expect(said).to.deep.equal([`! search is degraded: connect refused (more in ${log.path})`]);
  });

  it('starts a new file when the old one has grown over 20 MB', async () => {
    const path = join(folder, 'logs', 'service.log');
    await mkdir(join(folder, 'logs'));
    writeFileSync(path, Buffer.alloc(20_000_001, 'x'));
    openServiceLog(folder, () => undefined).write('{"level":"info","msg":"new"}\n');
    expect(readFileSync(path, 'utf8')).to.equal('{"level":"info","msg":"new"}\n');
    expect(statSync(`${path}.1`).size).to.equal(20_000_001);
  });
});

describe('banner', () => {
  const facts = { run: RUN, dataDir: '/home/ann/.hindsight-es', engine: 'Elasticsearch 8.19.9', embedding: 'local', seconds: 6.54 };

  it('shows each token once where it may, and the curl calls without one', () => {
    const text = banner(facts, true);
    expect(text).to.include('ready at http://127.0.0.1:8420 (6.5 s; ');
    expect(text.split(RUN.token)).to.have.length(2);
    expect(text.split(RUN.agent_token)).to.have.length(3); // by itself and inside the MCP configuration
  });

  it('shows no token elsewhere', () => {
    const text = banner(facts, false);
    expect(text).not.to.include(RUN.token).and.not.include(RUN.agent_token);
    expect(text).to.include('/home/ann/.hindsight-es/run.json');
  });
});

describe('run.json', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-run-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is read as it was written, and taken away by its own process alone', () => {
    writeRunFile(folder, RUN);
    expect(readRunFile(folder)).to.deep.equal(RUN);
    removeRunFile(folder, 4712);
    expect(readRunFile(folder)).to.deep.equal(RUN);
    removeRunFile(folder, 4711);
    expect(readRunFile(folder)).to.equal(undefined);
  });

  it('counts as absent when it is damaged', () => {
    for (const text of ['', '{"url":', '[]', '{"url":5,"pid":"x"}', 'null']) {
      writeFileSync(join(folder, 'run.json'), text);
      expect(readRunFile(folder), text).to.equal(undefined);
    }
  });
});
