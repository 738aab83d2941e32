/** Puts the MCP front end together: what http mounts at /mcp, /sse and /messages. */
import type { Clock } from '../domain/clock.ts';
import type { MountedHandler } from '../http/mount.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { Invoke } from '../operations/invoke.ts';
import type { EventLog } from '../operations/watch.ts';
import { createHttpSse } from './http-sse.ts';
import { isModern } from './modern-request.ts';
import { createModernTools } from './modern-tools.ts';
import { createModern, type ModernServer } from './modern.ts';
import { startTimer, type Every } from './progress.ts';
import { createPrompts } from './prompts.ts';
import { createRequestStates } from './request-state.ts';
import { createLocalRevocations, type Revocations } from './revocations.ts';
import { createServerFactory, type CreateServer } from './server.ts';
import { createSessionIds } from './session-id.ts';
import { createSessionTable } from './session-table.ts';
import { createStreamableHttp } from './streamable-http.ts';
import { createTools } from './tools.ts';
import { processUsedStates, type UsedStates } from './used-states.ts';

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
  /** States of waiting calls that were used; of this process unless given. */
  readonly usedStates?: UsedStates;
  /** Another server behind the same transport, for protocol suites that call fixture tools. */
  readonly createServer?: CreateServer;
  /** The same for the 2026-07-28 leg. */
  readonly modernServer?: ModernServer;
  /** HTTP+SSE at /sse and /messages; on unless switched off. */
  readonly sse?: boolean;
  /** 100 unless given: each is an open connection. */
  readonly maxSseStreamsPerTenant?: number;
  /** Calls `run` every `ms` until its answer is called; Node's own timers unless given. */
  readonly every?: Every;
}

export interface McpMount {
  readonly mounts: readonly MountedHandler[];
  /** Live sessions in this process. */
  sessionCount(): number;
  /** Open HTTP+SSE streams. */
  sseCount(): number;
  /** What the timer does every 15 s: ends idle sessions, and streams whose token has ended. */
  sweep(): Promise<void>;
  /** Ends all sessions, and with them the streams that would hold the HTTP server open. */
  close(): Promise<void>;
}

const SWEEP_MS = 15_000;
/** Clients cut a silent stream after 300 s, proxies after 60 s or 30 s. */
const HEARTBEAT_MS = 25_000;
const SESSION_TTL_MS = 7 * 86_400_000;
const SESSION_IDLE_MS = 30 * 60_000;
const SESSIONS_PER_TENANT = 1_000;
const SSE_STREAMS_PER_TENANT = 100;

export function createMcpMount(options: McpMountOptions): McpMount {
  const { clock, logger, every = startTimer } = options;
  const tools = createTools(options.operations, { prefix: options.toolPrefix, tools: options.tools });
  const prompts = createPrompts(options.operations, options.invoke, options.toolPrefix);
  const createServer =
    options.createServer ?? createServerFactory({ tools, prompts, invoke: options.invoke, logger, version: options.version, every });
  const sessions = createSessionTable({
    createServer,
    clock,
    maxPerTenant: options.maxSessionsPerTenant ?? SESSIONS_PER_TENANT,
    idleMs: options.sessionIdleMs ?? SESSION_IDLE_MS,
  });
  const revocations = options.revocations ?? createLocalRevocations(clock);
  const streamable = createStreamableHttp({
    createServer,
    ids: createSessionIds({ key: options.sessionKey, clock, ttlMs: options.sessionTtlMs ?? SESSION_TTL_MS }),
    revocations,
    sessions,
  });
  const states = createRequestStates({ key: options.sessionKey, clock, used: options.usedStates ?? processUsedStates(clock) });
  const modern = createModern(
    options.modernServer ?? createModernTools({ tools, prompts, invoke: options.invoke, version: options.version }),
    states,
    every,
  );
  const mcp: MountedHandler = {
    ...streamable,
    handle: (request) => {
      const { ctx, body } = request;
      return ctx.method === 'POST' && isModern(body, (name) => ctx.get(name)) ? modern(request) : streamable.handle(request);
    },
  };
  const sse =
    options.sse === false
      ? undefined
      : createHttpSse({ createServer, clock, maxPerTenant: options.maxSseStreamsPerTenant ?? SSE_STREAMS_PER_TENANT });
  const sweep = async (): Promise<void> => {
    await Promise.all([sessions.sweep(), sse?.sweep()]);
  };
  const timers = [
    every(SWEEP_MS, () => {
      sweep().catch((err: unknown) => logger.warn({ err }, 'mcp sessions could not be swept'));
    }),
    every(HEARTBEAT_MS, () => sse?.beat()),
  ];

  return {
    mounts: [mcp, ...(sse?.mounts ?? [])],
    sessionCount: () => sessions.size,
    sseCount: () => sse?.size ?? 0,
    sweep,
    close: async () => {
      for (const stop of timers) stop();
      await Promise.all([sessions.closeAll(), sse?.close()]);
    },
  };
}
