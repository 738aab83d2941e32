/** Where other front ends hang themselves into the HTTP server: behind authentication, the coarse limit and body parsing. */
import type { Principal } from '../domain/principal.ts';
import type { ErrorPresenter, HttpContext } from './request-state.ts';

export interface MountedRequest {
  /** Answer through ctx (status, headers, body or a stream as body), or set ctx.respond = false and write to ctx.res. */
  readonly ctx: HttpContext;
  readonly principal: Principal;
  readonly traceId: string;
  /** Aborted when the client goes away before the answer is out. */
  readonly signal: AbortSignal;
  /** Parsed JSON of a POST (at most 8 MiB); undefined for GET and DELETE. */
  readonly body: unknown;
}

/** `path` is exact, for instance `/mcp`; `presentError` gives errors the protocol's own form. */
export interface MountedHandler extends ErrorPresenter {
  readonly methods: readonly ('GET' | 'POST' | 'DELETE')[];
  /** One line for the OpenAPI document. */
  readonly summary: string;
  handle(request: MountedRequest): Promise<void>;
}
