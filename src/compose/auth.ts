/** Whose tokens are accepted: the configured issuers, and in local mode the issuer in DATA_DIR with its two printed tokens. */
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { openLocalIssuer } from '../gate/local-issuer.ts';
import type { TrustedIssuer } from '../gate/token-verifier.ts';

export interface Auth {
  readonly issuers: readonly TrustedIssuer[];
  readonly localTokens: { readonly user: string; readonly agent: string } | undefined;
}

export async function openAuth(config: Config, clock: Clock): Promise<Auth> {
  const remote: readonly TrustedIssuer[] = config.auth.issuers.map(({ jwksUrl, ...issuer }) => ({ ...issuer, jwks: jwksUrl }));
  if (!config.local) return { issuers: remote, localTokens: undefined };
  const local = await openLocalIssuer(config, clock);
  const [user, agent] = await Promise.all([local.mintUserToken(), local.mintAgentToken()]);
  return { issuers: [...remote, local.trusted], localTokens: { user, agent } };
}
