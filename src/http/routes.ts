/** REST routes from the operations: request -> raw input -> invoke -> JSON answer with its headers. */
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { HindsightError } from '../errors.ts';
import type { AnyOperation, HttpBinding } from '../operations/define.ts';
import type { Invoke } from '../operations/invoke.ts';
import { invalid } from '../operations/parse.ts';
import { pathParameters, takesBody } from './binding.ts';
import { BODY_LIMIT_BYTES, LARGE_BODY_LIMIT_BYTES } from './body.ts';
import { describeOperation } from './openapi-operation.ts';
import { etagOf, idempotencyKey, isKnownTag, versionFromIfMatch } from './preconditions.ts';
import { parseQuery, queryParameters, toParameterFaults, type QueryParameter } from './query.ts';
import { setRateLimit } from './rate-limit-headers.ts';
import type { HttpContext, Route } from './request-state.ts';
import { principalOf } from './route-table.ts';

/** One route for each binding of each operation. */
export function operationRoutes(operations: readonly AnyOperation[], invoke: Invoke): Route[] {
  return operations.flatMap((operation) => operation.http.map((binding) => operationRoute(operation, binding, invoke)));
}

function operationRoute(operation: AnyOperation, binding: HttpBinding, invoke: Invoke): Route {
  const inPath = pathParameters(binding.path);
  const parameters = takesBody(binding) ? [] : queryParameters(operation, binding.fields, inPath);
  const largest = binding.largeBody === true ? LARGE_BODY_LIMIT_BYTES : BODY_LIMIT_BYTES;
  return {
    method: binding.method,
    path: binding.path,
    access: 'token',
    bodyLimitBytes: takesBody(binding) ? largest : 0,
    describe: () => describeOperation(operation, binding, parameters),
    handle: async (ctx) => {
      const input = rawInput(ctx, binding, parameters, inPath);
      ctx.state.inOperation = true;
      const output = await callInNamesOfTheRequest(parameters, () =>
        invoke(operation, input, {
          principal: principalOf(ctx),
          traceId: ctx.state.traceId,
          signal: ctx.state.signal,
          idempotencyKey: binding.idempotencyKey === true ? idempotencyKey(ctx) : undefined,
          route: `${binding.method} ${binding.path}`,
          onLimit: (result) => setRateLimit(ctx, result.policy ?? operation.name, result),
          onDegraded: (part) => ctx.set('Degraded', part),
        }),
      );
      answer(ctx, binding, output);
    },
  };
}

/** Body or query, with path segments and If-Match put in their fields; a field that comes twice with different meanings is refused. */
function rawInput(ctx: HttpContext, binding: HttpBinding, parameters: readonly QueryParameter[], inPath: readonly string[]): unknown {
  const given: unknown = takesBody(binding) ? bodyOf(ctx) : parseQuery(ctx.querystring, parameters);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const input: Record<string, unknown> = { ...given };
  for (const name of inPath) {
    if (name in input) throw invalid([{ pointer: `/${name}`, message: 'stands in the path already' }]);
    input[name] = decodeSegment(ctx.state.route.params[name] ?? '', name);
  }
  const version = binding.etag === true && binding.method !== 'GET' ? versionFromIfMatch(ctx) : undefined;
  if (version !== undefined) {
    if ('version' in input && input['version'] !== version) throw invalid([{ pointer: '/version', message: 'differs from If-Match' }]);
    input['version'] = version;
  }
  return input;
}

function bodyOf(ctx: HttpContext): unknown {
  if (ctx.querystring !== '') throw invalid([{ pointer: '', message: 'has a query parameter that is not known' }]);
  return ctx.state.body;
}

function decodeSegment(segment: string, name: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid([{ pointer: `/${name}`, message: 'is not percent-encoded UTF-8' }]);
  }
}

async function callInNamesOfTheRequest<T>(parameters: readonly QueryParameter[], call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof HindsightError && error.code === 'ERR_REQUEST_INVALID' && parameters.length > 0)
      throw invalid(toParameterFaults(error.faults, parameters));
    throw error;
  }
}

function answer(ctx: HttpContext, binding: HttpBinding, output: Record<string, unknown>): void {
  ctx.status = binding.status;
  if (binding.stream !== undefined) return answerFile(ctx, binding.stream, output);
  ctx.body = output;
  if (binding.etag !== true || typeof output['version'] !== 'number') return;
  const etag = etagOf(output['version']);
  ctx.set('ETag', etag);
  if (binding.method === 'GET' && isKnownTag(ctx, etag)) {
    ctx.status = 304;
    ctx.body = null;
  }
}

/** Compressed as it goes. A fault on the way, or a client that leaves, ends both sides: the file then has no end, and the gzip says so. */
function answerFile(ctx: HttpContext, stream: NonNullable<HttpBinding['stream']>, output: Record<string, unknown>): void {
  const gzip = createGzip();
  pipeline(Readable.from(output[stream.field] as AsyncIterable<string>), gzip, () => undefined);
  ctx.type = stream.contentType;
  ctx.set('Content-Disposition', `attachment; filename="${stream.fileName}"`);
  ctx.body = gzip;
}
