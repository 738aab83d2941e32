/** Which statuses a read may show, by what it is for and who asks; the mandatory filter is made with these. */
import { DEFAULT_STATUSES, SEARCHABLE_STATUSES, STATUSES, type Status } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';

/** Listed and read by id besides; what waits for a person's decision is shown to people, not to agents or services, which read for a prompt. */
const SHOWN: readonly Status[] = [...SEARCHABLE_STATUSES, 'candidate'];
const SHOWN_TO_PEOPLE: readonly Status[] = [...SHOWN, 'pending'];

/** Statuses a search looks in: those asked for as far as a search may show them. */
export function searchStatuses(asked: readonly Status[] | undefined, includeSuperseded: boolean): readonly Status[] {
  const wanted = [...(asked ?? DEFAULT_STATUSES), ...(includeSuperseded ? (['superseded'] as const) : [])];
  return SEARCHABLE_STATUSES.filter((status) => wanted.includes(status));
}

/** Statuses that list and by-id reads may show to this principal. */
export function shownStatuses(principal: Principal): readonly Status[] {
  return principal.actor === 'user' ? SHOWN_TO_PEOPLE : SHOWN;
}

/** Statuses in which a version of a shown memory may have stood; one that was held back then is seen where held-back writes are decided on. */
export const VERSION_STATUSES: readonly Status[] = STATUSES.filter(
  (status) => status !== 'pending' && status !== 'quarantined' && status !== 'rejected',
);

/** Statuses a list shows: active and conflict unless others are asked for. */
export function listStatuses(principal: Principal, asked: readonly Status[] | undefined): readonly Status[] {
  const wanted = asked ?? DEFAULT_STATUSES;
  return shownStatuses(principal).filter((status) => wanted.includes(status));
}
