/** What is logged and counted when a call had to do without a part: each part says what it is that is missing; compose hands it to the memory. */
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Parts that no search is the poorer for. */
const MESSAGES: Readonly<Record<string, string>> = {
  marks: 'memories that were superseded are not marked yet; the slot repair marks them',
  llm: 'a summary was made without the language model',
};

export function tellDegraded(
  logger: Pick<Logger, 'warn'>,
  metrics: Pick<Metrics, 'searchDegraded'>,
): (part: string, error: unknown) => void {
  return (part, err) => {
    const message = MESSAGES[part];
    if (message === undefined) metrics.searchDegraded(part);
    logger.warn({ part, err }, message ?? 'search is degraded');
  };
}
