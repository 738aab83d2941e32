/** The check of the audit log: follows every chain of a snapshot, holds it against the signed anchors, and says where it breaks. */
import {
  SERVICE_TENANT,
  type AuditFault,
  type AuditFaultKind,
  type AuditHead,
  type AuditRecord,
  type AuditReport,
  type AuditSnapshot,
} from '../../domain/audit.ts';
import type { AnchorKey } from './anchor-key.ts';
import { readKeyChanges, signerOf, type SignedLate } from './key-changes.ts';
import { chainOf, genesisOf, hashOf, recordId } from './record.ts';

const FAULTS_NAMED = 100;
/** Heads looked up in one call. */
const HEADS_AT_ONCE = 500;

/** What is known of a chain while the log is walked. */
interface Known {
  /** Last record there is; 0 when there is none. */
  last: number;
  counted: boolean;
  /** Highest seq that a signed record vouches for. */
  anchored: number;
  /** Seq at which the process signed off; undefined while it has not. */
  stopped: number | undefined;
  /** Of a service chain: its first record is a start with a good signature. */
  begun: boolean;
  /** Of a service chain: its records that are signed with a key nobody here has. */
  unknown: Run | undefined;
  /** Of a service chain: its records that are signed with a former secret after that was replaced. */
  late: Run | undefined;
  /** Of a service chain: the key of its first signed record; a process has one. */
  keyId: string | undefined;
}

interface Run {
  readonly first: number;
  readonly last: number;
}

/**
 * Checks the chains of one tenant, and those of the service for the anchors in them; without a tenant, all. What is counted are the
 * tenant's chains and the anchors. A torn tail (the process was killed) is no fault: its records link up to the last one there is, and no
 * anchor knows of more. Errors: ERR_STORE_*, or the reason of `signal`: a log of years takes minutes, and a caller may have left.
 */
export async function verifyAudit(
  snapshot: AuditSnapshot,
  key: AnchorKey,
  tenant: string | undefined,
  signal?: AbortSignal,
): Promise<AuditReport> {
  const check = new Check(snapshot, key, tenant, await readKeyChanges(snapshot, key, signal));
  for (const whose of tenant === undefined ? [undefined] : [SERVICE_TENANT, tenant]) await check.walk(whose, signal);
  return check.report();
}

class Check {
  readonly #snapshot: AuditSnapshot;
  readonly #key: AnchorKey;
  readonly #tenant: string | undefined;
  readonly #isLate: SignedLate;
  readonly #chains = new Map<string, Known>();
  readonly #faults: AuditFault[] = [];
  #faultCount = 0;
  #records = 0;
  #anchors = 0;
  #heads: { head: AuditHead; stop: boolean }[] = [];

  constructor(snapshot: AuditSnapshot, key: AnchorKey, tenant: string | undefined, isLate: SignedLate) {
    this.#isLate = isLate;
    this.#snapshot = snapshot;
    this.#key = key;
    this.#tenant = tenant;
  }

  async walk(whose: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    let before: AuditRecord | undefined;
    for await (const { id, record } of this.#snapshot.records(whose)) {
      signal?.throwIfAborted();
      // an edited document may hold anything
      if (typeof record.chain !== 'string' || !Number.isSafeInteger(record.seq)) {
        const seq = Math.trunc(Number(record.seq));
        this.#fault('edited', String(record.chain), Number.isSafeInteger(seq) ? seq : 0);
        continue;
      }
      const known = this.#chain(record.chain);
      known.counted = this.#tenant === undefined || whose === this.#tenant;
      if (known.counted) this.#records += 1;
      this.#follow(record, id, before?.chain === record.chain ? before : undefined);
      known.last = Math.max(known.last, record.seq);
      if (record.tenant === SERVICE_TENANT && record.signature !== undefined) this.#vouch(record, known);
      if (this.#heads.length >= HEADS_AT_ONCE) await this.#lookUpHeads();
      before = record;
    }
    await this.#lookUpHeads();
  }

  report(): AuditReport {
    let open = 0;
    let unanchored = 0;
    let chains = 0;
    for (const [chain, known] of this.#chains) {
      const { last, counted, anchored } = known;
      const service = this.#chain(serviceChainOf(chain));
      // a chain that its process did not name when it signed off was not there
      const stopped = known.stopped ?? (service.stopped === undefined ? undefined : 0);
      // the chain is the tenant's, or its truth decides about the tenant's
      if (anchored > last) this.#fault('truncated', chain, last + 1, anchored);
      if (known.unknown !== undefined) this.#fault('unknown_key', chain, known.unknown.first, known.unknown.last);
      if (known.late !== undefined) this.#fault('former_key', chain, known.late.first, known.late.last);
      // whether somebody made up what an unknown key began cannot be told; of a service chain that came too late it is told above
      const told = service.unknown !== undefined || known.late !== undefined;
      if (last > 0 && !service.begun && !told) this.#fault(service.late === undefined ? 'forged' : 'former_key', chain, 1, last);
      else if (stopped !== undefined && last > stopped) this.#fault('forged', chain, stopped + 1, last);
      if (!counted || last === 0) continue;
      chains += 1;
      if (stopped !== undefined) continue;
      open += 1;
      unanchored += Math.max(0, last - anchored);
    }
    return {
      chains,
      records: this.#records,
      anchors: this.#anchors,
      open_chains: open,
      unanchored,
      faults: this.#faults,
      fault_count: this.#faultCount,
    };
  }

  #chain(chain: string): Known {
    const known = this.#chains.get(chain);
    if (known !== undefined) return known;
    const made: Known = {
      last: 0,
      counted: false,
      anchored: 0,
      stopped: undefined,
      begun: false,
      unknown: undefined,
      late: undefined,
      keyId: undefined,
    };
    this.#chains.set(chain, made);
    return made;
  }

  #follow(record: AuditRecord, id: string, before: AuditRecord | undefined): void {
    const { chain, seq } = record;
    const expected = (before?.seq ?? 0) + 1;
    if (seq > expected) this.#fault('missing', chain, expected, seq - 1);
    if (seq < expected) this.#fault('broken', chain, seq);
    else if (hashOf({ ...record }) !== record.hash || id !== recordId(chain, seq) || isOddlySigned(record))
      this.#fault('edited', chain, seq);
    else if (seq === expected && record.prev_hash !== (before?.hash ?? genesisOf(chain))) this.#fault('broken', chain, seq);
  }

  /** Takes the word of a start, anchor or stop record. */
  #vouch(record: AuditRecord, known: Known): void {
    const { chain, seq, signature } = record;
    const heads = Array.isArray(record.heads) ? (record.heads as readonly AuditHead[]) : [];
    known.keyId ??= record.key_id;
    if (record.key_id !== known.keyId) return this.#fault('forged', chain, seq);
    const key = signerOf(this.#key, record);
    if (key === undefined) {
      known.unknown = { first: known.unknown?.first ?? seq, last: seq };
      return;
    }
    // the hash of what stands there, not the one it claims: an edited anchor vouches for nothing
    if (!key.verifies(hashOf({ ...record }), String(signature))) return this.#fault('forged', chain, seq);
    // whoever holds a secret that was replaced could have made this up
    if (known.late !== undefined || this.#isLate(record, seq === 1)) {
      known.late = { first: known.late?.first ?? seq, last: seq };
      return;
    }
    this.#anchors += 1;
    known.anchored = Math.max(known.anchored, seq);
    if (record.record_type === 'start' && seq === 1) known.begun = true;
    const stop = record.record_type === 'stop';
    if (stop) known.stopped = seq;
    for (const head of heads) if (this.#concerns(head.chain)) this.#heads.push({ head, stop: stop && head.chain !== chain });
  }

  #concerns(chain: string): boolean {
    if (this.#tenant === undefined) return true;
    const process = processOf(chain);
    return chain === chainOf(process, this.#tenant) || chain === chainOf(process, SERVICE_TENANT);
  }

  async #lookUpHeads(): Promise<void> {
    const heads = this.#heads;
    this.#heads = [];
    if (heads.length === 0) return;
    const hashes = await this.#snapshot.hashes(heads.map(({ head }) => recordId(head.chain, head.seq)));
    for (const { head, stop } of heads) {
      const known = this.#chain(head.chain);
      const hash = hashes.get(recordId(head.chain, head.seq));
      if (hash !== undefined && hash !== head.hash) this.#fault('rewritten', head.chain, head.seq);
      known.anchored = Math.max(known.anchored, head.seq);
      if (stop) known.stopped = head.seq;
    }
  }

  #fault(kind: AuditFaultKind, chain: string, seq: number, toSeq = seq): void {
    this.#faultCount += 1;
    if (this.#faults.length < FAULTS_NAMED) this.#faults.push({ kind, chain, seq, ...(toSeq === seq ? {} : { to_seq: toSeq }) });
  }
}

/** The one field that no hash covers; only the service's own records have it. */
const isOddlySigned = ({ tenant, signature }: AuditRecord): boolean => tenant !== SERVICE_TENANT && signature !== undefined;

const processOf = (chain: string): string => chain.split('-')[0] ?? '';
const serviceChainOf = (chain: string): string => chainOf(processOf(chain), SERVICE_TENANT);
