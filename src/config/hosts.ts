/** What counts as this machine, and which URLs configuration may hold; used by config alone. */
import { isIPv4 } from 'node:net';

/** True for names and addresses that only this machine can reach. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

/** Where clouds tell a machine its own credentials: nothing that this service asks lives there. URL.hostname has one spelling of each address. */
const METADATA_HOSTS: readonly RegExp[] = [
  /^169\.254\./,
  /^\[::ffff:a9fe:/,
  /^\[fe[89ab][0-9a-f]:/,
  /^\[fd00:ec2::/,
  /^metadata(?:\.google\.internal)?\.?$/,
];

/** The parsed URL when it has one of the protocols, no user name or password, and no link-local host; undefined otherwise. */
export function plainUrl(value: string, protocols: readonly string[] = ['http:', 'https:']): URL | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (METADATA_HOSTS.some((pattern) => pattern.test(url.hostname))) return undefined;
  return protocols.includes(url.protocol) && url.hostname !== '' && url.username === '' && url.password === '' ? url : undefined;
}

/** Keys decide who is believed: they come over TLS, or from this machine. */
export function isSafeKeysUrl(value: string): boolean {
  const url = plainUrl(value);
  return url !== undefined && (url.protocol === 'https:' || isLoopbackHost(url.hostname));
}
