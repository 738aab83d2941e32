/** The service's keys: two roots (SERVICE_SECRET, MASTER_KEY), everything else derived by HKDF; made once by compose. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { HindsightError } from '../errors.ts';
import { readOrCreateSecret } from './keys-file.ts';

const KEY_BYTES = 32;
/** RFC 5869 salt: a constant of this product and version, so that the same root gives other software other keys. */
const SALT = 'hindsight-es/keys/v1';

/** What each derived key is for, and the root it comes from. A label is never used for two purposes. */
export const KEY_LABELS = {
  cursor: 'service',
  plan: 'service',
  idempotency: 'service',
  transfer: 'service',
  'mcp-session': 'service',
  /** Keyed hashes of queries and contents in the audit log. */
  audit: 'service',
  /** Seed of the key that signs the audit log's anchors. */
  'audit-anchor': 'service',
  /** Wraps the tenants' keys. */
  seal: 'master',
} as const satisfies Record<string, 'service' | 'master'>;
export type KeyLabel = keyof typeof KEY_LABELS;

export interface Keys {
  /** 32 bytes by HKDF-SHA256 (RFC 5869); the same for the same root and label, and telling nothing about either. */
  deriveKey(label: KeyLabel): Buffer;
  /** The key of the label `seal` as MASTER_KEY_PREVIOUS gives it; undefined unless MASTER_KEY is being changed. */
  readonly previousSeal: Buffer | undefined;
  /** Keys of the label `audit-anchor` as SERVICE_SECRET_PREVIOUS gives them: for checks, never for signing. */
  readonly previousAnchors: readonly Buffer[];
}

type KeySources = Pick<Config, 'dataDir' | 'local' | 'serviceSecret' | 'masterKeyBase64' | 'masterKeyPreviousBase64'> &
  Partial<Pick<Config, 'serviceSecretsPrevious'>>;

/**
 * Roots from the configuration, else (local mode only: config refuses otherwise) from DATA_DIR/service.secret and
 * DATA_DIR/master.key, made there with mode 0600. Throws ERR_CONFIG_UNSAFE for files that others may read or that are damaged.
 */
export async function openKeys(config: KeySources): Promise<Keys> {
  const service = config.serviceSecret ?? (await ownSecret(config, 'service.secret'));
  const master = config.masterKeyBase64 ?? (await ownSecret(config, 'master.key'));
  const masterKey = Buffer.from(master, 'base64');
  if (masterKey.length !== KEY_BYTES || service.length < KEY_BYTES)
    throw new HindsightError('ERR_CONFIG_UNSAFE', {
      params: { detail: `the key files in ${config.dataDir} are damaged: restore them, or remove them to have new ones made` },
    });
  const roots = { service: Buffer.from(service, 'utf8'), master: masterKey };
  const derive = (root: Buffer, label: KeyLabel): Buffer => Buffer.from(hkdfSync('sha256', root, SALT, label, KEY_BYTES));
  const previous = config.masterKeyPreviousBase64;
  return {
    deriveKey: (label) => derive(roots[KEY_LABELS[label]], label),
    previousSeal: previous === undefined ? undefined : derive(Buffer.from(previous, 'base64'), 'seal'),
    previousAnchors: (config.serviceSecretsPrevious ?? []).map((secret) => derive(Buffer.from(secret, 'utf8'), 'audit-anchor')),
  };
}

async function ownSecret(config: Pick<Config, 'dataDir' | 'local'>, name: string): Promise<string> {
  if (!config.local)
    throw new HindsightError('ERR_CONFIG_UNSAFE', { params: { detail: 'SERVICE_SECRET and MASTER_KEY must be set outside local mode' } });
  const text = await readOrCreateSecret(join(config.dataDir, name), () => `${randomBytes(KEY_BYTES).toString('base64')}\n`);
  return text.trim();
}
