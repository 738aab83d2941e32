/** Bearer token -> Principal, before any byte of a body is read. */
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import type { HttpConfig } from './http-config.ts';
import { soleHeader } from './origin-check.ts';
import type { HttpMiddleware } from './request-state.ts';
import { whenClosed } from './when-closed.ts';

export interface TokenVerifier {
  /** ERR_AUTH_INVALID for a token that is not accepted, ERR_AUTH_KEYS_UNAVAILABLE when that cannot be decided. */
  verify(token: string): Promise<Principal>;
  /** Calls `end` when the token ends or is revoked, until the answered function is called. */
  hold?(principal: Principal, end: () => void): () => void;
}

/** RFC 6750, section 2.1, with the scheme in any case (RFC 9110, section 11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Every path that is not declared open needs a token, unknown ones too; a token is read from the Authorization header alone. */
export function authenticate(verifier: TokenVerifier): HttpMiddleware {
  return async (ctx, next) => {
    if (ctx.state.route.route?.access !== 'open') {
      if (ctx.req.headers.authorization === undefined) throw new HindsightError('ERR_AUTH_MISSING');
      const token = BEARER.exec(soleHeader(ctx, 'authorization') ?? '')?.[1];
      if (token === undefined) throw new HindsightError('ERR_AUTH_INVALID');
      const principal = await verifier.verify(token);
      ctx.state.principal = principal;
      // an answer that is on its way and does not end is a stream: it may not outlive its token
      const release = verifier.hold?.(principal, () => {
        if (ctx.res.headersSent && !ctx.res.writableEnded) ctx.res.destroy();
      });
      if (release !== undefined) whenClosed(ctx.res, release);
    }
    await next();
  };
}

/** Path of the RFC 9728 document that describes a resource path; '' is the service itself. */
export function metadataPath(resourcePath: string): string {
  return `/.well-known/oauth-protected-resource${resourcePath}`;
}

/**
 * WWW-Authenticate of an error response (RFC 6750, section 3; RFC 9728, section 5.1), or undefined. No `error` when no token was sent;
 * resource_metadata is absolute, because clients drop relative ones.
 */
export function challenge(error: HindsightError, mountPath: string, config: Pick<HttpConfig, 'publicUrl' | 'prm'>): string | undefined {
  const parts = ['realm="hindsight-es"'];
  switch (error.code) {
    case 'ERR_AUTH_MISSING':
      parts.push('scope="memory:read"');
      break;
    case 'ERR_AUTH_INVALID':
      parts.push('error="invalid_token"', 'scope="memory:read"');
      break;
    case 'ERR_SCOPE_MISSING':
      parts.push('error="insufficient_scope"', `scope="${error.params['scope'] ?? ''}"`);
      break;
    default:
      return undefined;
  }
  if (config.prm !== undefined) parts.push(`resource_metadata="${config.publicUrl}${metadataPath(mountPath)}"`);
  return `Bearer ${parts.join(', ')}`;
}
