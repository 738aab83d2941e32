/** The one writer of a process's audit log: links records into chains and stores them in groups, the next when the last is acknowledged; what nobody waits for gathers a moment. */
import { setImmediate } from 'node:timers/promises';
import { SERVICE_TENANT, type AuditFacts, type AuditHead, type AuditLine, type AuditStore, type AuditTrail } from '../../domain/audit.ts';
import { isoTime, type Clock } from '../../domain/clock.ts';
import { HindsightError } from '../../errors.ts';
import type { AnchorKey } from './anchor-key.ts';
import { chainOf, genesisOf, spell } from './record.ts';

export interface TrailParts {
  readonly store: Pick<AuditStore, 'append' | 'lastAnchor'>;
  readonly key: AnchorKey;
  readonly clock: Clock;
  /** Unlike that of any other process, ever. */
  readonly processId: string;
  readonly policyRevision: string;
  /** Facts about the process for its start record. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Told when the log goes away and comes back. */
  readonly onState: (up: boolean, cause?: unknown) => void;
  /** Told of each record that was not taken. */
  readonly onDropped: () => void;
  /** Records that nobody waits for and that may queue; 10,000 unless given. */
  readonly maxQueued?: number;
}

/** Records of one bulk request, and the characters after which it is not filled further: bulk() must not cut it in two. */
const GROUP_RECORDS = 200;
const GROUP_CHARS = 1_000_000;
/** About 6 MB; at 100 reads a second a minute and a half. */
const QUEUED = 10_000;
const RETRY_MS = 1_000;
/** How long records that nobody waits for gather: one bulk request for each search would cost a search 20 % (two cores, one client). */
const LINGER_MS = 250;
/** Heads in one anchor. */
const ANCHOR_HEADS = 1_000;

interface Entry {
  readonly line: AuditLine;
  readonly done: (error?: HindsightError) => void;
  /** Somebody's answer waits for this record. */
  readonly waiting: boolean;
}

/** One at a time: begun again while it runs it is the same. */
function pause(sleep: (ms: number) => Promise<void>, then: () => void): (ms: number) => void {
  let running = false;
  return (ms) => {
    if (running) return;
    running = true;
    void sleep(ms).then(() => {
      running = false;
      then();
    });
  };
}

interface Chain {
  readonly chain: string;
  seq: number;
  hash: string;
  stored: AuditHead | undefined;
  anchoredSeq: number;
}

/** Begins with a start record that names the newest anchor of the log. Throws ERR_STORE_* when the log cannot be read. */
export async function openTrail(parts: TrailParts): Promise<AuditTrail> {
  const { store, key, clock, processId, policyRevision, sleep, onState, onDropped, maxQueued = QUEUED } = parts;
  const chains = new Map<string, Chain>();
  const byId = new Map<string, Chain>();
  const dropped = new Map<string, number>();
  let queue: Entry[] = [];
  let sending = false;
  let up = true;
  let idle: (() => void)[] = [];
  /** A signed record vouches for all before it in its own chain. */
  let lastSignedSeq = 0;
  let closed = false;

  const chainFor = (tenant: string): Chain => {
    const known = chains.get(tenant);
    if (known !== undefined) return known;
    const chain = chainOf(processId, tenant);
    const made: Chain = { chain, seq: 0, hash: genesisOf(chain), stored: undefined, anchoredSeq: 0 };
    chains.set(tenant, made);
    byId.set(chain, made);
    return made;
  };

  /** Answers the place in the chain. */
  const link = (facts: AuditFacts, done: Entry['done'] | undefined, sign?: (hash: string) => string): number => {
    const chain = chainFor(facts.tenant);
    const at = isoTime(clock());
    const line = spell(facts, { chain: chain.chain, seq: chain.seq + 1, prevHash: chain.hash, at, policyRevision }, sign);
    chain.seq = line.seq;
    chain.hash = line.hash;
    queue.push({ line, done: done ?? (() => undefined), waiting: done !== undefined });
    return line.seq;
  };

  const nextGroup = (): number => {
    let chars = 0;
    let size = 0;
    for (const { line } of queue) {
      chars += line.line.length;
      if (size > 0 && (size === GROUP_RECORDS || chars > GROUP_CHARS)) break;
      size += 1;
    }
    return size;
  };

  const pump = (): void => {
    if (sending || queue.length === 0) return;
    sending = true;
    void send().finally(() => {
      sending = false;
      if (queue.length > 0) return idle.length > 0 ? pump() : pumpWhenDue();
      for (const tell of idle) tell();
      idle = [];
    });
  };

  /**
   * A group that is full, that somebody waits for, or that cannot be stored for now goes at once: what comes while it is on its way makes the
   * next. To hold it back until more come costs a crowd more than the requests it saves: at 32 clients .82 and .85 of the writes a second
   * without an audit log (up to 25 ms), .91 and .93 without that (bench:audit, 5 rounds of 1,500 writes each, by turns).
   */
  const pumpWhenDue = (): void => {
    if (sending || queue.length === 0) return;
    if (queue.length >= GROUP_RECORDS || nextGroup() < queue.length || !up) return pump();
    if (queue.some(({ waiting }) => waiting)) return pump();
    linger(LINGER_MS);
  };

  // what has gathered by then, unless something else has sent it before
  const linger = pause(sleep, pump);

  const send = async (): Promise<void> => {
    const size = nextGroup();
    const group = queue.slice(0, size);
    try {
      await store.append(group.map(({ line }) => line));
    } catch (cause) {
      if (up) onState(false, cause);
      up = false;
      const error = new HindsightError('ERR_AUDIT_UNAVAILABLE', { cause });
      // they stay: what was done must be told when the log is back, though nobody waits for it any more
      for (const { done } of queue) done(error);
      for (const tell of idle) tell();
      idle = [];
      // nobody is left who would be told, and trying on would keep the process from ending
      if (closed) queue = [];
      else await sleep(RETRY_MS);
      return;
    }
    queue = queue.slice(size);
    for (const { line, done } of group) {
      const chain = byId.get(line.chain);
      if (chain !== undefined) chain.stored = line;
      done();
    }
    if (!up) onState(true);
    up = true;
    if (dropped.size > 0 && queue.length < maxQueued / 2) tellGaps();
  };

  const tellGaps = (): void => {
    for (const [tenant, count] of dropped) link({ record_type: 'gap', tenant, count, reason: 'queue full', outcome: 'failed' }, undefined);
    dropped.clear();
  };

  const signed = (facts: Pick<AuditFacts, 'record_type' | 'heads' | 'detail'>): void => {
    // not to be held back: it vouches for others
    link(
      { ...facts, tenant: SERVICE_TENANT, key_id: key.keyId },
      () => undefined,
      (hash) => key.sign(hash),
    );
    lastSignedSeq = chainFor(SERVICE_TENANT).seq;
  };

  /** Heads that are stored and that no anchor names yet. */
  const movedHeads = (): AuditHead[] => {
    const moved: AuditHead[] = [];
    for (const [tenant, chain] of chains) {
      const { stored } = chain;
      // an anchor would otherwise move the chain it stands in, and ask for the next one
      if (stored === undefined || stored.seq <= (tenant === SERVICE_TENANT ? lastSignedSeq : chain.anchoredSeq)) continue;
      moved.push({ chain: stored.chain, seq: stored.seq, hash: stored.hash });
    }
    return moved;
  };

  const anchorHeads = (): void => {
    const moved = movedHeads();
    for (let from = 0; from < moved.length; from += ANCHOR_HEADS) {
      const heads = moved.slice(from, from + ANCHOR_HEADS);
      signed({ record_type: 'anchor', heads });
      for (const head of heads) {
        const chain = byId.get(head.chain);
        if (chain !== undefined) chain.anchoredSeq = head.seq;
      }
    }
  };

  const last = await store.lastAnchor();
  signed({ record_type: 'start', ...(last === undefined ? {} : { heads: [last] }), detail: parts.about });
  pump();

  /** Takes a record that somebody waits for. */
  const take: AuditTrail['begin'] = (facts) => {
    if (closed) return { seq: 0, stored: Promise.reject(new HindsightError('ERR_AUDIT_UNAVAILABLE')) };
    let seq = 0;
    const stored = new Promise<void>((resolve, reject) => {
      seq = link(facts, (error) => (error === undefined ? resolve() : reject(error)));
    });
    return { seq, stored };
  };

  const settled = (): Promise<void> =>
    new Promise((resolve) => {
      if ((queue.length === 0 && !sending) || !up) return resolve();
      idle.push(resolve);
      pump();
    });

  return {
    get up() {
      return up;
    },
    append(facts, waiting) {
      if (closed && !waiting) return Promise.resolve();
      if (!waiting && queue.length >= maxQueued) {
        dropped.set(facts.tenant, (dropped.get(facts.tenant) ?? 0) + 1);
        onDropped();
        return Promise.resolve();
      }
      const stored = waiting ? take(facts).stored : Promise.resolve(void link(facts, undefined));
      pumpWhenDue();
      return stored;
    },
    begin(facts) {
      const taken = take(facts);
      // what it tells of is about to be sent, and takes longer: that goes first
      void setImmediate().then(pumpWhenDue);
      return taken;
    },
    flush: settled,
    anchor() {
      anchorHeads();
      pump();
    },
    async close() {
      closed = true;
      await settled();
      // who does not know where its chains end cannot sign for it: they stay open, as those of a killed process
      if (!up) return;
      const heads: AuditHead[] = [];
      for (const chain of chains.values()) {
        if (chain.stored === undefined) continue;
        heads.push({ chain: chain.chain, seq: chain.stored.seq, hash: chain.stored.hash });
        chain.anchoredSeq = chain.stored.seq;
      }
      for (let from = 0; from === 0 || from < heads.length; from += ANCHOR_HEADS)
        signed({ record_type: 'stop', heads: heads.slice(from, from + ANCHOR_HEADS) });
      pump();
      await settled();
    },
  };
}
