import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { expect } from 'chai';
import { SCOPES } from '../../../src/domain/principal.ts';
import { createTools } from '../../../src/mcp/tools.ts';
import { operations } from '../../../src/operations/index.ts';

const everything = new Set<string>(SCOPES);
const all = createTools(operations, { prefix: '', tools: 'all' });

type Schema = { readonly description?: string; readonly properties?: Record<string, Schema>; readonly [keyword: string]: unknown };

describe('mcp/tools', () => {
  it('lists the default tools, and the rest on demand, in the order of the registry', () => {
    const names = (tools: 'default' | 'all'): string[] =>
      createTools(operations, { prefix: '', tools })
        .list(everything)
        .map(({ name }) => name);
    expect(names('all')).to.deep.equal(operations.filter(({ mcp }) => mcp.tool !== 'never').map(({ name }) => name));
    expect(names('default')).to.deep.equal(operations.filter(({ mcp }) => mcp.tool === 'default').map(({ name }) => name));
    expect(names('all').length).to.be.above(names('default').length);
  });

  it('takes some fields with MCP_TOOLS=all only, and says of a field what the operation has in few words', () => {
    const fieldsOf = (tools: 'default' | 'all'): readonly string[] => [
      ...(createTools(operations, { prefix: '', tools }).find('memory_search')?.fields ?? []),
    ];
    expect(fieldsOf('default')).to.include('include_superseded').and.to.not.include('explain');
    expect(fieldsOf('all')).to.include.members(['include_superseded', 'explain']);
    const { properties } = all.list(everything).find(({ name }) => name === 'memory_write')?.inputSchema as Schema;
    expect(properties?.['wait']?.description).to.equal('Until searchable');
    expect(properties?.['source']?.properties?.['uri']?.description).to.equal('Address');
  });

  it('does not find what it does not show', () => {
    expect(createTools(operations, { prefix: '', tools: 'default' }).find('memory_list')).to.equal(undefined);
    expect(all.find('memory_list')?.operation.name).to.equal('memory_list');
  });

  it('puts the prefix before every name and knows no tool without it', () => {
    const tools = createTools(operations, { prefix: 'team.', tools: 'all' });
    for (const { name } of tools.list(everything)) expect(name).to.match(/^team\.memory_[a-z]+$/);
    expect(tools.find('memory_search')).to.equal(undefined);
    expect(tools.find('team.memory_search')?.operation.name).to.equal('memory_search');
  });

  it('lists what the scopes allow', () => {
    expect(all.list(new Set())).to.deep.equal([]);
    for (const scope of SCOPES)
      expect(all.list(new Set([scope])).map(({ name }) => all.find(name)?.operation.scope)).to.satisfy((scopes: string[]) =>
        scopes.every((needed) => needed === scope),
      );
  });

  for (const listing of all.list(everything)) {
    const operation = all.find(listing.name)?.operation;

    describe(listing.name, () => {
      const input = listing.inputSchema as Schema;

      it('shows the declared fields, each described, and allows no other', () => {
        const declared = new Set([...(operation?.mcp.fields ?? []), ...(operation?.mcp.more ?? [])].map((field) => field.split('.')[0]));
        expect(Object.keys(input.properties ?? {})).to.have.members([...declared]);
        for (const [name, property] of Object.entries(input.properties ?? {})) {
          expect(property.description, name).to.match(/\S/);
          for (const [part, nested] of Object.entries(property.properties ?? {}))
            expect(nested.description, `${name}.${part}`).to.match(/\S/);
        }
        expect(input['additionalProperties']).to.equal(false);
      });

      it('names no dialect and no pattern', () => {
        expect(JSON.stringify([listing.inputSchema, listing.outputSchema])).to.not.match(/"\$schema"|"\$ref"|"pattern"/);
      });

      it('gives every array its items, which some model APIs insist on', () => {
        const walk = (node: Schema): void => {
          if (node['type'] === 'array') expect(node['items']).to.have.property('type');
          for (const child of Object.values(node.properties ?? {})) walk(child);
        };
        walk(input);
      });

      it('accepts the operation’s own examples that use no other field', () => {
        const validate = new AjvJsonSchemaValidator().getValidator(listing.inputSchema);
        const fields = all.find(listing.name)?.fields ?? new Set();
        const examples = (operation?.examples ?? []).filter((example) => Object.keys(example).every((field) => fields.has(field)));
        expect(examples).to.not.have.length(0);
        for (const example of examples) expect(validate(example).errorMessage, JSON.stringify(example)).to.equal(undefined);
        expect(validate({ ...examples[0], undeclared: 1 }).valid).to.equal(false);
      });

      it('gives all four hints', () => {
        expect(listing.annotations).to.deep.equal({
          readOnlyHint: operation?.effect === 'read',
          destructiveHint: operation?.effect === 'destructive',
          idempotentHint: operation?.idempotent,
          openWorldHint: false,
        });
      });

      it('lists names and types of its answer and nothing else', () => {
        expect(Object.keys(listing.outputSchema.properties)).to.include.members([...(operation?.mcp.answer ?? [])]);
        for (const property of Object.values(listing.outputSchema.properties)) expect(Object.keys(property)).to.deep.equal(['type']);
        expect(listing.outputSchema.properties).to.have.property('trace_id');
      });
    });
  }

  it('shows only the parts of an object field that are declared part by part', () => {
    const search = operations.filter(({ name }) => name === 'memory_search');
    const [operation] = search.map((one) => ({ ...one, mcp: { ...one.mcp, fields: ['query', 'filter.kind', 'filter.created'] } }));
    const tools = createTools(operation === undefined ? [] : [operation], { prefix: '', tools: 'default' });
    const { filter } = (tools.list(everything)[0]?.inputSchema as Schema).properties ?? {};
    expect(Object.keys(filter?.properties ?? {})).to.deep.equal(['kind', 'created']);
    expect([...(tools.find('memory_search')?.fields ?? [])]).to.deep.equal(['query', 'filter']);
  });

  it('refuses a declared field that the operation does not have', () => {
    const search = operations.filter(({ name }) => name === 'memory_search');
    for (const field of ['nothing', 'filter.nothing']) {
      const broken = search.map((operation) => ({ ...operation, mcp: { ...operation.mcp, fields: [field] } }));
      expect(() => createTools(broken, { prefix: '', tools: 'all' })).to.throw('memory_search declares the field nothing');
    }
  });
});
