/** The part of a client address that is counted as one caller; used by rate-limiter alone. */
import { isIPv4, isIPv6 } from 'node:net';

/**
 * IPv4 as it is (also when it comes mapped into IPv6), IPv6 by its /64: one household or machine has that many addresses and
 * could use a new one for every call. Anything else is counted together.
 */
export function addressKey(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIPv4(bare)) return bare;
  if (!isIPv6(bare)) return 'unknown';
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(bare);
  const hex = dotted === null ? bare : bare.slice(0, dotted.index) + hexPair(dotted, 1) + ':' + hexPair(dotted, 3);
  const [head = '', tail] = hex.split('::');
  const left = groups(head);
  const right = groups(tail ?? '');
  const all = tail === undefined ? left : [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  const mapped = all.slice(0, 5).every((g) => g === 0) && all[5] === 0xffff;
  if (mapped)
    return all
      .slice(6)
      .map((g) => `${g >> 8}.${g & 255}`)
      .join('.');
  return `${all
    .slice(0, 4)
    .map((g) => g.toString(16))
    .join(':')}::/64`;
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((g) => Number.parseInt(g, 16));
}

function hexPair(dotted: RegExpExecArray, at: number): string {
  return (Number(dotted[at]) * 256 + Number(dotted[at + 1])).toString(16);
}
