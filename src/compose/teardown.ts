/** Takes parts down in reverse order of their start; one that fails is logged and does not keep the others up. */
import type { Logger } from '../telemetry/logger.ts';

export class Teardown {
  readonly #steps: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  readonly #logger: Logger;
  #done: Promise<void> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(name: string, close: () => Promise<void> | void): void {
    this.#steps.push({ name, close });
  }

  /** Adds a part as soon as it is up; the same promise comes back. */
  async track<T extends { close(): Promise<void> | void }>(name: string, starting: Promise<T>): Promise<T> {
    const part = await starting;
    this.add(name, () => part.close());
    return part;
  }

  /** Runs once, however often it is called. */
  run(): Promise<void> {
    this.#done ??= this.#run();
    return this.#done;
  }

  async #run(): Promise<void> {
    for (const { name, close } of this.#steps.reverse()) {
      try {
        await close();
      } catch (err) {
        this.#logger.error({ part: name, err }, 'part did not close cleanly');
      }
    }
  }
}
