/**
 * `npm test` over many files: one engine for all of them, the files side by side in processes of their own, then those that measure durations one
 * by one; one list of failures and one closing line.
 */
import Mocha from 'mocha';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { prepareArtifacts } from '../../src/elastic/local/artifacts.ts';
import { acquireEngine, engineCacheDir, testEngine } from './engine.ts';
import { quickJavaHome } from './quick-java.ts';
import { planOf } from './run-plan.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const REPORTER = join(import.meta.dirname, 'reporter.mjs');
/** Test files wait more than they compute: two at a time keep two cores busy. */
const JOBS = Number(process.env['TEST_JOBS'] ?? 2);

const mocharc = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as { readonly timeout: number; readonly slow: number };

/** For the processes of the files to end. */
const PATIENCE_MS = 2_000;
let underWay = false;

/** Number of failures. Each process takes the next file when it is through with one; what a file prints comes when it is done. */
async function run(files: readonly string[], jobs: number, more: boolean): Promise<number> {
  const { timeout, slow } = mocharc;
  const options = { timeout, slow, jobs, reporter: REPORTER, reporterOption: { more } };
  const mocha = new Mocha(options).parallelMode(true);
  for (const file of files) mocha.addFile(join(ROOT, file));
  underWay = true;
  return new Promise((resolve) =>
    mocha.run((failures) => {
      underWay = false;
      resolve(failures);
    }),
  );
}

// While files run, Mocha ends their processes at the first signal; then this process leaves, and its engine with it.
process.on('SIGINT', () => {
  if (!underWay) process.exit(130);
  underWay = false;
  setTimeout(() => process.exit(130), PATIENCE_MS);
});
process.on('SIGTERM', () => process.kill(process.pid, 'SIGINT'));

const all = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .sort();
const plan = planOf(
  all,
  process.argv.slice(2).map((path) => (path.startsWith('/') ? relative(ROOT, path) : path)),
);
if (plan.engine) {
  const quick = await quickJavaHome();
  if (quick !== undefined) process.env['JAVA_HOME'] = quick; // for this engine and those that single files start, kill and start again
  process.env['TEST_ELASTICSEARCH_URL'] = (await acquireEngine()).url;
  // before the files ask for them side by side, each with its own time limit
  await prepareArtifacts({ cacheDir: engineCacheDir(), engine: testEngine(), models: true, javaHome: process.env['JAVA_HOME'] });
}
const parts = [
  { files: plan.together, jobs: JOBS },
  { files: plan.alone, jobs: 1 },
].filter(({ files }) => files.length > 0);
let failures = 0;
for (const [i, { files, jobs }] of parts.entries()) failures += await run(files, jobs, i < parts.length - 1);
process.exit(failures > 0 ? 1 : 0);
