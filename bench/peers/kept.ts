/** Figures of earlier runs, a file for each peer and set: a run that was broken off goes on where it was, and one peer can be measured again alone. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PeerJob } from './job.ts';
import type { Peer, PeerAnswers } from './peer.ts';

const keptSchema = z.object({
  job: z.string(),
  peer: z.string(),
  version: z.string(),
  date: z.string(),
  /** One-minute load average before the run. */
  load: z.number(),
  commit: z.string(),
  /** p50 of the embedder's own runs meanwhile, ms; null where the peer did not ask it. */
  embedder: z.object({ query: z.number().nullable(), passage: z.number().nullable() }),
  answers: z.object({
    refused: z.number(),
    writeMs: z.array(z.number()),
    searchMs: z.array(z.number()),
    ranked: z.array(z.array(z.string())),
    extra: z.record(z.string(), z.number()).default({}),
  }),
});
type Stored = z.output<typeof keptSchema>;
export type Kept = Omit<Stored, 'answers'> & { readonly answers: PeerAnswers };

export class KeptFigures {
  readonly #folder: string;

  constructor(work: string) {
    this.#folder = join(work, 'figures');
  }

  /** What is kept for this very job; undefined when there is nothing, or of other documents or questions. */
  read(peer: Peer, job: PeerJob): Kept | undefined {
    try {
      const kept = keptSchema.parse(JSON.parse(readFileSync(this.#path(peer, job), 'utf8')));
      return kept.job === job.fingerprint ? kept : undefined;
    } catch {
      return undefined; // none yet, or of an older bench
    }
  }

  write(peer: Peer, job: PeerJob, kept: Kept): void {
    mkdirSync(this.#folder, { recursive: true });
    const path = this.#path(peer, job);
    writeFileSync(`${path}.draft`, JSON.stringify(kept));
    renameSync(`${path}.draft`, path);
  }

  #path(peer: Peer, job: PeerJob): string {
    return join(this.#folder, `${peer.id}-${job.set}.json`);
  }
}
