/** Puts chosen entries under their headings: what each costs of the budget, and the block itself; pure. */
import type { Layer } from '../../domain/memory.ts';
import type { BlockWords } from './policy.ts';
import { promptTokens } from './tokens.ts';

/** From general to near: rules first, what was said last right before the question. */
export const BLOCK_LAYERS: readonly Layer[] = ['strategic', 'semantic', 'episodic', 'working'];

export interface BlockEntry {
  readonly layer: Layer;
  /** One line, as it will stand in the block. */
  readonly line: string;
  readonly referenceOnly: boolean;
}

/** Tokens of one entry with its line end: whole ones, so that a block never costs more than the sum of its parts. */
export const entryTokens = (line: string): number => promptTokens(`${line}\n`);

/** What stands around the entries, were all of them chosen: head, note and headings, each with its line end. */
export function frameTokens(entries: readonly BlockEntry[], words: BlockWords): number {
  if (entries.length === 0) return 0;
  return frameOf(entries, words).reduce((sum, line) => sum + entryTokens(line), 0);
}

/** The block: '' without entries; ends without a line end. Entries of a layer stand in the order given. */
export function blockOf(entries: readonly BlockEntry[], words: BlockWords): string {
  if (entries.length === 0) return '';
  const lines = [...topOf(entries, words)];
  for (const layer of BLOCK_LAYERS) {
    const of = entries.filter((entry) => entry.layer === layer);
    if (of.length > 0) lines.push(words.sections[layer], ...of.map(({ line }) => line));
  }
  return lines.join('\n');
}

function frameOf(entries: readonly BlockEntry[], words: BlockWords): readonly string[] {
  const headings = BLOCK_LAYERS.filter((layer) => entries.some((entry) => entry.layer === layer)).map((layer) => words.sections[layer]);
  return [...topOf(entries, words), ...headings];
}

function topOf(entries: readonly BlockEntry[], words: BlockWords): readonly string[] {
  return [words.head, ...(entries.some(({ referenceOnly }) => referenceOnly) ? [words.reference_note] : [])];
}
