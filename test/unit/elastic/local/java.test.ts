/** Finding and choosing a JDK, with the sentences for none, too old and no compiler. */
import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseJdk, findJdks, javaMajor, selectJdk, type Jdk } from '../../../../src/elastic/local/java.ts';

const jdk = (version: string, hasCompiler = true): Jdk => ({
  home: `/jdks/${version}`,
  version,
  major: javaMajor(version) ?? 0,
  hasCompiler,
});

describe('javaMajor', () => {
  it('reads old, new and odd spellings', () => {
    expect(['1.8.0_392', '17.0.15', '21', '25-ea', 'unknown'].map(javaMajor)).to.deep.equal([8, 17, 21, 25, undefined]);
  });
});

describe('chooseJdk', () => {
  it('prefers a JDK for which Lucene has vector code', () => {
    expect(chooseJdk([jdk('17.0.15'), jdk('25.0.1'), jdk('21.0.4')], '8.19.9').version).to.equal('21.0.4');
    expect(chooseJdk([jdk('25.0.1'), jdk('23.0.1')], '9.0.8').version).to.equal('23.0.1');
  });

  it('takes the oldest that fits when none has vector code', () => {
    expect(chooseJdk([jdk('25.0.1'), jdk('17.0.15'), jdk('11.0.2')], '8.19.9').version).to.equal('17.0.15');
    expect(chooseJdk([jdk('17.0.15'), jdk('25.0.1')], '9.0.8').version).to.equal('25.0.1');
  });

  it('follows JAVA_HOME when that JDK fits, and passes over it when it is too old', () => {
    const jdks = [jdk('17.0.15'), jdk('21.0.4'), jdk('8.0.1')];
    expect(chooseJdk(jdks, '8.19.9', '/jdks/17.0.15').version).to.equal('17.0.15');
    expect(chooseJdk(jdks, '8.19.9', '/jdks/8.0.1').version).to.equal('21.0.4');
  });

  it('says what to install when there is none', () => {
    expect(() => chooseJdk([], '8.19.9'))
      .to.throw(/^No JDK was found.*JDK 17 or newer: install one .*apt install openjdk-17-jdk-headless.*brew.*winget.*JAVA_HOME/)
      .with.property('code', 'ERR_ENGINE_JAVA');
  });

  it('names what it found when that is too old', () => {
    expect(() => chooseJdk([jdk('11.0.2'), jdk('17.0.15')], '9.0.8')).to.throw(
      /9\.0\.8 needs JDK 21 or newer, and the newest found is 17\.0\.15 at \/jdks\/17\.0\.15: install one .*openjdk-21/,
    );
  });

  it('tells a runtime without the compiler from a JDK', () => {
    expect(() => chooseJdk([jdk('17.0.15', false)], '8.19.9')).to.throw(
      /^Java 17\.0\.15 at \/jdks\/17\.0\.15 is a runtime without the compiler/,
    );
  });
});

describe('findJdks', () => {
  let folder: string;
  const env = { PATH: '/nonexistent' };

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'jdks-')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function install(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    await mkdir(join(folder, name, 'bin'), { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      await writeFile(join(folder, name, path), content);
      await chmod(join(folder, name, path), 0o755);
    }
    return join(folder, name);
  }

  it('reads the version from the release file and sees whether there is a compiler', async () => {
    await install('a', { 'bin/java': '', 'bin/javac': '', release: 'IMPLEMENTOR="X"\nJAVA_VERSION="21.0.4"\n' });
    await install('b', { 'bin/java': '', release: 'JAVA_VERSION="17.0.1"\n' });
    expect(await findJdks({ env, folders: [folder] })).to.deep.equal([
      { home: join(folder, 'a'), version: '21.0.4', major: 21, hasCompiler: true },
      { home: join(folder, 'b'), version: '17.0.1', major: 17, hasCompiler: false },
    ]);
  });

  it('asks java itself when there is no release file', async () => {
    await install('c', { 'bin/java': '#!/bin/sh\necho "    java.version = 19.0.2" >&2\n', 'bin/javac': '' });
    expect((await findJdks({ env, folders: [folder] })).map((found) => found.version)).to.deep.equal(['19.0.2']);
  });

  it('finds the java of the PATH and lists an installation once', async () => {
    const home = await install('d', { 'bin/javac': '', release: 'JAVA_VERSION="17.0.9"\n' });
    await install('d', { 'bin/java': `#!/bin/sh\necho "    java.home = ${home}" >&2\n` });
    const found = await findJdks({ env: { PATH: join(home, 'bin') }, javaHome: home, folders: [folder] });
    expect(found.map((one) => one.home)).to.deep.equal([home]);
  });

  it('leads to the sentence when the machine has no Java at all', async () => {
    const error: unknown = await selectJdk('8.19.9', { env, folders: [folder], javaHome: join(folder, 'gone') }).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('code', 'ERR_ENGINE_JAVA');
  });
});
