/** A small reader for the files inside a jar (zip) that fits in memory; artifacts.ts takes the models out with it. */
import { inflateRawSync } from 'node:zlib';

const END_SIGNATURE = 0x06054b50;
const CENTRAL_SIGNATURE = 0x02014b50;
const END_MIN_BYTES = 22;
const COMMENT_MAX_BYTES = 0xffff;

/**
 * The content of one entry of a zip archive, or undefined when it has no such entry. Stored and deflated entries only,
 * no zip64 and no encryption. Throws a RangeError or Error on a broken archive.
 * Source: PKWARE APPNOTE 6.3.3, sections 4.3.7, 4.3.12 and 4.3.16.
 */
export function readZipEntry(archive: Buffer, name: string): Buffer | undefined {
  const end = findEnd(archive);
  const entries = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let i = 0; i < entries; i += 1) {
    if (archive.readUInt32LE(at) !== CENTRAL_SIGNATURE) throw new Error('zip: broken central directory');
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return readEntry(archive, at);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return undefined;
}

function readEntry(archive: Buffer, central: number): Buffer {
  const method = archive.readUInt16LE(central + 10);
  const packedBytes = archive.readUInt32LE(central + 20);
  const plainBytes = archive.readUInt32LE(central + 24);
  const local = archive.readUInt32LE(central + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(start, start + packedBytes);
  if (packed.length !== packedBytes) throw new Error('zip: entry is cut short');
  if (method !== 0 && method !== 8) throw new Error(`zip: compression method ${method} is not known`);
  const plain = method === 0 ? packed : inflateRawSync(packed);
  if (plain.length !== plainBytes) throw new Error('zip: entry has the wrong length');
  return plain;
}

function findEnd(archive: Buffer): number {
  const lowest = Math.max(0, archive.length - END_MIN_BYTES - COMMENT_MAX_BYTES);
  for (let at = archive.length - END_MIN_BYTES; at >= lowest; at -= 1) {
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at;
  }
  throw new Error('zip: no end record');
}
