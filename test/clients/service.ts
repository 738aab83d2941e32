/** The whole service on a real engine with tokens of its own issuer, for clients that others wrote; prints where, ends with stdin. Tests only. */
import { startHashedService } from '../support/service.ts';

const service = await startHashedService({ MCP_PRM: 'on', RATE_LIMIT_PROFILE: 'bench' });
const [token, reader] = await Promise.all([
  service.mint({ actor: 'agent', scopes: ['memory:read', 'memory:write', 'memory:forget'] }),
  service.mint({ actor: 'agent', scopes: ['memory:read'] }),
]);
process.stdout.write(`${JSON.stringify({ url: service.url, token, reader })}\n`);
process.stdin.resume().once('end', () => {
  void service.close().then(() => process.exit(0));
});
