/** Read-your-writes: what was acknowledged before a read is in it. */
import type { MemoryDeps } from './deps.ts';

/** One refresh when there are acknowledged writes that no search has made visible yet. */
export async function makeVisible(deps: Pick<MemoryDeps, 'dirty' | 'index'>, tenant: string): Promise<void> {
  await deps.dirty.settle(tenant, () => deps.index.refresh(tenant));
}
