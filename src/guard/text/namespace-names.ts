/** A namespace whose name gives orders is never made: names stand in every hit and in the statistics, outside the envelope of what they hold. */
import { TIER } from '../../domain/trust.ts';
import type { NamespaceStore } from '../../domain/ports.ts';
import { HindsightError } from '../../errors.ts';
import { wordsOf } from './identifiers.ts';
import type { NameOrders } from './name-orders.ts';
import { namesSubject } from './subjects.ts';
import type { RuleSet } from './rules.ts';
import { viewsOf } from './views.ts';

/** Ids of the rules that hold for a namespace's name. */
type NameJudge = (namespace: string) => readonly string[];

const NAMES_KEPT = 10_000;
const NOTHING: readonly string[] = [];

/**
 * Judges names as what a stranger says, whoever makes them, for others read them; what was judged is remembered in this process. A segment
 * may speak for itself, and so may it with all that follow. What names a subject (`delete-old-backups-runbook`) speaks to nobody, unless
 * it begins with an order about money, secrets or data for others, as no subject does (names.yaml).
 */
export function nameJudge({ rules, nameOrders }: { readonly rules: RuleSet; readonly nameOrders: NameOrders }): NameJudge {
  const known = new Map<string, readonly string[]>();
  return (namespace) => {
    const before = known.get(namespace);
    if (before !== undefined) return before;
    const segments = namespace.split('.');
    const found = [
      ...[...new Set([namespace, ...segments])].flatMap((name) => judged(rules, name)),
      ...segments.flatMap((_segment, i) => ordersIn(nameOrders, segments.slice(i).join('.'))),
    ];
    if (known.size >= NAMES_KEPT) known.clear();
    known.set(namespace, found.length === 0 ? NOTHING : [...new Set(found)]);
    return known.get(namespace) ?? NOTHING;
  };
}

function judged(rules: RuleSet, name: string): readonly string[] {
  const words = wordsOf(name);
  if (words === undefined) return NOTHING;
  const named = namesSubject(words);
  return viewsOf(words).flatMap(({ text, hidden }) =>
    rules
      .find(text, TIER.external, hidden)
      .filter(({ addresses }) => addresses || hidden || !named)
      .map(({ ruleId }) => `${ruleId}@namespace`),
  );
}

function ordersIn(nameOrders: NameOrders, name: string): readonly string[] {
  const words = wordsOf(name);
  return words === undefined
    ? NOTHING
    : viewsOf(words).flatMap(({ text }) => nameOrders(text.toLowerCase()).map((id) => `${id}@namespace`));
}

/**
 * The store, making no namespace whose name the rules hold against: ERR_REQUEST_INVALID at /namespace, and nothing is made. One that there
 * is keeps working for people; what agents and tools write there is the text stage's matter.
 */
export function withJudgedNames(store: NamespaceStore, judge: NameJudge): NamespaceStore {
  const requireName = async (tenant: string, namespace: string): Promise<void> => {
    const rules = judge(namespace);
    if (rules.length === 0 || (await store.get(tenant, namespace)) !== undefined) return;
    const message = `reads as an instruction (${rules.join(', ')}): choose another name`;
    throw new HindsightError('ERR_REQUEST_INVALID', {
      params: { detail: `/namespace ${message}` },
      faults: [{ pointer: '/namespace', message }],
    });
  };
  return {
    get: (tenant, namespace) => store.get(tenant, namespace),
    async ensure(tenant, namespace, owner) {
      await requireName(tenant, namespace);
      return store.ensure(tenant, namespace, owner);
    },
    async setCollect(tenant, namespace, owner, collect) {
      await requireName(tenant, namespace);
      return store.setCollect(tenant, namespace, owner, collect);
    },
  };
}
