/** The lines of a file or of standard input, compressed or not, with their numbers; what import and export read with. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without the line end; undefined when it is longer than any row may be. */
  readonly text: string | undefined;
  /** As it stands in the file, with the line end it has. */
  readonly bytes: Buffer;
}

/** A content of 32,000 characters, its vectors and metadata stay far below. */
const MAX_LINE_BYTES = 1_048_576;
const NEWLINE = 0x0a;

/** Every line, the last one also without a line end. A compressed stream that breaks off ends in an error after its last whole line. */
export async function* linesOf(stream: Readable): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let number = 0;
  const line = (bytes: Buffer): Line => {
    number += 1;
    const end = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
    const text = bytes.length > MAX_LINE_BYTES ? undefined : bytes.toString('utf8', 0, end).replace(/\r$/, '');
    return { number, text: number === 1 ? text?.replace(/^\ufeff/, '') : text, bytes };
  };
  for await (const chunk of stream) {
    let from = 0;
    const piece = chunk as Buffer;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      yield line(Buffer.concat([...rest, piece.subarray(from, at + 1)]));
      rest = [];
      from = at + 1;
    }
    if (from < piece.length) rest.push(piece.subarray(from));
  }
  if (rest.length > 0) yield line(Buffer.concat(rest));
}

/** A file's bytes, uncompressed where it is gzip (told by its first bytes, not by its name); `onBytes` sees them as they stand in the file. */
export async function openFile(path: string, onBytes?: (bytes: Buffer) => void): Promise<Readable> {
  const file = await open(path, 'r');
  const magic = Buffer.alloc(2);
  await file.read(magic, 0, 2, 0);
  await file.close();
  const raw = createReadStream(path);
  if (onBytes !== undefined) raw.on('data', (chunk) => onBytes(chunk as Buffer));
  return isGzip(magic) ? gunzipped(raw) : raw;
}

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Ends with the error of either side. */
export function gunzipped(raw: Readable): Readable {
  return pipeline(raw, createGunzip(), () => undefined);
}
