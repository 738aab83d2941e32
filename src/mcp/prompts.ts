/** The prompts as every leg of MCP shows them: the agent's instructions (operation memory_instructions), for clients that offer prompts. */
import type { AnyOperation } from '../operations/define.ts';
import { INSTRUCTION_LANGUAGES } from '../operations/instructions.ts';
import type { Invoke } from '../operations/invoke.ts';
import type { Caller } from './run-tool.ts';

/** JSON-RPC code for a prompt that is not there or an argument that does not fit (MCP, prompts). */
export const INVALID_PARAMS = -32602;

const OPERATION = 'memory_instructions';

/** One entry of prompts/list. */
interface PromptListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

export interface PromptSet {
  /** What a caller with these scopes may get. */
  list(scopes: ReadonlySet<string>): PromptListing[];
  /** A GetPromptResult, or undefined for a name that is not listed. Failures are those of invoke(). */
  get(params: Readonly<Record<string, unknown>>, caller: Caller): Promise<Record<string, unknown>> | undefined;
}

export function createPrompts(operations: readonly AnyOperation[], invoke: Invoke, prefix: string): PromptSet {
  const operation = operations.find(({ name }) => name === OPERATION);
  if (operation === undefined) throw new TypeError(`there is no operation ${OPERATION}`);
  const listing: PromptListing = Object.freeze({
    name: `${prefix}${OPERATION}`,
    title: operation.title,
    description: 'When to remember, when to recall, when not, and how to treat what comes back. 何时记住、何时回忆、如何看待记忆。',
    arguments: [{ name: 'lang', description: `${INSTRUCTION_LANGUAGES.join(' or ')}; en by default`, required: false }],
  });

  const get = async (args: unknown, { principal, traceId, signal }: Caller): Promise<Record<string, unknown>> => {
    const { title, text } = await invoke(operation, args, { principal, traceId, signal, idempotencyKey: undefined, route: OPERATION });
    return { description: title, messages: [{ role: 'user', content: { type: 'text', text } }] };
  };

  return {
    list: (scopes) => (scopes.has(operation.scope) ? [listing] : []),
    get: ({ name, arguments: args = {} }, caller) => (name === listing.name ? get(args, caller) : undefined),
  };
}
