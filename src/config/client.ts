/** Configuration of a program that talks to a running service: where it is, and with which token; nothing of the service's own. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { HindsightError } from '../errors.ts';
import { plainUrl } from './hosts.ts';

export interface ClientConfig {
  readonly dataDir: string;
  /** Base URL without a trailing slash; undefined = the one in DATA_DIR/run.json. */
  readonly url: string | undefined;
  readonly token: string | undefined;
}

const MAX_TOKEN_FILE_BYTES = 16_384;

/**
 * From HINDSIGHT_URL, HINDSIGHT_TOKEN (or HINDSIGHT_TOKEN_FILE) and DATA_DIR; an empty value counts as absent.
 * Throws ERR_CONFIG_INVALID for a URL that is none and a token file that cannot be read; no value is repeated.
 */
export function clientConfig(env: Readonly<Record<string, string | undefined>>): ClientConfig {
  const value = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const url = value('HINDSIGHT_URL');
  if (url !== undefined && plainUrl(url) === undefined)
    throw fault('HINDSIGHT_URL (or --url) must be an http:// or https:// URL without user name or password');
  const file = value('HINDSIGHT_TOKEN_FILE');
  const token = value('HINDSIGHT_TOKEN') ?? (file === undefined ? undefined : readToken(file));
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) throw fault('HINDSIGHT_TOKEN (or --token) must be visible ASCII characters');
  return {
    dataDir: resolve(value('DATA_DIR') ?? join(value('HOME') ?? homedir(), '.hindsight-es')),
    url: url?.replace(/\/+$/, ''),
    token,
  };
}

function readToken(path: string): string {
  try {
    const text = readFileSync(path, 'utf8').slice(0, MAX_TOKEN_FILE_BYTES).trim();
    if (text !== '') return text;
  } catch {
    // the fault below names the variable; the path may be telling
  }
  throw fault('HINDSIGHT_TOKEN_FILE must name a readable, non-empty file');
}

function fault(detail: string): HindsightError {
  return new HindsightError('ERR_CONFIG_INVALID', { params: { detail } });
}
