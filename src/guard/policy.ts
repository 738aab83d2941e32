/** The trust policy (policies/trust.yaml): which tier a token and a source can reach; read once at start, used by the guard's stages. */
import { z } from 'zod';
import { SOURCE_TYPES } from '../domain/memory.ts';
import { ACTORS } from '../domain/principal.ts';
import { TIER_NAMES, type AnswerLeg } from '../domain/trust.ts';

const tier = z.enum(TIER_NAMES);

/** Complete by construction: an actor or source without a tier is refused at start. */
export const trustPolicySchema = z.strictObject({
  version: z.int().min(1),
  actors: z.record(z.enum(ACTORS), tier),
  sources: z.record(z.enum(SOURCE_TYPES), tier),
  failing_floor: tier,
  agent_answers: z.strictObject({ session: z.boolean(), retry: z.boolean() }).default({ session: true, retry: true }),
});

type Output = z.output<typeof trustPolicySchema>;

export interface TrustPolicy {
  readonly version: number;
  readonly actors: Readonly<Output['actors']>;
  readonly sources: Readonly<Output['sources']>;
  /** Lowest tier that reads return while a screening stage fails. */
  readonly failing_floor: Output['failing_floor'];
  /** Whether an answer that came this way with an agent's token is taken for its user's. */
  readonly agent_answers: Readonly<Record<AnswerLeg, boolean>>;
}
