/** Whose tokens are accepted and what they grant: issuers, access policy and revocations, wired into the one verifier that http asks. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Principal } from '../domain/principal.ts';
import { accessPolicySchema } from '../gate/access-grants.ts';
import { createCredentialWatch, WATCH_EVERY_MS } from '../gate/credential-watch.ts';
import { openLocalIssuer } from '../gate/local-issuer.ts';
import { openRevocationsFile } from '../gate/revocations-file.ts';
import { createRevocations, type RevocationSource } from '../gate/revocations.ts';
import { createTokenVerifier, type TokenVerifier, type TrustedIssuer } from '../gate/token-verifier.ts';
import { loadPolicy } from '../policy.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface Auth {
  readonly localTokens: { readonly user: string; readonly agent: string } | undefined;
  /** The verifier; with revocations of other replicas too, where there is such a source. Its timer runs until it is closed. */
  verifier(shared: RevocationSource | undefined): HeldVerifier;
}

export interface HeldVerifier extends TokenVerifier {
  /** Calls `end` when the token of an open response ends or is revoked, until the answered function is called. */
  hold(principal: Principal, end: () => void): () => void;
  close(): void;
}

interface AuthParts {
  readonly policiesDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reads every file that decides about tokens. Throws ERR_CONFIG_INVALID for one that is damaged: nothing starts on half a policy. */
export async function openAuth(config: Config, { policiesDir, clock, logger }: AuthParts): Promise<Auth> {
  const access = loadPolicy(join(policiesDir, 'access.yaml'), accessPolicySchema);
  const { file, fileRequired, inRedis } = config.auth.revocations;
  const inFile = await openRevocationsFile({
    path: file,
    required: fileRequired,
    clock,
    onFault: (fault) => logger.error({ fault }, 'the revocations file cannot be read: the last good one still holds'),
  });
  const remote: readonly TrustedIssuer[] = config.auth.issuers.map(({ keys, ...issuer }) => ({
    ...issuer,
    jwks: 'url' in keys ? keys.url : keys,
  }));
  const local = config.local ? await openLocalIssuer(config, clock) : undefined;
  const localTokens = local && { user: await local.mintUserToken(), agent: await local.mintAgentToken() };
  const issuers = local === undefined ? remote : [...remote, local.trusted];
  return {
    localTokens,
    verifier: (shared) => {
      const revocations = createRevocations(inRedis && shared !== undefined ? [inFile, shared] : [inFile]);
      const watch = createCredentialWatch({
        clock,
        revocations,
        onUndecided: (err) => logger.warn({ err }, 'open streams could not be checked for revoked tokens'),
      });
      const timer = setInterval(() => void watch.sweep(), WATCH_EVERY_MS).unref();
      return {
        ...createTokenVerifier({ issuers, clock, access, revocations }),
        hold: (principal, end) => watch.hold(principal, end),
        close: () => clearInterval(timer),
      };
    },
  };
}
