/** The policies of duplicates and conflicts (policies/slots.yaml, policies/duplicates.yaml): read once at start, used wherever two texts are compared. */
import { join } from 'node:path';
import { z } from 'zod';
import { KINDS, type Kind } from '../../domain/memory.ts';
import { loadPolicy, type DeepReadonly } from '../../policy.ts';
import { fold } from '../../text/analyze.ts';

const name = z.string().min(1).max(128);
const unit = z.number().min(0).max(1);

const slotsSchema = z.strictObject({
  version: z.int().min(1),
  kinds: z.array(z.enum(KINDS)),
  aliases: z.record(name, z.array(name)),
  multi_valued: z.array(name),
});

const duplicatesSchema = z.strictObject({
  version: z.int().min(1),
  lexical: z.strictObject({ candidates: z.int().min(1).max(50), overlap: unit }),
  vector: z.strictObject({ neighbours: z.int().min(1).max(50), spaces: z.record(name, unit), otherwise: unit }),
});

/** What relationOf and inferSlot go by. */
export interface RelationPolicy {
  /** Kinds whose subject and topic hold one value. */
  readonly kinds: ReadonlySet<Kind>;
  /** Canonical topic by every name it has, folded. */
  readonly topics: ReadonlyMap<string, string>;
  /** Canonical topics with several values at once. */
  readonly multiValued: ReadonlySet<string>;
  readonly duplicates: DeepReadonly<z.output<typeof duplicatesSchema>>;
}

/** @throws ERR_CONFIG_INVALID naming the file and what is wrong in it. */
export function loadRelationPolicy(policiesDir: string): RelationPolicy {
  const slots = loadPolicy(join(policiesDir, 'slots.yaml'), slotsSchema);
  const topics = new Map<string, string>();
  for (const [canonical, others] of Object.entries(slots.aliases))
    for (const one of [canonical, ...others]) topics.set(folded(one), folded(canonical));
  return {
    kinds: new Set(slots.kinds),
    topics,
    multiValued: new Set(slots.multi_valued.map(folded)),
    duplicates: loadPolicy(join(policiesDir, 'duplicates.yaml'), duplicatesSchema),
  };
}

/** NFKC, lower case, single spaces: how names of subjects and topics are compared. */
export function folded(text: string): string {
  return fold(text).replace(/\s+/gu, ' ').trim();
}

/** The one name of a topic, whatever it is called; a topic without aliases keeps its own. */
export function canonicalTopic(policy: RelationPolicy, topic: string): string {
  const own = folded(topic);
  return policy.topics.get(own) ?? own;
}
