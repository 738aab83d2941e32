/** What the bench asks of every side it measures, the product's own among them. */
import type { BenchEngine } from '../support/engine.ts';
import type { PeerJob } from './job.ts';

export interface PeerContext {
  /** A folder of this peer and set, empty at the start and removed at the end. */
  readonly folder: string;
  /** Base URL of the OpenAI-compatible embedder. */
  readonly embeddingsUrl: string;
  readonly engine: BenchEngine;
  /** Prefix for indices; all under it are removed at the end. */
  readonly indexPrefix: string;
}

export interface PeerAnswers {
  /** Documents it did not store. */
  readonly refused: number;
  /** One call for each document, in order, ms. */
  readonly writeMs: readonly number[];
  /** One search for each question, in order, first asking, ms. */
  readonly searchMs: readonly number[];
  /** Document ids for each question, best first, each once. */
  readonly ranked: readonly (readonly string[])[];
  /** Further figures of this peer alone. */
  readonly extra?: Readonly<Record<string, number>>;
}

export interface Peer {
  readonly name: string;
  /** Short name for --peers and for files. */
  readonly id: string;
  /** Why it cannot be measured like the others; one that was tried and is told of. */
  readonly absent?: string;
  /** Its setting and how it is called, for the report. */
  readonly setting: string;
  /** What its figures hang on beside the job: they are measured again when it changes. */
  readonly fingerprint: () => string;
  /** Installs it where it isn't yet; its version. Throws PeerUnavailable with the reason. */
  readonly prepare: (work: string) => Promise<string>;
  readonly run: (job: PeerJob, context: PeerContext) => Promise<PeerAnswers>;
}

/** Why a peer has no figures; the message stands in the report. */
export class PeerUnavailable extends Error {}
