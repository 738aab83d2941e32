/** The whole service on a real engine, for REST clients that others wrote; prints url and token, ends with stdin. Tests only. */
import { SCOPES } from '../../src/domain/principal.ts';
import { startHashedService } from '../support/service.ts';

const service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench', CORS_ORIGINS: 'https://page.example' });
const token = await service.mint({ tenant: 'clients', scopes: [...SCOPES] });
process.stdout.write(`${JSON.stringify({ url: service.url, token })}\n`);
process.stdin.resume().once('end', () => {
  void service.close().then(() => process.exit(0));
});
