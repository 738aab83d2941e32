/** Whether a namespace takes anything new: asked before a text comes into working memory, which goes on without Elasticsearch. */
import type { NamespaceStore } from '../../domain/ports.ts';
import type { MemoryDeps } from '../deps.ts';

/** Known namespaces are answered from the cache; a store that is away holds no turn up for longer. */
const ANSWER_MS = 100;
const KEPT = 10_000;

/** Namespaces last seen with collecting off. */
const seenOff = new WeakMap<NamespaceStore, Set<string>>();

/** Without an answer in time what was last known holds. Never throws. */
export async function collects({ namespaces }: Pick<MemoryDeps, 'namespaces'>, tenant: string, namespace: string): Promise<boolean> {
  const off = seenOff.get(namespaces) ?? new Set<string>();
  seenOff.set(namespaces, off);
  const key = JSON.stringify([tenant, namespace]);
  const asked = namespaces.get(tenant, namespace).then(
    (record) => {
      if (record?.collect !== 'off') off.delete(key);
      else if (off.size < KEPT) off.add(key);
      return record?.collect !== 'off';
    },
    () => undefined,
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ANSWER_MS, undefined);
  });
  try {
    return (await Promise.race([asked, late])) ?? !off.has(key);
  } finally {
    clearTimeout(timer);
  }
}
