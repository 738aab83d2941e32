/** The check that comes before everything: an old Node is told in a sentence, before a module fails to load. */
import { HindsightError } from '../errors.ts';

/** Throws ERR_NODE_VERSION when the running Node is older than 20.19. */
export function assertNodeVersion(found: string = process.versions.node): void {
  const [major = 0, minor = 0] = found.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new HindsightError('ERR_NODE_VERSION', { params: { found } });
}
