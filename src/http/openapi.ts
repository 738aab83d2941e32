/** The OpenAPI 3.1 document, derived from the route table and the operations; served at /openapi.json. */
import { z } from 'zod';
import { ERRORS } from '../errors.ts';
import type { AnyOperation } from '../operations/define.ts';
import { pathParameters, takesBody } from './binding.ts';
import type { HttpConfig } from './http-config.ts';
import { jsonSchemaOf } from './openapi-operation.ts';
import { PROBLEM_TYPE } from './problem.ts';
import type { Route } from './request-state.ts';

type Json = Record<string, unknown>;

/** Every route of the table is in it; bodies and answers are the operations' own schemas. */
export function buildOpenApi(routes: readonly Route[], operations: readonly AnyOperation[], config: HttpConfig): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = route.describe();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'hindsight-es',
      version: config.version,
      description: 'Long-term memory for LLM agents, on Elasticsearch. Tenant and namespaces come from the bearer token alone.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: config.publicUrl }],
    tags: [
      { name: 'memory', description: 'Write, find, correct and forget memories' },
      { name: 'service', description: 'Health, metrics and descriptions of the service itself' },
    ],
    paths,
    components: {
      schemas: { ...operationSchemas(operations), Problem: jsonSchemaOf(problemSchema, 'output') },
      responses: problemResponses(),
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Scopes stand in the token’s scope claim' },
      },
    },
  };
}

const problemSchema = z.object({
  type: z.string().describe('urn:hindsight-es:error:<code>'),
  title: z.string().describe('Reason phrase of the status'),
  status: z.int(),
  detail: z.string().describe('Public text of the error table; never the caller’s values'),
  instance: z.string().describe('This one occurrence'),
  code: z.enum(Object.keys(ERRORS) as [string, ...string[]]).describe('Stable code'),
  trace_id: z.string().describe('Names this call in the logs'),
  errors: z
    .array(
      z.object({
        pointer: z.string().describe('JSON pointer (RFC 6901) into the input; a query parameter is a field of that name'),
        message: z.string(),
      }),
    )
    .optional(),
});

/** `<name>_output`, and of those that take a body `<name>_input`, or `<name>_body` where path segments carry some of the input. */
function operationSchemas(operations: readonly AnyOperation[]): Json {
  const schemas: Json = {};
  const add = (name: string, schema: Json): void => {
    const { $defs = {}, ...rest } = schema;
    for (const [inner, definition] of Object.entries($defs as Json)) schemas[`${name}_${inner}`] = withReferences(definition, name);
    schemas[name] = withReferences(rest, name);
  };
  for (const operation of operations) {
    const input = jsonSchemaOf(operation.input, 'input');
    for (const { path } of operation.http.filter(takesBody)) {
      const inPath = pathParameters(path);
      if (inPath.length === 0) add(`${operation.name}_input`, input);
      else add(`${operation.name}_body`, without(input, inPath));
    }
    if (operation.http.some(({ stream }) => stream === undefined))
      add(`${operation.name}_output`, jsonSchemaOf(operation.output, 'output'));
  }
  return schemas;
}

const BARE_PROBLEM: Json = {
  type: 'object',
  required: ['type', 'title', 'status'],
  properties: { type: { type: 'string' }, title: { type: 'string' }, status: { type: 'integer' } },
};

/** Local definitions move into the components, so references to them move too. */
function withReferences(node: unknown, name: string): unknown {
  if (Array.isArray(node)) return node.map((child) => withReferences(child, name));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, child]): [string, unknown] => {
    const inner = key === '$ref' && typeof child === 'string' ? /^#\/\$defs\/(\w+)$/.exec(child)?.[1] : undefined;
    return [key, inner === undefined ? withReferences(child, name) : `#/components/schemas/${name}_${inner}`];
  });
  return Object.fromEntries(entries);
}

function without(schema: Json, names: readonly string[]): Json {
  const properties = Object.entries((schema['properties'] ?? {}) as Json).filter(([name]) => !names.includes(name));
  const required = ((schema['required'] ?? []) as string[]).filter((name) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(properties), required };
}

function problemResponses(): Json {
  const response = (description: string, headers: readonly string[] = []): Json => ({
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  });
  return {
    Invalid: response('The request does not fit the schema; errors[] names the fields'),
    Unauthorized: response('No token, or one that was rejected', ['WWW-Authenticate']),
    Forbidden: response('The token lacks the scope or the namespace', ['WWW-Authenticate']),
    NotFound: response('No such memory, or the token may not see it'),
    Conflict: response('Changed at the same time, or the same call is still running'),
    PreconditionFailed: response('The version in If-Match is not the current one'),
    TooLarge: response('The body is over its limit of bytes, or of names and values; send fewer items in each call'),
    // refused by the parser, before there is a call that could have a trace
    HeadersTooLarge: {
      description: 'Path, query and headers are over 16 KiB together',
      content: { [PROBLEM_TYPE]: { schema: BARE_PROBLEM } },
    },
    MediaType: response('Send application/json in UTF-8, without content coding'),
    IdempotencyMismatch: response('This Idempotency-Key was used with another payload'),
    RateLimited: response('Too many calls', ['RateLimit', 'RateLimit-Policy', 'Retry-After']),
    Unavailable: response('A part that is needed cannot be reached; try again', ['Retry-After']),
  };
}

const header = (description: string): Json => ({ description, schema: { type: 'string' } });

const HEADERS: Json = {
  ETag: header('Content version as a strong entity tag, e.g. "3"'),
  RateLimit: header(
    'Points left in this window and seconds until the next (draft-ietf-httpapi-ratelimit-headers): "memory_search";r=11998;t=42',
  ),
  'RateLimit-Policy': header('Points of a window and its seconds: "memory_search";q=12000;w=60'),
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': header('What kind of token is needed'),
  'X-Request-Id': header('The caller’s own id when it is 1 to 128 of [A-Za-z0-9._-], else one made here'),
  traceparent: header('W3C trace context of this call'),
};
