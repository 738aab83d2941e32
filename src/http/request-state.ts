/** The shapes that travel through the middleware list: a route, the match of a request, and the request's state. */
import type Koa from 'koa';
import type { Principal, ScopeName } from '../domain/principal.ts';
import type { HindsightError } from '../errors.ts';

export type RouteMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';

/** Who answers errors of a path in a form of its own. */
export interface ErrorPresenter {
  readonly path: string;
  /**
   * Body of an error response; status and headers stay as they are. Called for every error on this path, those before the handler
   * among them (`body` is undefined until it was read).
   */
  presentError?(error: HindsightError, body: unknown): { readonly contentType: string; readonly body: string };
}

export interface Route {
  readonly method: RouteMethod;
  /** Exact, case-sensitive; `:name` is one segment. */
  readonly path: string;
  /** open: no token is looked at. */
  readonly access: 'open' | 'token';
  /** Scope the route itself needs; operations check their own. */
  readonly scope?: ScopeName;
  /** Largest JSON body; 0 = the request must come without one. */
  readonly bodyLimitBytes: number;
  /** A public document that pages of any origin may read. */
  readonly anyOrigin?: boolean;
  readonly mount?: ErrorPresenter;
  /** OpenAPI operation object. */
  describe(): Record<string, unknown>;
  handle(ctx: HttpContext): Promise<void>;
}

export interface RouteMatch {
  /** Undefined when nothing is known under this path, or not with this method. */
  readonly route: Route | undefined;
  /** Path as declared; undefined when no route has it. */
  readonly path: string | undefined;
  /** Methods that the path takes, HEAD and OPTIONS among them; empty for unknown paths. */
  readonly methods: readonly string[];
  /** How errors of this path are presented, whatever the method. */
  readonly mount: ErrorPresenter | undefined;
  /** Path parameters, still percent-encoded. */
  readonly params: Readonly<Record<string, string>>;
}

export interface RequestState {
  /** W3C trace id, 32 hex characters: the caller's, or a new one. */
  traceId: string;
  requestId: string;
  /** Aborted when the client goes away before the answer is out. */
  signal: AbortSignal;
  route: RouteMatch;
  /** Set by authenticate; absent on open routes only. */
  principal?: Principal;
  /** Parsed JSON body, where the route takes one. */
  body?: unknown;
  /** What became a problem response, for log and metrics. */
  error?: HindsightError;
  /** True once an operation took over: it logs its own failure with the cause. */
  inOperation?: boolean;
}

export type HttpContext = Koa.ParameterizedContext<RequestState>;
export type HttpMiddleware = Koa.Middleware<RequestState>;
