/** What `serve --local` prints when it is ready: the address, the tokens (to a terminal only), an MCP configuration and two curl calls. */
import { join } from 'node:path';
import type { RunFile } from './run-file.ts';

export interface BannerFacts {
  readonly run: RunFile;
  readonly dataDir: string;
  readonly engine: string;
  readonly embedding: string;
  /** Seconds since the start. */
  readonly seconds: number;
}

/**
 * The whole text; without `terminal` every token is replaced by the place where it stands. The curl calls read theirs from
 * run.json in any case: so they can be pasted as they are, and no token gets into a shell's history.
 */
export function banner(facts: BannerFacts, terminal: boolean): string {
  const { run } = facts;
  const runFile = join(facts.dataDir, 'run.json');
  const user = `$(node -p 'require("${runFile}").token')`;
  const agent = terminal ? run.agent_token : `<agent_token in ${runFile}>`;
  const config = {
    mcpServers: { 'hindsight-es': { type: 'http', url: `${run.url}/mcp`, headers: { Authorization: `Bearer ${agent}` } } },
  };
  return `
hindsight-es is ready at ${run.url} (${facts.seconds.toFixed(1)} s; ${facts.engine}; ${facts.embedding})

${terminal ? `Token for curl and the page (actor user):\n${run.token}\n\nToken for MCP clients (actor agent: read, write, forget):\n${run.agent_token}` : `Tokens are printed only to a terminal; they stand in ${runFile}`}

MCP client configuration:
${JSON.stringify(config, null, 2)}

Write a memory:
curl -s ${run.url}/v1/memories -H "Authorization: Bearer ${user}" -H 'Content-Type: application/json' \\
  -d '{"content": "小王喜欢喝龙井茶，每天下午三点一杯。", "wait": true}'

Search:
curl -s ${run.url}/v1/memories/search -H "Authorization: Bearer ${user}" -H 'Content-Type: application/json' \\
  -d '{"query": "What does 小王 drink in the afternoon?", "top_k": 3}'

Stop with Ctrl-C. Data and logs: ${facts.dataDir}
`;
}
