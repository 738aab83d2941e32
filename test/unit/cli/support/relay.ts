/** The stdio entry's relay against an MCP server of this process: what it sends to its client, and messages in the client's name. */
import type { ServiceFinder, Target } from '../../../../src/cli/mcp-service.ts';
import { Relay } from '../../../../src/cli/mcp-relay.ts';
import { until } from '../../mcp/support/mcp-server.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
type Message = any;

export interface RelayWorld {
  readonly relay: Relay;
  readonly sent: Message[];
  readonly notes: string[];
  /** Where the service is; undefined = not running, then `ready()` waits until this is set. */
  target: Target | undefined;
  /** What the finder still believes in. */
  believed: Target | undefined;
  take(message: object): Promise<void>;
  /** The answer to a request. */
  ask(method: string, params?: object, id?: string | number): Promise<Message>;
  hello(capabilities?: object): Promise<Message>;
}

/** `startFault`: what `ready()` rejects with while the service is not running. */
export function relayWorld(target: Target | undefined, startFault?: Error): RelayWorld {
  const sent: Message[] = [];
  const notes: string[] = [];
  const service: ServiceFinder = {
    now: async () => (world.believed ??= world.target),
    ready: async () => {
      if (startFault !== undefined && world.target === undefined) throw startFault;
      await until(() => world.target !== undefined);
      return (world.believed ??= world.target as Target);
    },
    forget: () => {
      world.believed = undefined;
    },
    tokenAdvice: 'advice on the token',
  };
  const relay = new Relay({ service, version: '0.0.0', send: (message) => sent.push(message), note: (line) => notes.push(line) });
  let nextId = 1;
  const world: RelayWorld = {
    relay,
    sent,
    notes,
    target,
    believed: undefined,
    take: (message) => relay.take({ jsonrpc: '2.0', ...message }),
    ask: async (method, params = {}, id = nextId++) => {
      await world.take({ id, method, params });
      return sent.findLast((message) => message.id === id && message.method === undefined);
    },
    hello: async (capabilities = {}) => {
      const answer = await world.ask('initialize', {
        protocolVersion: '2025-06-18',
        capabilities,
        clientInfo: { name: 'test', version: '1' },
      });
      await world.take({ method: 'notifications/initialized' });
      return answer;
    },
  };
  return world;
}
