/** Mocha's spec reporter with one closing line that reads the same in every runner, `N passed, N failed`; several runs in one process share it. */
import Mocha from 'mocha';
import { relative } from 'node:path';

const { EVENT_HOOK_END, EVENT_RUN_END, EVENT_TEST_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } = Mocha.Runner.constants;
const { Base, Spec } = Mocha.reporters;

/** What Mocha calls a failure that no test is to blame for. */
const OUTSIDE = 'Uncaught error outside test suite';
/** Over all runs of this process. */
const sum = { passes: 0, failures: 0, pending: 0, duration: 0 };
const failed = [];
/** Milliseconds in tests and hooks, by file. */
const took = new Map();

/**
 * `reporterOption.more`: another run follows in this process, so that the list of failures and the sum are left to the last one.
 * `TEST_SLOWEST` in the environment: so many files are printed at the end, those that took longest.
 */
export default class ClosingLine extends Spec {
  #more;

  constructor(runner, options) {
    // of a file that cannot be loaded, or whose process died, there is no test to name
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      if (error?.file && test.title === OUTSIDE) test.title = `${test.title}: ${relative('.', error.file)}`;
    });
    super(runner, options);
    this.#more = options?.reporterOptions?.more ?? false;
    runner.on(EVENT_TEST_PASS, () => (sum.passes += 1));
    runner.on(EVENT_TEST_PENDING, () => (sum.pending += 1));
    runner.on(EVENT_TEST_FAIL, (test) => {
      sum.failures += 1;
      failed.push(test);
    });
    for (const event of [EVENT_TEST_END, EVENT_HOOK_END])
      runner.on(event, ({ file, duration }) => {
        if (file) took.set(file, (took.get(file) ?? 0) + (duration ?? 0));
      });
    runner.once(EVENT_RUN_END, () => (sum.duration += this.stats.duration ?? 0));
    // by then nothing more can fail
    if (!this.#more) process.once('exit', () => this.#close());
  }

  epilogue() {}

  #close() {
    Object.assign(this.stats, sum);
    this.failures.splice(0, Infinity, ...failed);
    super.epilogue();
    printSlowest(Number(process.env.TEST_SLOWEST ?? 0));
    const { passes, failures, pending } = sum;
    process.stdout.write(`\n${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`);
    if (failures > 0) process.exitCode ||= 1;
  }
}

function printSlowest(count) {
  const rows = [...took].sort(([, a], [, b]) => b - a).slice(0, count);
  for (const [file, ms] of rows) Base.consoleLog('%s s  %s', (ms / 1_000).toFixed(1).padStart(7), relative('.', file));
}
