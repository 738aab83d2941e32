/** Where the stdio entry sends its messages, and with which token: found anew after every restart of the service. */
import type { ClientConfig } from '../config/client.ts';
import { living, startService, StartFailed } from './mcp-start.ts';

export interface Target {
  readonly url: string;
  /** Undefined = none is known; the service will say that it wants one. */
  readonly token: string | undefined;
}

export interface ServiceFinder {
  /** The living service's address at once, or undefined when it has to be started first. */
  now(): Promise<Target | undefined>;
  /** The same, started and waited for where this is the local service's client. Throws StartFailed with a text for a person. */
  ready(): Promise<Target>;
  /** What was known is no longer true: the next call looks again. */
  forget(): void;
  /** Where a person finds or sets the token, for the text of a refusal. */
  readonly tokenAdvice: string;
}

export interface FinderOptions {
  readonly config: ClientConfig;
  /** Whether a local service may be started. */
  readonly mayStart: boolean;
  /** Further options of `serve`. */
  readonly serveArgs: readonly string[];
  readonly note: (line: string) => void;
}

export function createServiceFinder({ config, mayStart, serveArgs, note }: FinderOptions): ServiceFinder {
  let known: Target | undefined;
  let starting: Promise<Target> | undefined;
  const { dataDir } = config;

  async function look(): Promise<Target | undefined> {
    if (config.url !== undefined && config.token !== undefined) return { url: config.url, token: config.token };
    const run = await living(dataDir);
    // a local token goes to no other service than the one that made it
    if (config.url !== undefined) return { url: config.url, token: run?.url === config.url ? run.agent_token : undefined };
    return run === undefined ? undefined : { url: run.url, token: config.token ?? run.agent_token };
  }

  async function start(): Promise<Target> {
    if (!mayStart) throw new StartFailed(`No service is running on ${dataDir}: start one with "hindsight-es serve --local"`);
    const run = await startService({ dataDir, args: serveArgs, note });
    return { url: run.url, token: config.token ?? run.agent_token };
  }

  const now = async (): Promise<Target | undefined> => (known ??= await look());
  return {
    now,
    ready: async () => {
      const found = await now();
      if (found !== undefined) return found;
      starting ??= start().finally(() => (starting = undefined));
      return (known = await starting);
    },
    forget: () => {
      known = undefined;
    },
    tokenAdvice:
      config.token !== undefined
        ? 'it came from HINDSIGHT_TOKEN (or --token): set one that is valid; "hindsight-es token" mints one for a local service'
        : config.url !== undefined
          ? 'set HINDSIGHT_TOKEN (or --token) to a bearer token of that service'
          : `it came from ${dataDir}/run.json (agent_token): restart the local service, which writes a new one`,
  };
}
