/** One operation's binding as an OpenAPI operation object. */
import { z } from 'zod';
import { LIMITS } from '../domain/wire/common.ts';
import { ANSWERS } from '../operations/answers.ts';
import type { AnyOperation, HttpBinding } from '../operations/define.ts';
import { pathParameters, takesBody } from './binding.ts';
import type { QueryParameter } from './query.ts';

type Json = Record<string, unknown>;

/** As versionFromIfMatch takes it. */
const IF_MATCH_PATTERN = '^(\\*|(W/)?"[!#-~]*")$';

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
  const examples = examplesOf(operation, binding);
  return {
    operationId: only ? operation.name : `${operation.name}_${binding.method.toLowerCase()}`,
    summary: operation.title,
    description: operation.description,
    tags: ['memory'],
    'x-cost': operation.cost,
    security: [{ bearer: [operation.scope] }],
    parameters: [
      ...inPath.map((name) => pathParameter(name, properties[name] ?? { type: 'string' }, examples)),
      ...parameters.map((parameter) => queryParameter(parameter, examples)),
      ...headerParameters(binding),
    ],
    ...(body ? { requestBody: requestBody(operation, inPath, examples) } : {}),
    responses: {
      '200': {
        description: operation.title,
        headers: responseHeaders(binding),
        content: answers(operation, binding, examples),
      },
      ...(binding.etag === true && binding.method === 'GET' ? { '304': { description: 'Not changed since If-None-Match' } } : {}),
      '400': problem('Invalid'),
      '401': problem('Unauthorized'),
      '403': problem('Forbidden'),
      ...(namesStored(properties) ? { '404': problem('NotFound') } : {}),
      ...(operation.effect === 'read' ? {} : { '409': problem('Conflict') }),
      ...(binding.etag === true && binding.method !== 'GET' ? { '412': problem('PreconditionFailed') } : {}),
      ...(body ? { '413': problem('TooLarge'), '415': problem('MediaType') } : {}),
      ...(binding.idempotencyKey === true ? { '422': problem('IdempotencyMismatch') } : {}),
      '429': problem('RateLimited'),
      '431': problem('HeadersTooLarge'),
      '503': problem('Unavailable'),
    },
  };
}

function answers(operation: AnyOperation, { stream }: HttpBinding, examples: readonly Example[]): Json {
  if (stream === undefined) return { 'application/json': answerContent(operation, examples) };
  return { [stream.contentType]: { schema: { type: 'string', contentMediaType: stream.contentType } } };
}

/** Whether the input can name what is not there: a memory or a recall as its subject, or a memory that its text was derived from. */
function namesStored(properties: Record<string, Json>): boolean {
  const source = properties['source']?.['properties'] as Json | undefined;
  return ['memory_id', 'memory_ids', 'trace_id'].some((name) => name in properties) || (source !== undefined && 'parents' in source);
}

interface Example {
  /** Name of the same example in request, parameters and answer. */
  readonly name: string;
  readonly input: Json;
  readonly answer: unknown;
}

/** The operation's examples that this binding can carry: every path segment is given, and no field that it does not take. */
function examplesOf(operation: AnyOperation, binding: HttpBinding): Example[] {
  const inPath = pathParameters(binding.path);
  return operation.examples.flatMap((input, i) => {
    const fits = inPath.every((name) => name in input) && Object.keys(input).every((name) => binding.fields?.includes(name) ?? true);
    return fits ? [{ name: `example_${i + 1}`, input, answer: ANSWERS[operation.name]?.[i] }] : [];
  });
}

/** OpenAPI's `examples`, or nothing where there are none. */
function examplesMember(values: readonly (readonly [name: string, value: unknown])[]): Json {
  const given = values.filter(([, value]) => value !== undefined);
  return given.length === 0 ? {} : { examples: Object.fromEntries(given.map(([name, value]) => [name, { value }])) };
}

function requestBody(operation: AnyOperation, inPath: readonly string[], examples: readonly Example[]): Json {
  const bodies = examples.map(({ name, input }): [string, unknown] => [
    name,
    Object.fromEntries(Object.entries(input).filter(([field]) => !inPath.includes(field))),
  ]);
  const schema = { $ref: `#/components/schemas/${operation.name}_${inPath.length === 0 ? 'input' : 'body'}` };
  return { required: true, content: { 'application/json': { schema, ...examplesMember(bodies) } } };
}

function answerContent(operation: AnyOperation, examples: readonly Example[]): Json {
  const answers = examples.map(({ name, answer }): [string, unknown] => [name, answer]);
  return { schema: { $ref: `#/components/schemas/${operation.name}_output` }, ...examplesMember(answers) };
}

function pathParameter(name: string, schema: Json, examples: readonly Example[]): Json {
  const { description, ...rest } = schema;
  const values = examples.map(({ name: example, input }): [string, unknown] => [example, input[name]]);
  return {
    name,
    in: 'path',
    required: true,
    ...(description === undefined ? {} : { description }),
    schema: rest,
    ...examplesMember(values),
  };
}

function queryParameter({ name, path, required, list, schema }: QueryParameter, examples: readonly Example[]): Json {
  const { description, ...rest } = schema;
  const at = (input: unknown): unknown => path.reduce<unknown>((node, field) => (node as Json | undefined)?.[field], input);
  return {
    name,
    in: 'query',
    required,
    ...(description === undefined ? {} : { description }),
    ...(list ? { style: 'form', explode: true } : {}),
    schema: rest,
    ...examplesMember(examples.map(({ name: example, input }) => [example, at(input)])),
  };
}

function headerParameters(binding: HttpBinding): Json[] {
  const header = (name: string, description: string, pattern?: string): Json => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }) },
  });
  return [
    ...(binding.idempotencyKey === true
      ? [
          header(
            'Idempotency-Key',
            '1 to 128 visible ASCII characters, a new random one for each write. For ' +
              `${LIMITS.idempotencyHours} hours the same key with the same body answers what it answered the first time, without a second ` +
              'effect; 422 with another body, 409 while the first call still runs. After that time the key counts as new.',
            '^[!-~]{1,128}$',
          ),
        ]
      : []),
    ...(binding.etag === true && binding.method === 'GET'
      ? [header('If-None-Match', 'ETag of the version at hand: 304 when it is still the current one')]
      : []),
    ...(binding.etag === true && binding.method !== 'GET'
      ? [header('If-Match', 'ETag of the version that is to be changed: 412 when it moved on', IF_MATCH_PATTERN)]
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
