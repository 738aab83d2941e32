/** The optional cross-encoder: with RERANK_URL one that is asked when the best hits are close, without it none. */
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Reranker } from '../domain/reranker.ts';
import { HttpReranker } from '../providers/rerank/http.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Nothing is called before the first search that wants it. */
export function openReranker(
  { rerank }: Config,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Reranker | undefined {
  if (rerank === undefined) return undefined;
  logger.info({ model: rerank.model, timeout_ms: rerank.timeoutMs }, 'a cross-encoder decides between hits that are close');
  return new HttpReranker({ ...rerank, clock });
}
