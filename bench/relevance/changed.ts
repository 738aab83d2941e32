/** Facts that changed: pairs of an old and a new statement, and how often the new one comes first. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpClient } from '../support/http-client.ts';
import { batchBody, sendBatch } from '../support/import.ts';
import { askAll } from './ask.ts';

const NAMESPACE = 'changed.facts';
const FILE = join(import.meta.dirname, 'changed-facts.jsonl');
const ASKED_AT = '2026-01-01T00:00:00Z';
const OLD_AT = '2025-09-01T00:00:00Z';
const NEW_AT = '2025-12-10T00:00:00Z';

interface ChangedFact {
  readonly language: 'zh' | 'en';
  readonly question: string;
  readonly old: string;
  readonly new: string;
}

export interface ChangedFigures {
  readonly profile: string;
  /** Share of pairs whose new statement stands before the old one. */
  readonly zh: number;
  readonly en: number;
}

const facts = (): ChangedFact[] =>
  readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ChangedFact);

/** Writes all pairs into one namespace, every other one newest first, and gives the documents by memory id. */
export async function writeChanged(client: HttpClient): Promise<Map<string, string>> {
  const items = facts().flatMap(({ old, new: changed }, i) => {
    const pair = [
      { content: old, occurred_at: OLD_AT, document: `old-${i}` },
      { content: changed, occurred_at: NEW_AT, document: `new-${i}` },
    ];
    return i % 2 === 0 ? pair : pair.reverse();
  });
  const body = items.map(({ content, occurred_at }) => ({ content, occurred_at, namespace: NAMESPACE, admission: 'keep' }));
  const ids = await sendBatch(client, batchBody(body));
  return new Map(ids.map((id, i) => [id, items[i]?.document ?? '']));
}

export async function changedFigures(client: HttpClient, documents: ReadonlyMap<string, string>, profile: string): Promise<ChangedFigures> {
  const pairs = facts();
  const questions = pairs.map(({ question }) => ({ query: question, namespace: NAMESPACE, asked_at: ASKED_AT }));
  const found = await askAll(client, `changed facts, ${profile}`, questions, documents, { profile, min_score: 0 });
  const share = (language: 'zh' | 'en'): number => {
    const right = pairs.flatMap(({ language: of }, i) => {
      if (of !== language) return [];
      const ranks = [`new-${i}`, `old-${i}`].map((id) => found[i]?.documents.indexOf(id) ?? -1) as [number, number];
      return [ranks[0] >= 0 && (ranks[1] < 0 || ranks[0] < ranks[1])];
    });
    return right.filter(Boolean).length / right.length;
  };
  return { profile, zh: share('zh'), en: share('en') };
}
