/** Mocha's spec reporter with one closing line that reads the same in every runner: `N passed, N failed`. */
import Mocha from 'mocha';

const { EVENT_RUN_END } = Mocha.Runner.constants;

export default class ClosingLine extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(EVENT_RUN_END, () => {
      const { passes = 0, failures = 0, pending = 0 } = this.stats ?? {};
      // After the spec summary, which is printed in the same tick.
      process.once('exit', () =>
        process.stdout.write(`\n${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`),
      );
    });
  }
}
