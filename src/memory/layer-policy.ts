/** The layer policy (policies/layers.yaml): which layer a memory goes to and who may name which; read once at start. */
import { z } from 'zod';
import { KINDS, LAYERS, type Kind, type Layer } from '../domain/memory.ts';
import { ACTORS, type Actor } from '../domain/principal.ts';

const layer = z.enum(LAYERS);

export const layerPolicySchema = z.strictObject({
  version: z.int().min(1),
  kinds: z.partialRecord(z.enum(KINDS), layer),
  fallback: z.strictObject({ with_task: layer, with_subject: layer, otherwise: layer }),
  writable: z.record(z.enum(ACTORS), z.array(layer)),
});

export interface LayerPolicy {
  readonly version: number;
  readonly kinds: Readonly<Partial<Record<Kind, Layer>>>;
  readonly fallback: { readonly with_task: Layer; readonly with_subject: Layer; readonly otherwise: Layer };
  /** Layers a plain write of this actor may name. */
  readonly writable: Readonly<Record<Actor, readonly Layer[]>>;
}

/** The layer of an item that names none: by kind, else by task, else by subject. */
export function defaultLayer(
  policy: LayerPolicy,
  item: { readonly kind?: Kind | undefined; readonly task_id?: string | undefined; readonly subject?: string | undefined },
): Layer {
  const byKind = item.kind === undefined ? undefined : policy.kinds[item.kind];
  if (byKind !== undefined) return byKind;
  if (item.task_id !== undefined) return policy.fallback.with_task;
  return item.subject === undefined ? policy.fallback.otherwise : policy.fallback.with_subject;
}
