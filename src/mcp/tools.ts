/** The tools as every leg of MCP shows them: made once from the operations, before any transport is known. */
import type { AnyOperation } from '../operations/define.ts';
import { declaredFields, inputSchemaOf, outputSchemaOf, type ObjectSchema, type ToolChoice } from './tool-schema.ts';

/** One entry of tools/list. */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

export interface Tool {
  readonly operation: AnyOperation;
  readonly listing: ToolListing;
  /** Top-level fields that a call may carry. */
  readonly fields: ReadonlySet<string>;
}

export interface ToolSet {
  /** What a caller with these scopes may call, in the order of the registry; the same for every tenant. */
  list(scopes: ReadonlySet<string>): ToolListing[];
  /** By the name that tools/list shows; a tool that is not shown at all is not found either. */
  find(name: string): Tool | undefined;
}

export interface ToolOptions {
  /** Stands before every name. */
  readonly prefix: string;
  readonly tools: ToolChoice;
}

export function createTools(operations: readonly AnyOperation[], { prefix, tools }: ToolOptions): ToolSet {
  const shown = operations
    .filter(({ mcp }) => mcp.tool === 'default' || (mcp.tool === 'all' && tools === 'all'))
    .map((operation): Tool => ({
      operation,
      listing: listingOf(operation, prefix, tools),
      fields: new Set(declaredFields(operation, tools).keys()),
    }));
  const byName = new Map(shown.map((tool) => [tool.listing.name, tool]));
  return {
    list: (scopes) => shown.filter(({ operation }) => scopes.has(operation.scope)).map(({ listing }) => listing),
    find: (name) => byName.get(name),
  };
}

/** All four hints are given, because two of them are true where they are left out (MCP 2025-11-25, ToolAnnotations). */
function listingOf(operation: AnyOperation, prefix: string, tools: ToolChoice): ToolListing {
  return Object.freeze({
    name: `${prefix}${operation.name}`,
    title: operation.title,
    description: operation.description,
    inputSchema: inputSchemaOf(operation, tools),
    outputSchema: outputSchemaOf(operation),
    annotations: {
      readOnlyHint: operation.effect === 'read',
      destructiveHint: operation.effect === 'destructive',
      idempotentHint: operation.idempotent,
      openWorldHint: false,
    },
  });
}
