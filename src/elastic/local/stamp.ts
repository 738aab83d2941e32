/** The stamp that marks a finished cache folder and lists its files, so that a cut-short or damaged one is seen and rebuilt. */
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

const STAMP_FILE = 'complete.json';

type Sizes = Readonly<Record<string, number>>;

/** Writes the stamp: the size in bytes of every file now in the folder. Call it last, before the folder is renamed into place. */
export async function writeStamp(folder: string): Promise<void> {
  await writeFile(join(folder, STAMP_FILE), JSON.stringify(await sizesOf(folder), null, 1));
}

/** True when the folder has a stamp and every file it lists is there with its size. */
export async function isComplete(folder: string): Promise<boolean> {
  try {
    const sizes = JSON.parse(await readFile(join(folder, STAMP_FILE), 'utf8')) as Sizes;
    const fits = await Promise.all(Object.entries(sizes).map(async ([path, bytes]) => (await stat(join(folder, path))).size === bytes));
    return fits.length > 0 && fits.every(Boolean);
  } catch {
    return false; // no stamp, a broken one, or a file gone
  }
}

async function sizesOf(folder: string): Promise<Sizes> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes: Record<string, number> = {};
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) sizes[relative(folder, path)] = (await stat(path)).size;
  }
  return sizes;
}
