/** The tools behind the 2026-07-28 leg: the same registry and the same call as on the others, failures told as that revision wants. */
import { toHindsightError } from '../errors.ts';
import type { Invoke } from '../operations/invoke.ts';
import { INSTRUCTIONS, serverInfo } from './about.ts';
import { RpcRefusal } from './modern-request.ts';
import type { ModernServer } from './modern.ts';
import { presentFailure, presentOutput } from './present.ts';
import { INVALID_PARAMS, type PromptSet } from './prompts.ts';
import { runTool } from './run-tool.ts';
import type { ToolSet } from './tools.ts';

export interface ModernParts {
  readonly tools: ToolSet;
  readonly prompts: PromptSet;
  readonly invoke: Invoke;
  readonly version: string;
}

/**
 * A missing scope is an HTTP 403 with the scope that the call needs (MCP 2026-07-28, authorization): clients of this revision ask for
 * more then. Every other failure of a call is a result that the model can read.
 */
export function createModernTools({ tools, prompts, invoke, version }: ModernParts): ModernServer {
  return {
    info: serverInfo(version),
    instructions: INSTRUCTIONS,
    listTools: ({ principal }) => tools.list(principal.scopes),
    listPrompts: ({ principal }) => prompts.list(principal.scopes),
    getPrompt: async (params, caller) => {
      try {
        const prompt = await prompts.get(params, caller);
        if (prompt !== undefined) return prompt;
      } catch (thrown) {
        const error = toHindsightError(thrown);
        throw error.status === 400 ? new RpcRefusal(400, INVALID_PARAMS, error.message) : error;
      }
      throw new RpcRefusal(400, INVALID_PARAMS, 'Unknown prompt');
    },
    callTool: async ({ name, arguments: args = {} }, caller, { confirm }) => {
      const tool = typeof name === 'string' ? tools.find(name) : undefined;
      if (tool === undefined) throw new RpcRefusal(400, -32602, 'Unknown tool');
      try {
        return { ...presentOutput(await runTool(invoke, tool, args, { ...caller, confirm })) };
      } catch (thrown) {
        const error = toHindsightError(thrown);
        if (error.code === 'ERR_SCOPE_MISSING' || error.code === 'ERR_CONFIRMATION_NEEDED') throw error;
        return { ...presentFailure(error, caller.traceId) };
      }
    },
  };
}
