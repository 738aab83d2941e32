/** The live sessions of this process, by tenant: bounded in number and in idle time, because an id that is asked for again brings its session back. */
import type { Clock } from '../domain/clock.ts';
import type { CreateServer } from './server.ts';
import type { SessionClient } from './session-id.ts';
import { Session } from './session.ts';

export interface SessionTableOptions {
  readonly createServer: CreateServer;
  readonly clock: Clock;
  readonly maxPerTenant: number;
  readonly idleMs: number;
}

export interface SessionTable {
  readonly size: number;
  /**
   * The session of that id, made when it is not alive, and then told what `client` said at its beginning. One call at a time makes it, all
   * others wait for that one. Undefined when the tenant's places are taken by sessions that are in use.
   */
  acquire(tenant: string, id: string, client?: SessionClient): Promise<Session | undefined>;
  close(tenant: string, id: string): Promise<void>;
  /** Ends sessions that nobody used for long, and GET streams whose token has ended. */
  sweep(): Promise<void>;
  closeAll(): Promise<void>;
}

export function createSessionTable({ createServer, clock, maxPerTenant, idleMs }: SessionTableOptions): SessionTable {
  // least recently used first
  const tenants = new Map<string, Map<string, Session>>();

  function start(tenant: string, id: string, client: SessionClient | undefined): Session | undefined {
    const sessions = tenants.get(tenant) ?? new Map<string, Session>();
    if (sessions.size >= maxPerTenant) {
      const idle = [...sessions].find(([, { open }]) => open === 0);
      if (idle === undefined) return undefined;
      drop(tenant, idle[0]);
      void idle[1].close();
    }
    const session = new Session(id, createServer(), clock(), () => drop(tenant, id, session));
    if (client !== undefined) session.ready = session.ready.then(() => session.restore(client));
    tenants.set(tenant, sessions.set(id, session));
    return session;
  }

  function drop(tenant: string, id: string, only?: Session): void {
    const sessions = tenants.get(tenant);
    if (sessions === undefined || (only !== undefined && sessions.get(id) !== only)) return;
    sessions.delete(id);
    if (sessions.size === 0) tenants.delete(tenant);
  }

  const all = (): Session[] => [...tenants.values()].flatMap((sessions) => [...sessions.values()]);

  return {
    get size() {
      return all().length;
    },
    acquire: async (tenant, id, client) => {
      const session = tenants.get(tenant)?.get(id) ?? start(tenant, id, client);
      if (session === undefined) return undefined;
      session.lastUsedAt = clock();
      const sessions = tenants.get(tenant);
      sessions?.delete(id);
      sessions?.set(id, session);
      try {
        await session.ready;
      } catch (error) {
        drop(tenant, id, session);
        throw error;
      }
      return session;
    },
    close: async (tenant, id) => {
      await tenants.get(tenant)?.get(id)?.close();
    },
    sweep: async () => {
      const now = clock();
      for (const session of all()) {
        if (session.streamEndsAt <= now) session.transport.closeStandaloneSSEStream();
        if (session.open === 0 && session.lastUsedAt + idleMs <= now) await session.close();
      }
    },
    closeAll: async () => {
      await Promise.all(all().map((session) => session.close()));
    },
  };
}
