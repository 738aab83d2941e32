/** One operation's binding as an OpenAPI operation object. */
import { z } from 'zod';
import { LIMITS } from '../domain/wire/common.ts';
import type { AnyOperation, HttpBinding } from '../operations/define.ts';
import { pathParameters, takesBody } from './binding.ts';
import type { QueryParameter } from './query.ts';

type Json = Record<string, unknown>;

const problem = (name: string): Json => ({ $ref: `#/components/responses/${name}` });

/** JSON Schema 2020-12 of a zod schema, for use inside a larger document: without `$schema`. */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) as Json;
  return rest;
}

export function describeOperation(operation: AnyOperation, binding: HttpBinding, parameters: readonly QueryParameter[]): Json {
  const inPath = pathParameters(binding.path);
  const body = takesBody(binding);
  const properties = (jsonSchemaOf(operation.input, 'input')['properties'] ?? {}) as Record<string, Json>;
  const only = operation.http.length === 1 || body;
  return {
    operationId: only ? operation.name : `${operation.name}_${binding.method.toLowerCase()}`,
    summary: operation.title,
    description: operation.description,
    tags: ['memory'],
    'x-cost': operation.cost,
    security: [{ bearer: [operation.scope] }],
    parameters: [
      ...inPath.map((name) => ({ name, in: 'path', required: true, schema: properties[name] ?? { type: 'string' } })),
      ...parameters.map(queryParameter),
      ...headerParameters(binding),
    ],
    ...(body ? { requestBody: requestBody(operation, inPath) } : {}),
    responses: {
      '200': {
        description: operation.title,
        headers: responseHeaders(binding),
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${operation.name}_output` } } },
      },
      ...(binding.etag === true && binding.method === 'GET' ? { '304': { description: 'Not changed since If-None-Match' } } : {}),
      '400': problem('Invalid'),
      '401': problem('Unauthorized'),
      '403': problem('Forbidden'),
      ...(inPath.length > 0 ? { '404': problem('NotFound') } : {}),
      ...(operation.effect === 'read' ? {} : { '409': problem('Conflict') }),
      ...(binding.etag === true && binding.method !== 'GET' ? { '412': problem('PreconditionFailed') } : {}),
      ...(body ? { '413': problem('TooLarge'), '415': problem('MediaType') } : {}),
      ...(binding.idempotencyKey === true ? { '422': problem('IdempotencyMismatch') } : {}),
      '429': problem('RateLimited'),
      '503': problem('Unavailable'),
    },
  };
}

function requestBody(operation: AnyOperation, inPath: readonly string[]): Json {
  const examples = operation.examples.map((example, i): [string, Json] => {
    const value = Object.fromEntries(Object.entries(example).filter(([name]) => !inPath.includes(name)));
    return [`example_${i + 1}`, { value }];
  });
  const name = inPath.length === 0 ? `${operation.name}_input` : `${operation.name}_body`;
  return {
    required: true,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` }, examples: Object.fromEntries(examples) } },
  };
}

function queryParameter({ name, required, list, schema }: QueryParameter): Json {
  const { description, ...rest } = schema;
  return {
    name,
    in: 'query',
    required,
    ...(description === undefined ? {} : { description }),
    ...(list ? { style: 'form', explode: true } : {}),
    schema: rest,
  };
}

function headerParameters(binding: HttpBinding): Json[] {
  const header = (name: string, description: string): Json => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  });
  return [
    ...(binding.idempotencyKey === true
      ? [
          header(
            'Idempotency-Key',
            '1 to 128 visible ASCII characters, a new random one for each write. For ' +
              `${LIMITS.idempotencyHours} hours the same key with the same body answers what it answered the first time, without a second ` +
              'effect; 422 with another body, 409 while the first call still runs. After that time the key counts as new.',
          ),
        ]
      : []),
    ...(binding.etag === true && binding.method === 'GET'
      ? [header('If-None-Match', 'ETag of the version at hand: 304 when it is still the current one')]
      : []),
    ...(binding.etag === true && binding.method !== 'GET'
      ? [header('If-Match', 'ETag of the version that is to be changed: 412 when it moved on')]
      : []),
  ];
}

function responseHeaders(binding: HttpBinding): Json {
  const reference = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
  return {
    ...(binding.etag === true && binding.method !== 'DELETE' ? { ETag: reference('ETag') } : {}),
    RateLimit: reference('RateLimit'),
    'RateLimit-Policy': reference('RateLimit-Policy'),
    'X-Request-Id': reference('X-Request-Id'),
    traceparent: reference('traceparent'),
  };
}
