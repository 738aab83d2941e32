/** One pass over an import file before anything is sent: what it is, whether it is whole, and by which hash it is known. */
import { createHash } from 'node:crypto';
import { linesOf, openFile, type Line } from './lines.ts';

/** The manifest as it stands in the file: the service judges it. */
export type ManifestJson = Readonly<Record<string, unknown>> & { readonly count?: unknown; readonly sha256?: unknown };

export interface Survey {
  /** SHA-256 of the file as it is, in hexadecimal. */
  readonly hash: string;
  /** `export`: it has the head of an export file. */
  readonly kind: 'plain' | 'export';
  /** Lines that hold something, head and manifest not counted. */
  readonly rows: number;
  /** Of an export whose count and hash are right; undefined for plain files and for damaged ones. */
  readonly manifest: ManifestJson | undefined;
  /** Why an export is not whole. */
  readonly damage: 'cut off' | 'changed' | undefined;
}

/** Follows the lines of an export and says at the end whether its manifest tells the truth about them. */
export class ExportCheck {
  #digest = createHash('sha256');
  #last: Line | undefined;
  #lines = 0;
  #isExport = false;

  feed(line: Line): void {
    if (this.#last !== undefined) this.#digest.update(this.#last.bytes);
    if (line.number === 1) this.#isExport = line.text !== undefined && field(line.text, 'hindsight_export') !== undefined;
    this.#last = line;
    this.#lines += 1;
  }

  /** Undefined when the file has not the head of an export. */
  end(): { readonly manifest: ManifestJson } | { readonly damage: 'cut off' | 'changed' } | undefined {
    if (!this.#isExport) return undefined;
    const manifest =
      this.#last?.text === undefined ? undefined : (field(this.#last.text, 'hindsight_manifest') as ManifestJson | undefined);
    if (manifest === undefined) return { damage: 'cut off' };
    const whole = manifest.count === this.#lines - 2 && manifest.sha256 === this.#digest.digest('hex');
    return whole ? { manifest } : { damage: 'changed' };
  }
}

/** Whether a line is the head or the manifest of an export rather than a row. */
export function isFrame(text: string): boolean {
  return /^\{"hindsight_(?:export|manifest)":/.test(text);
}

/** Throws what reading the file throws, but for a compressed file that breaks off: that is damage. */
export async function surveyFile(path: string): Promise<Survey> {
  const hash = createHash('sha256');
  const check = new ExportCheck();
  let rows = 0;
  let broken = false;
  try {
    for await (const line of linesOf(await openFile(path, (bytes) => hash.update(bytes)))) {
      check.feed(line);
      if (line.text === undefined || (line.text.trim() !== '' && !isFrame(line.text))) rows += 1;
    }
  } catch (error) {
    if (!isBrokenGzip(error)) throw error;
    broken = true;
  }
  const found = check.end();
  const damage = broken ? 'cut off' : found !== undefined && 'damage' in found ? found.damage : undefined;
  const manifest = damage === undefined && found !== undefined && 'manifest' in found ? found.manifest : undefined;
  return { hash: hash.digest('hex'), kind: found === undefined ? 'plain' : 'export', rows, manifest, damage };
}

/** Z_BUF_ERROR: the end is missing; Z_DATA_ERROR: something in the middle is wrong. */
export function isBrokenGzip(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
}

function field(text: string, name: string): unknown {
  if (!isFrame(text)) return undefined;
  try {
    return (JSON.parse(text) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
