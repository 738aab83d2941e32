/** npm run bench:admission: a chatty log with planted facts through the running service: how much of it is stored, which facts are kept, and what saying it all again adds. */
import { chattyLog, loadPhrasings, PHRASINGS, type Turn } from './admission/log.ts';
import type { BenchEngine } from './support/engine.ts';
import type { HttpClient } from './support/http-client.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { progress } from './support/progress.ts';
import { runBench } from './support/run.ts';
import { BenchService } from './support/service.ts';

const COMMAND: BenchCommand = {
  name: 'bench:admission',
  summary: 'a chatty log with planted facts, without a language model: share stored, facts kept, and what replaying it adds; by phrasings',
  options: {
    turns: { description: 'turns of the log', default: '2000' },
    facts: { description: 'facts planted among them', default: '60' },
    replays: { description: 'times the whole log is said again', default: '10' },
    seed: { description: 'seed of the log', default: '1' },
    batch: { description: 'turns a call', default: '100' },
    sessions: { description: 'true: the turns name their session and number; false: they are written without', default: 'true' },
    ...COMMON_OPTIONS,
  },
};

const TARGETS = { stored_share: 0.1, facts_kept: 57, added_by_replays: 0 };

interface Result {
  readonly memory_id: string | null;
  readonly outcome: string;
  readonly reason?: string;
}

await runBench(COMMAND, async (run) => {
  const { options, engine, print } = run;
  const prefix = run.prefix('admission');
  const service = await BenchService.start({ engineUrl: engine.url, prefix, folder: run.folder, profile: options.optional('profile') });
  const rest = service.client();
  const figures: Record<string, unknown> = {};
  const way = { batch: options.count('batch'), sessions: options.text('sessions') === 'true' };
  try {
    for (const name of PHRASINGS) {
      const namespace = `user.${name}`;
      const log = chattyLog(loadPhrasings(name), {
        turns: options.count('turns'),
        facts: options.count('facts'),
        seed: options.count('seed'),
      });
      const results = await say(rest, log, namespace, way);
      const kept = factsKept(log, results);
      const stored = await heldIn(rest, engine, prefix, namespace);
      const outcomes = tally(results.map(({ outcome, memory_id: id }) => (outcome === 'stored' && id === null ? 'working' : outcome)));
      const lost = log.filter((turn, i) => turn.planted !== undefined && !isKept(results[i])).map(({ content }) => content);
      let after = stored;
      for (let replay = 1; replay <= options.count('replays'); replay += 1) {
        await say(rest, log, namespace, way);
        after = await heldIn(rest, engine, prefix, namespace);
        progress(`${name}: ${stored} stored, ${kept} facts kept, ${after - stored} more after ${replay} replays`);
      }
      const share = stored / log.length;
      const verdict = (reached: boolean): string => (reached ? 'reached' : 'MISSED');
      print(`${name}: ${log.length} turns, ${options.count('facts')} facts planted`);
      print(
        `  stored                    ${stored} (${(100 * share).toFixed(1)} %) target <= 10 %: ${verdict(share <= TARGETS.stored_share)}`,
      );
      print(`  planted facts kept        ${kept} target >= ${TARGETS.facts_kept}: ${verdict(kept >= TARGETS.facts_kept)}`);
      print(`  added by ${options.count('replays')} replays       ${after - stored} target 0: ${verdict(after === stored)}`);
      for (const text of lost) print(`  not kept: ${text}`);
      figures[name.replace('-', '_')] = { stored, stored_share: share, facts_kept: kept, added_by_replays: after - stored, outcomes };
    }
  } finally {
    rest.close();
    await service.stop();
  }
  return {
    sessions: way.sessions,
    turns: options.count('turns'),
    facts: options.count('facts'),
    replays: options.count('replays'),
    targets: TARGETS,
    ...figures,
  };
});

/** All turns in order, a session's together; one result for each. */
async function say(
  rest: HttpClient,
  log: readonly Turn[],
  namespace: string,
  { batch, sessions }: { readonly batch: number; readonly sessions: boolean },
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < log.length; from += batch) {
    const items = log.slice(from, from + batch).map(({ content, session, turn, speaker }) => ({
      content,
      namespace,
      ...(sessions ? { session_id: session, turn } : {}),
      ...(speaker === 'user' ? {} : { source: { type: speaker } }),
    }));
    const answer = await rest.json<{ results: readonly Result[] }>({
      method: 'POST',
      path: '/v1/memories',
      body: JSON.stringify({ items }),
    });
    results.push(...answer.results);
  }
  return results;
}

/** A fact that an earlier turn had said already is kept too, in that one. */
function isKept(result: Result | undefined): boolean {
  return typeof result?.memory_id === 'string';
}

function factsKept(log: readonly Turn[], results: readonly Result[]): number {
  return log.filter((turn, i) => turn.planted !== undefined && isKept(results[i])).length;
}

/** Memories of any status in a namespace, as they lie in the index; the service is asked first, which makes its writes visible. */
async function heldIn(rest: HttpClient, engine: BenchEngine, prefix: string, namespace: string): Promise<number> {
  await rest.json({ method: 'GET', path: '/v1/stats' });
  return engine.count(await engine.memoryIndex(prefix), { term: { namespace } });
}

function tally(values: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
