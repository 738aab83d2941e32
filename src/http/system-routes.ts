/** Routes that are not operations: health, metrics, the OpenAPI document, resource metadata and mounted front ends. */
import { metadataPath } from './authenticate.ts';
import { LARGE_BODY_LIMIT_BYTES } from './body.ts';
import type { HttpConfig } from './http-config.ts';
import type { MountedHandler } from './mount.ts';
import type { Route } from './request-state.ts';
import { principalOf } from './route-table.ts';

export interface MetricsPage {
  readonly contentType: string;
  /** The Prometheus exposition of all metrics. */
  render(): Promise<string>;
}

/** True when the service can answer calls: its store is reachable and prepared. */
export type Readiness = () => Promise<boolean>;

type Json = Record<string, unknown>;

const HEALTH_SCHEMA: Json = {
  type: 'object',
  properties: { status: { type: 'string', enum: ['ok', 'unavailable'] } },
  required: ['status'],
};
const METADATA_SCHEMA: Json = {
  type: 'object',
  properties: {
    resource: { type: 'string' },
    authorization_servers: { type: 'array', items: { type: 'string' } },
    scopes_supported: { type: 'array', items: { type: 'string' } },
    bearer_methods_supported: { type: 'array', items: { type: 'string' } },
    resource_name: { type: 'string' },
  },
  required: ['resource', 'authorization_servers'],
};

const RETRY_AFTER_SECONDS = '2';

function description(operationId: string, summary: string, contentType: string, schema: Json, scope?: string): Json {
  const problem = (name: string): Json => ({ $ref: `#/components/responses/${name}` });
  const answers: Json = { '200': { description: summary, content: { [contentType]: { schema } } }, '403': problem('Forbidden') };
  const refused = { '401': problem('Unauthorized'), '429': problem('RateLimited'), '503': problem('Unavailable') };
  return {
    operationId,
    summary,
    tags: ['service'],
    security: scope === undefined ? [] : [{ bearer: [scope] }],
    responses: scope === undefined ? answers : { ...answers, ...refused },
  };
}

/** /livez says that the process answers, /readyz that it can work; neither says more, they need no token. */
export function healthRoutes(readiness: Readiness): Route[] {
  const route = (path: string, summary: string, ready: () => Promise<boolean>): Route => {
    const described = description(path.slice(1), summary, 'application/json', HEALTH_SCHEMA);
    const unavailable = {
      description: 'Not ready',
      headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
      content: { 'application/json': { schema: HEALTH_SCHEMA } },
    };
    return {
      method: 'GET',
      path,
      access: 'open',
      bodyLimitBytes: 0,
      describe: () => ({ ...described, responses: { ...(described['responses'] as Json), '503': unavailable } }),
      handle: async (ctx) => {
        const ok = await ready().catch(() => false);
        ctx.status = ok ? 200 : 503;
        if (!ok) ctx.set('Retry-After', RETRY_AFTER_SECONDS);
        ctx.body = { status: ok ? 'ok' : 'unavailable' };
      },
    };
  };
  return [route('/livez', 'Whether the process answers', async () => true), route('/readyz', 'Whether it can work', readiness)];
}

export function metricsRoute(metrics: MetricsPage): Route {
  return {
    method: 'GET',
    path: '/metrics',
    access: 'token',
    scope: 'memory:admin',
    bodyLimitBytes: 0,
    describe: () => description('metrics', 'Metrics in the Prometheus text format', 'text/plain', { type: 'string' }, 'memory:admin'),
    handle: async (ctx) => {
      ctx.body = await metrics.render();
      ctx.set('Content-Type', metrics.contentType);
    },
  };
}

export function openApiRoute(document: () => Json): Route {
  return {
    method: 'GET',
    path: '/openapi.json',
    access: 'token',
    scope: 'memory:read',
    bodyLimitBytes: 0,
    describe: () => description('openapi', 'This document', 'application/json', { type: 'object' }, 'memory:read'),
    handle: async (ctx) => {
      ctx.body = document();
    },
  };
}

/** RFC 9728: one document for the service and one for each mounted path; none when metadata is switched off. */
export function metadataRoutes(config: HttpConfig, mounts: readonly MountedHandler[]): Route[] {
  const { prm } = config;
  if (prm === undefined) return [];
  return ['', ...mounts.map(({ path }) => path)].map((resourcePath, i): Route => {
    const document = {
      resource: `${config.publicUrl}${resourcePath}`,
      authorization_servers: prm.authorizationServers,
      scopes_supported: ['memory:read'],
      bearer_methods_supported: ['header'],
      resource_name: 'hindsight-es',
    };
    return {
      method: 'GET',
      path: metadataPath(resourcePath),
      access: 'open',
      anyOrigin: true,
      bodyLimitBytes: 0,
      describe: () =>
        description(`resource_metadata_${i}`, 'OAuth 2.0 protected resource metadata (RFC 9728)', 'application/json', METADATA_SCHEMA),
      handle: async (ctx) => {
        ctx.body = document;
      },
    };
  });
}

export function mountRoutes(mounts: readonly MountedHandler[]): Route[] {
  return mounts.flatMap((mount) =>
    mount.methods.map((method): Route => ({
      method,
      path: mount.path,
      access: 'token',
      bodyLimitBytes: method === 'POST' ? LARGE_BODY_LIMIT_BYTES : 0,
      mount,
      describe: () => description(`${mount.path.slice(1)}_${method.toLowerCase()}`, mount.summary, 'application/json', {}, 'memory:read'),
      handle: async (ctx) => {
        const { traceId, signal, body } = ctx.state;
        await mount.handle({ ctx, principal: principalOf(ctx), traceId, signal, body });
      },
    })),
  );
}
