import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { BREAKER_OPEN_MS, createBreaker } from '../../../src/redis/breaker.ts';
import { redisKey } from '../../../src/redis/keys.ts';

describe('redis breaker', () => {
  let nowMs = 0;
  let opened: unknown[] = [];
  const make = () => createBreaker({ clock: () => nowMs, onOpen: (error) => opened.push(error) });
  const fail = (): Promise<string> => Promise.reject(new Error('down'));
  const well = (): Promise<string> => Promise.resolve('redis');
  const fallback = (): string => 'fallback';
  beforeEach(() => {
    nowMs = 1_000;
    opened = [];
  });

  it('lets calls through while they go well', async () => {
    expect(await make().run(well, fallback)).to.equal('redis');
    expect(opened).to.deep.equal([]);
  });

  it('opens at the first failure and calls nobody for five seconds', async () => {
    const breaker = make();
    expect(await breaker.run(fail, fallback)).to.equal('fallback');
    let calls = 0;
    const counted = (): Promise<string> => {
      calls += 1;
      return well();
    };
    nowMs += BREAKER_OPEN_MS - 1;
    expect(await breaker.run(counted, fallback)).to.equal('fallback');
    expect(calls).to.equal(0);
    nowMs += 1;
    expect(await breaker.run(counted, fallback)).to.equal('redis');
    expect(calls).to.equal(1);
    expect(opened).to.have.length(1);
  });

  it('gives up on a call after 150 ms, and not on one whose answer came while the process was busy', async () => {
    const breaker = make();
    const startedAt = performance.now();
    expect(await breaker.run(() => new Promise<string>(() => undefined), fallback)).to.equal('fallback');
    expect(performance.now() - startedAt).to.be.at.least(145);
    expect([breaker.isOpen, opened.length]).to.deep.equal([true, 1]);

    const reader = make();
    const child = spawn(process.execPath, ['-e', 'process.stdin.on("data", () => process.stdout.write("pong"))']);
    child.stdin.write('warm');
    await once(child.stdout, 'data');
    const asked = reader.run(async () => {
      const pong = once(child.stdout, 'data');
      await new Promise((resolve) => child.stdin.write('ping', resolve));
      const until = performance.now() + 600;
      while (performance.now() < until);
      return String((await pong)[0]);
    }, fallback);
    expect(await asked).to.equal('pong');
    expect(reader.isOpen).to.equal(false);
    child.kill();
  });

  it('lets one probe through when the time is over, the others wait for its outcome elsewhere', async () => {
    const breaker = make();
    await breaker.run(fail, fallback);
    nowMs += BREAKER_OPEN_MS;
    let release = (_value: string): void => undefined;
    const probe = breaker.run(() => new Promise<string>((resolve) => (release = resolve)), fallback);
    expect(await breaker.run(well, fallback)).to.equal('fallback');
    release('redis');
    expect(await probe).to.equal('redis');
    expect(await breaker.run(well, fallback)).to.equal('redis');
  });

  it('opens again when the probe fails', async () => {
    const breaker = make();
    await breaker.run(fail, fallback);
    nowMs += BREAKER_OPEN_MS;
    expect(await breaker.run(fail, fallback)).to.equal('fallback');
    expect(breaker.isOpen).to.equal(true);
    expect(breaker.openUntilMs).to.equal(nowMs + BREAKER_OPEN_MS);
    expect(opened).to.have.length(2);
  });

  it('tells of one outage once, however many calls it hits', async () => {
    const breaker = make();
    expect(await Promise.all(Array.from({ length: 50 }, () => breaker.run(fail, fallback)))).to.deep.equal(Array(50).fill('fallback'));
    expect(opened).to.have.length(1);
  });

  it('is not closed by a call that was on its way when it opened', async () => {
    const breaker = make();
    let release = (_value: string): void => undefined;
    const early = breaker.run(() => new Promise<string>((resolve) => (release = resolve)), fallback);
    await breaker.run(fail, fallback);
    release('redis');
    expect(await early).to.equal('redis');
    expect(breaker.isOpen).to.equal(true);
  });

  it('passes a failing fallback on to the caller', async () => {
    const broken = make().run(fail, () => Promise.reject(new Error('both')));
    expect(String(await broken.catch((error: unknown) => error))).to.contain('both');
  });
});

describe('redis keys', () => {
  it('differ for every split of the same characters, and show none of them', () => {
    const keys = [['a:b', 'c'], ['a', 'b:c'], ['a:b:c'], ['a', 'b', 'c'], ['', 'a:b:c'], ['a:b:c', ''], ['1:a']].map((parts) =>
      redisKey('hs', 'dirty', ...parts),
    );
    expect(new Set(keys).size).to.equal(keys.length);
    for (const key of keys) expect(key).to.match(/^hs:dirty:[0-9a-f]{32}$/);
    expect(redisKey('hs', 'limit', 'a')).to.not.equal(redisKey('hs', 'dirty', 'a'));
    expect(redisKey('hs', 'dirty', 'a\r\nFLUSHALL')).to.match(/^hs:dirty:[0-9a-f]{32}$/);
  });
});
