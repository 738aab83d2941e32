/** The state of a call that waits for its user (MCP 2026-07-28, multi round-trip requests): kept by the client, so signed, bound and good once. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../domain/clock.ts';
import type { Principal } from '../domain/principal.ts';
import type { UsedStates } from './used-states.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a state belongs to: nobody else, and no other call, may bring it. */
export interface StateBinding {
  readonly principal: Principal;
  readonly method: string;
  readonly name: unknown;
  readonly arguments: unknown;
}

export interface KeptState {
  /** Keys of the questions that go out with it. */
  readonly asked: readonly string[];
  /** Answers of earlier rounds, which the client does not send again. */
  readonly answers: Json;
  /** What the operation keeps with its questions, by key. */
  readonly kept: Readonly<Record<string, Json>>;
}

export interface RequestStates {
  seal(binding: StateBinding, kept: KeptState): string;
  /**
   * What was sealed; undefined for a state that is not ours, not of this call and caller, used already or older than ten minutes. Throws
   * where it cannot be told whether it was used.
   */
  open(state: unknown, binding: StateBinding): Promise<KeptState | undefined>;
}

export interface RequestStateOptions {
  readonly key: Buffer;
  readonly clock: Clock;
  readonly used: UsedStates;
}

const LIFE_MS = 10 * 60_000;
const MAX_CHARS = 65_536;
const NONCE_BYTES = 12;

interface Claims extends KeptState {
  readonly binding: string;
  readonly nonce: string;
  readonly until: number;
}

export function createRequestStates({ key, clock, used }: RequestStateOptions): RequestStates {
  const mac = (payload: string): Buffer => createHmac('sha256', key).update(`mcp-request-state\0${payload}`).digest();

  return {
    seal: (binding, { asked, answers, kept }) => {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url');
      const claims: Claims = { binding: digest(binding), asked, answers, kept, nonce, until: clock() + LIFE_MS };
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${payload}.${mac(payload).toString('base64url')}`;
    },
    open: async (state, binding) => {
      if (typeof state !== 'string' || state.length > MAX_CHARS) return undefined;
      const [payload = '', signature = '', ...rest] = state.split('.');
      const wanted = mac(payload);
      const given = Buffer.from(signature, 'base64url');
      // one spelling of a state only: base64url decoding forgives what encoding never makes
      if (rest.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      if (signature !== wanted.toString('base64url')) return undefined;
      const { binding: bound, asked, answers, kept, nonce, until } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
      if (bound !== digest(binding) || until <= clock() || !(await used.take(nonce, until))) return undefined;
      return { asked, answers, kept };
    },
  };
}

/** Over the arguments as they were sent: a client repeats its own call. Another agent of the same person is another caller. */
function digest({ principal, method, name, arguments: args }: StateBinding): string {
  const parts = [principal.tenant, principal.owner, principal.actor, principal.clientId ?? null, method, name ?? null, args ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
