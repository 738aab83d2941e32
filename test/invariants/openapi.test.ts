import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { ERRORS } from '../../src/errors.ts';
import { buildOpenApi } from '../../src/http/openapi.ts';
import { problemOf } from '../../src/http/problem.ts';
import { HindsightError } from '../../src/errors.ts';
import { operations } from '../../src/operations/index.ts';
import { MEMORY_ID, VIEW } from '../unit/http/support/memory-double.ts';
import { startServer, type TestServer } from '../unit/http/support/test-server.ts';

type Json = Record<string, unknown>;
interface Document {
  readonly paths: Record<string, Record<string, Json>>;
  readonly components: { readonly schemas: Record<string, Json>; readonly [part: string]: Record<string, Json> };
}

const MOUNT = { path: '/mcp', methods: ['GET', 'POST', 'DELETE'] as const, summary: 'MCP', handle: async () => undefined };

describe('the OpenAPI document', () => {
  let test: TestServer;
  let document: Document;
  before(async () => {
    test = await startServer({ config: { prm: { authorizationServers: ['https://issuer.example'] } }, mounts: [MOUNT] });
    document = (await test.request('GET', '/openapi.json')).json as unknown as Document;
  });
  after(() => test.listening.close());

  function validator(name: string) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'doc');
    const validate = ajv.getSchema(`doc#/components/schemas/${name}`);
    if (validate === undefined) throw new Error(name);
    return validate;
  }

  it('names every route of the server and no other', () => {
    const served = test.server.table.routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described).to.have.members(served);
    expect(described).to.include.members(['GET /livez', 'GET /readyz', 'GET /metrics', 'GET /openapi.json', 'POST /mcp']);
    for (const { http } of operations)
      for (const { method, path } of http) expect(described).to.include(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  });

  it('resolves every reference', () => {
    const resolve = (reference: string): unknown =>
      reference
        .replace(/^#\//, '')
        .split('/')
        .reduce<unknown>((node, part) => (node as Json | undefined)?.[part.replaceAll('~1', '/')], document);
    const references: string[] = [];
    JSON.stringify(document, (key, value: unknown) => {
      if (key === '$ref') references.push(String(value));
      return value;
    });
    expect(references).to.have.length.above(20);
    for (const reference of references) expect(resolve(reference), reference).to.be.an('object');
  });

  it('has an operationId of its own for each operation', () => {
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => String(operation['operationId'])));
    expect(new Set(ids)).to.have.length(ids.length);
  });

  it('declares every path parameter', () => {
    for (const [path, item] of Object.entries(document.paths))
      for (const operation of Object.values(item)) {
        const declared = ((operation['parameters'] ?? []) as Json[])
          .filter((parameter) => parameter['in'] === 'path')
          .map(({ name }) => name);
        expect(declared).to.have.members([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      }
  });

  it('opens only health and resource metadata', () => {
    const open = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).some((operation) => (operation['security'] as unknown[]).length === 0) ? [path] : [],
    );
    expect(open).to.have.members([
      '/livez',
      '/readyz',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
    ]);
  });

  it('holds schemas of JSON Schema 2020-12, all of which compile', () => {
    const ajv = new Ajv2020({ strict: false });
    for (const [name, schema] of Object.entries(document.components.schemas)) expect(ajv.validateSchema(schema), name).to.equal(true);
    for (const name of Object.keys(document.components.schemas)) expect(validator(name)).to.be.a('function');
  });

  it('holds examples that its own schemas take', () => {
    let checked = 0;
    for (const item of Object.values(document.paths))
      for (const { requestBody } of Object.values(item)) {
        if (requestBody === undefined) continue;
        const media = (
          requestBody as { content: Record<string, { schema: { $ref: string }; examples: Record<string, { value: unknown }> }> }
        ).content['application/json'];
        const validate = validator(media?.schema.$ref.split('/').at(-1) ?? '');
        for (const { value } of Object.values(media?.examples ?? {})) {
          expect(validate(value), JSON.stringify(validate.errors)).to.equal(true);
          checked += 1;
        }
      }
    expect(checked).to.be.at.least(8);
  });

  it('describes the answers that the server gives', async () => {
    const bodies: [string, Json][] = [
      ['memory_get_output', { ...VIEW, trace_id: 't' }],
      ['memory_search_output', (await test.post('/v1/memories/search', { query: 'q' })).json],
      ['memory_list_output', (await test.request('GET', '/v1/memories')).json],
      ['memory_write_output', (await test.post('/v1/memories', { content: 'x' })).json],
      ['memory_history_output', (await test.request('GET', `/v1/memories/${MEMORY_ID}/history`)).json],
      ['Problem', (await test.post('/v1/memories/search', {})).json],
      ['Problem', (await test.request('GET', '/nowhere')).json],
    ];
    for (const [name, body] of bodies) {
      const validate = validator(name);
      expect(validate(body), `${name} ${JSON.stringify(validate.errors)}`).to.equal(true);
    }
  });

  it('describes every error as a problem', () => {
    const validate = validator('Problem');
    for (const code of Object.keys(ERRORS) as (keyof typeof ERRORS)[])
      expect(validate(JSON.parse(JSON.stringify(problemOf(new HindsightError(code), 't')))), code).to.equal(true);
  });

  it('refuses what the schemas refuse', () => {
    const validate = validator('memory_write_input');
    expect(validate({ content: 'x', trust_tier: 5 })).to.equal(false);
    expect(validate({ content: 'x', importance: 2 })).to.equal(false);
    expect(validator('memory_update_body')({ memory_id: MEMORY_ID, content: 'x' })).to.equal(false);
  });

  it('is built from its parts alone', () => {
    const config = { hosts: [], origins: [], publicUrl: 'https://m.example', prm: undefined, version: '1.2.3' };
    expect(buildOpenApi([], operations, config)).to.nested.include({ 'info.version': '1.2.3', 'servers[0].url': 'https://m.example' });
  });
});
