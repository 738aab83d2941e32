import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { z } from 'zod';
import { SCOPES } from '../../src/domain/principal.ts';
import { pathParameters } from '../../src/http/binding.ts';
import { queryParameters } from '../../src/http/query.ts';
import { operations } from '../../src/operations/index.ts';

interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Record<string, JsonSchema>;
  readonly additionalProperties?: unknown;
}

const inputOf = (operation: (typeof operations)[number]): JsonSchema => z.toJSONSchema(operation.input, { io: 'input' }) as JsonSchema;
const DESCRIPTION_MAX_CHARS = 1_024;
const TOOLS_MAX = 12;

describe('every operation', () => {
  it('is in the registry when it has a file, and the other way round', () => {
    const files = readdirSync(new URL('../../src/operations/', import.meta.url)).filter((file) => file.startsWith('memory-'));
    expect(operations.map(({ name }) => `${name.replaceAll('_', '-')}.ts`)).to.have.members(files);
  });

  it('is one of at most twelve tools', () => {
    expect(operations.filter(({ mcp }) => mcp.tool !== 'never')).to.have.length.within(1, TOOLS_MAX);
    expect(operations.filter(({ mcp }) => mcp.tool === 'default')).to.have.length.within(1, 8);
  });

  it('has its method and path for itself', () => {
    const routes = operations.flatMap(({ http }) => http.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, ':')}`));
    expect(new Set(routes)).to.have.length(routes.length);
  });

  for (const operation of operations)
    describe(operation.name, () => {
      const schema = inputOf(operation);
      const fields = Object.keys(schema.properties ?? {});

      it('has a name of the form memory_verb', () => {
        expect(operation.name).to.match(/^memory_[a-z_]+$/);
        expect(operation.title).to.match(/^[A-Z].{2,40}$/);
      });

      it('says when to use it and when not, within 1,024 characters', () => {
        expect([...operation.description].length).to.be.at.most(DESCRIPTION_MAX_CHARS);
        expect(operation.description).to.match(/\bUse\b/);
        expect(operation.description).to.match(/\b(Do NOT|NOT for|Not for|NEVER|Never)\b/);
      });

      it('describes every field, at any depth', () => {
        const undescribed: string[] = [];
        const walk = (node: JsonSchema, path: string): void => {
          for (const [name, child] of Object.entries(node.properties ?? {})) {
            if ((child.description ?? '') === '') undescribed.push(`${path}/${name}`);
            walk(child, `${path}/${name}`);
          }
        };
        walk(schema, '');
        expect(undescribed).to.deep.equal([]);
      });

      it('refuses unknown fields', () => {
        expect(schema.additionalProperties).to.equal(false);
        const parsed = operation.input.safeParse({ ...operation.examples[0], not_a_field: 1 });
        expect(parsed.success).to.be.false;
      });

      it('has hints that agree with its effect', () => {
        expect(operation.scope).to.be.oneOf([...SCOPES]);
        expect(operation.cost).to.be.within(1, 100);
        if (operation.effect === 'read') {
          expect(operation.idempotent).to.be.true;
          // what no tool offers may need more than reading
          expect(operation.scope).to.be.oneOf(
            operation.mcp.tool === 'never'
              ? ['memory:read', 'memory:confirm', 'memory:admin', 'memory:audit', 'memory:reveal']
              : ['memory:read'],
          );
        } else expect(operation.scope).to.not.equal('memory:read');
        if (operation.effect === 'destructive')
          expect(operation.scope).to.be.oneOf(
            operation.mcp.tool === 'never' ? ['memory:forget', 'memory:erase', 'memory:admin'] : ['memory:forget', 'memory:erase'],
          );
        for (const { method, path } of operation.http) {
          if (method === 'GET') expect(operation.effect).to.equal('read');
          if (method === 'DELETE') expect(operation.effect).to.equal('destructive');
          expect(path).to.match(/^\/v1(\/[a-z]+|\/:[a-z_]+)+$/);
        }
      });

      it('names fields of its input wherever it names fields', () => {
        const { fields: shown, more = [], words = {} } = operation.mcp;
        expect(new Set([...shown, ...more])).to.have.length(shown.length + more.length);
        for (const path of [...shown, ...more, ...Object.keys(words)]) {
          // `filter.kind` shows a part of an object field
          const found = path.split('.').reduce<JsonSchema | undefined>((node, name) => node?.properties?.[name], schema);
          expect(found, path).to.be.an('object');
        }
        for (const binding of operation.http) {
          expect(fields).to.include.members(pathParameters(binding.path));
          expect(fields).to.include.members([...(binding.fields ?? [])]);
          if (binding.etag === true && binding.method !== 'GET') expect(fields).to.include('version');
        }
      });

      it('shows a tool every field that it requires', () => {
        if (operation.mcp.tool === 'never') return;
        const { required = [] } = z.toJSONSchema(operation.input, { io: 'input' });
        expect(operation.mcp.fields.map((path) => path.split('.')[0])).to.include.members(required);
      });

      it('has query parameters whose flat names do not collide', () => {
        for (const binding of operation.http.filter(({ method }) => method === 'GET' || method === 'DELETE')) {
          const names = queryParameters(operation, binding.fields, pathParameters(binding.path)).map(({ name }) => name);
          expect(new Set([...names, ...pathParameters(binding.path)])).to.have.length(names.length + pathParameters(binding.path).length);
        }
      });

      it('has examples that its input takes', () => {
        expect(operation.examples).to.have.length.at.least(1);
        for (const example of operation.examples) expect(operation.input.safeParse(example).error).to.equal(undefined);
      });

      it('answers an object with its trace id', () => {
        const output = z.toJSONSchema(operation.output, { io: 'output' }) as JsonSchema;
        expect(output.type).to.equal('object');
        expect(output.properties).to.have.property('trace_id');
      });
    });
});
