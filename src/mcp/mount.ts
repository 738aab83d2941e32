/** Puts the MCP front end together: what http mounts at /mcp. */
import type { Clock } from '../domain/clock.ts';
import type { MountedHandler } from '../http/mount.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { Invoke } from '../operations/invoke.ts';
import type { EventLog } from '../operations/watch.ts';
import { createLocalRevocations, type Revocations } from './revocations.ts';
import { createServerFactory, type CreateServer } from './server.ts';
import { createSessionIds } from './session-id.ts';
import { createSessionTable } from './session-table.ts';
import { createStreamableHttp } from './streamable-http.ts';
import { createTools } from './tools.ts';

export interface McpMountOptions {
  readonly operations: readonly AnyOperation[];
  readonly invoke: Invoke;
  /** Signs session ids; the same in every replica and after a restart, or clients lose their sessions. */
  readonly sessionKey: Buffer;
  readonly clock: Clock;
  readonly logger: EventLog;
  readonly version: string;
  readonly toolPrefix: string;
  readonly tools: 'default' | 'all';
  /** Seven days unless given: a session id only saves a client the initialize, the token decides about every request. */
  readonly sessionTtlMs?: number;
  /** 30 minutes unless given. */
  readonly sessionIdleMs?: number;
  /** 1,000 unless given. */
  readonly maxSessionsPerTenant?: number;
  /** Ended sessions; of this process unless given. */
  readonly revocations?: Revocations;
  /** Another server behind the same transport, for protocol suites that call fixture tools. */
  readonly createServer?: CreateServer;
}

export interface McpMount {
  readonly mounts: readonly MountedHandler[];
  /** Live sessions in this process. */
  sessionCount(): number;
  /** What the timer does every 15 s: ends idle sessions, and streams whose token has ended. */
  sweep(): Promise<void>;
  /** Ends all sessions, and with them the streams that would hold the HTTP server open. */
  close(): Promise<void>;
}

const SWEEP_MS = 15_000;
const SESSION_TTL_MS = 7 * 86_400_000;
const SESSION_IDLE_MS = 30 * 60_000;
const SESSIONS_PER_TENANT = 1_000;

export function createMcpMount(options: McpMountOptions): McpMount {
  const { clock, logger } = options;
  const tools = createTools(options.operations, { prefix: options.toolPrefix, tools: options.tools });
  const createServer = options.createServer ?? createServerFactory({ tools, invoke: options.invoke, logger, version: options.version });
  const sessions = createSessionTable({
    createServer,
    clock,
    maxPerTenant: options.maxSessionsPerTenant ?? SESSIONS_PER_TENANT,
    idleMs: options.sessionIdleMs ?? SESSION_IDLE_MS,
  });
  const streamable = createStreamableHttp({
    createServer,
    ids: createSessionIds({ key: options.sessionKey, clock, ttlMs: options.sessionTtlMs ?? SESSION_TTL_MS }),
    revocations: options.revocations ?? createLocalRevocations(clock),
    sessions,
  });
  const timer = setInterval(() => {
    sessions.sweep().catch((err: unknown) => logger.warn({ err }, 'mcp sessions could not be swept'));
  }, SWEEP_MS).unref();

  return {
    mounts: [streamable],
    sessionCount: () => sessions.size,
    sweep: () => sessions.sweep(),
    close: async () => {
      clearInterval(timer);
      await sessions.closeAll();
    },
  };
}
