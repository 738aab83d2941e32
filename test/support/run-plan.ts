/** Which test files `npm test` runs, in what order, and which of them alone: the plan behind `run.ts`. */

/**
 * They compare durations, or ask for one within a bound that a busy neighbour would break: each runs alone after the others, so that its bounds
 * stay as tight as on a quiet machine.
 */
export const ALONE: readonly string[] = [
  'test/contract/dirty-marks.test.ts',
  'test/contract/working-memory.test.ts',
  'test/integration/mcp-stdio.test.ts',
  'test/integration/working-memory.test.ts',
  'test/policies/admission.test.ts',
  'test/policies/judge.test.ts',
  'test/security/access-ids.test.ts',
  'test/security/limits.test.ts',
  'test/security/load.test.ts',
  'test/security/tokens-on-service.test.ts',
  'test/unit/compose/teardown.test.ts',
  'test/unit/guard/anomaly/stage.test.ts',
  'test/unit/guard/envelope.test.ts',
  'test/unit/guard/secrets/detect.test.ts',
  'test/unit/http/json.test.ts',
  'test/unit/memory/conflicts/relation.test.ts',
  'test/unit/redis/breaker.test.ts',
  'test/unit/text/one-line.test.ts',
];

/** The longest ones, longest first (`TEST_SLOWEST=20 npm test` prints them): begun last, one of them would keep a process waiting for it. */
export const LONGEST: readonly string[] = [
  'test/integration/crash.test.ts',
  'test/integration/start.test.ts',
  'test/scenarios/scenarios.test.ts',
  'test/policies/regexes.test.ts',
  'test/integration/one-query.test.ts',
  'test/integration/tenant-keys.test.ts',
  'test/security/namespaces.test.ts',
  'test/security/failure.test.ts',
  'test/integration/local-node.test.ts',
  'test/integration/turns.test.ts',
  'test/integration/start-faults.test.ts',
  'test/integration/embed-job.test.ts',
  'test/integration/crash-conflicts.test.ts',
  'test/invariants/scope.test.ts',
  'test/security/access-tokens.test.ts',
  'test/integration/cli.test.ts',
  'test/unit/elastic/frozen.test.ts',
  'test/integration/outage.test.ts',
  'test/security/grants.test.ts',
  'test/security/judge.test.ts',
  'test/integration/read-your-writes.test.ts',
  'test/integration/reembed.test.ts',
  'test/integration/stores.test.ts',
];

/** Folders none of whose files uses the shared engine. */
const WITHOUT_ENGINE = /^test\/(?:unit|policies|invariants|support)\//;

export interface Plan {
  readonly together: readonly string[];
  readonly alone: readonly string[];
  /** Some file may ask for an engine. */
  readonly engine: boolean;
}

/** `files` and `patterns` are paths from the root with `/`; a pattern is a file, a folder or a glob of `*` and `**`. None means all; throws where one matches nothing. */
export function planOf(files: readonly string[], patterns: readonly string[]): Plan {
  const chosen = new Set(patterns.length === 0 ? files : patterns.flatMap((pattern) => matching(files, pattern)));
  const rank = (file: string): number => (LONGEST.includes(file) ? LONGEST.indexOf(file) : LONGEST.length);
  const together = [...chosen].filter((file) => !ALONE.includes(file)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return {
    together,
    alone: ALONE.filter((file) => chosen.has(file)),
    engine: [...chosen].some((file) => !WITHOUT_ENGINE.test(file)),
  };
}

function matching(files: readonly string[], pattern: string): readonly string[] {
  const path = pattern.replace(/^\.\//, '').replace(/\/$/, '');
  const glob = path
    .split(/(\*\*\/|\*)/)
    .map((part) => (part === '**/' ? '(?:.*/)?' : part === '*' ? '[^/]*' : part.replace(/[^\w/]/g, '\\$&')));
  const shape = new RegExp(`^${glob.join('')}(?:/.*)?$`);
  const found = files.filter((file) => shape.test(file));
  if (found.length === 0) throw new Error(`no test file matches ${pattern}`);
  return found;
}
