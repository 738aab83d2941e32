/** Maven as the fetching tool: what it says when it is missing or fails, and how its output becomes progress. */
import { expect } from 'chai';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DownloadCount, mavenFault, runMaven } from '../../../../src/elastic/local/maven.ts';

describe('DownloadCount', () => {
  it('adds up finished downloads, whole lines and cut ones alike', () => {
    const text =
      '[INFO] Downloading from mirror: https://repo/a/lucene-core-9.jar\n' +
      '[INFO] Downloaded from mirror: https://repo/a/lucene-core-9.jar (4.3 MB at 9.1 MB/s)\n' +
      '[INFO] Downloaded from mirror: https://repo/a/b.pom (700 kB at 2.1 MB/s)\n' +
      '[INFO] Downloading from mirror: https://repo/a/elasticsearch.jar\n';
    for (const size of [1, 7, text.length]) {
      const count = new DownloadCount();
      for (let at = 0; at < text.length; at += size) count.read(text.slice(at, at + size));
      expect(count.describe(4)).to.equal('fetched 2 files, 5.0 MB (4 s, now elasticsearch.jar)');
    }
  });

  it('says so while Maven has not fetched anything yet', () => {
    expect(new DownloadCount().describe(2)).to.equal('Maven is working (2 s)');
  });
});

describe('mavenFault', () => {
  const cases: readonly [string, string, RegExp][] = [
    ['Could not transfer artifact x from/to central: Unknown host repo', 'ERR_ENGINE_MAVEN', /check the network, the proxy and the mirror/],
    ['java.io.IOException: No space left on device', 'ERR_ENGINE_DISK', /disk is full/],
    ['The JAVA_HOME environment variable is not defined correctly', 'ERR_ENGINE_MAVEN', /set JAVA_HOME to a JDK/],
    ["'mvn.cmd' is not recognized as an internal or external command", 'ERR_ENGINE_MAVEN', /was not found/],
    ['something else', 'ERR_ENGINE_MAVEN', /its own words are in \/logs\/maven\.log$/],
  ];
  for (const [output, code, sentence] of cases) {
    it(`turns "${output.slice(0, 40)}…" into one sentence`, () => {
      const error = mavenFault(output, '/logs/maven.log');
      expect(error.code).to.equal(code);
      expect(error.message).to.match(sentence);
      expect(error.message).not.to.contain('\n');
    });
  }
});

describe('runMaven', () => {
  let folder: string;
  const run = (env: Record<string, string>): Promise<unknown> =>
    runMaven({ pomPath: 'pom.xml', logPath: join(folder, 'maven.log'), properties: { a: 'b c' }, env, onProgress: () => undefined }).catch(
      (error: unknown) => error,
    );

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'maven-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function tool(script: string): Promise<Record<string, string>> {
    await writeFile(join(folder, 'mvn'), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, 'mvn'), 0o755);
    return { PATH: folder };
  }

  it('says how to install Maven when there is none', async () => {
    const error = await run({ PATH: folder });
    expect(error).to.have.property('code', 'ERR_ENGINE_MAVEN');
    expect(error)
      .to.have.property('message')
      .that.matches(/^Maven \(mvn\) was not found.*apt install maven.*brew install maven/);
  });

  it('keeps the words of a Maven that failed', async () => {
    const error = await run(await tool('echo "[ERROR] odd"; exit 1'));
    expect(error).to.have.property('code', 'ERR_ENGINE_MAVEN');
    expect(await readFile(join(folder, 'maven.log'), 'utf8')).to.equal('[ERROR] odd\n');
  });

  it('passes the pom and the properties', async () => {
    expect(await run(await tool(`for a in "$@"; do echo "$a"; done > "${folder}/args"`))).to.equal(undefined);
    expect(await readFile(join(folder, 'args'), 'utf8')).to.equal('-B\n-f\npom.xml\n-Da=b c\ngenerate-resources\n');
  });
});
