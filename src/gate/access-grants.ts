/** policies/access.yaml and what it grants one caller: namespace patterns for each right; the token verifier puts them into the principal. */
import { z } from 'zod';
import { isNamespacePattern } from '../domain/namespace.ts';
import { RIGHTS, type Grants } from '../domain/principal.ts';
import type { DeepReadonly } from '../policy.ts';

/** Stands for one team of the caller; only a team whose name is a segment of the namespace grammar fits. */
const TEAM_SEGMENT = '{team}';

const name = z.string().min(1).max(128);
const pattern = z.string().refine(isNamespacePattern, 'must be a namespace pattern such as team.sales.** or shared.*');
const teamPattern = z.string().refine(
  (v) =>
    isNamespacePattern(
      v
        .split('.')
        .map((segment) => (segment === TEAM_SEGMENT ? 'x' : segment))
        .join('.'),
    ),
  'must be a namespace pattern such as team.sales.**, shared.* or team.{team}.**',
);
const distinct = <T>(values: readonly T[]): boolean => new Set(values).size === values.length;

export const accessPolicySchema = z.strictObject({
  version: z.literal(1),
  /** Bounds of a token that carries no namespaces[]. */
  without_namespaces: z.array(pattern).max(64),
  rules: z
    .array(
      z.strictObject({
        roles: z.array(name).min(1).max(64).optional(),
        teams: z.array(name).min(1).max(64).optional(),
        namespaces: z.array(teamPattern).min(1).max(64),
        rights: z.array(z.enum(RIGHTS)).min(1).refine(distinct, 'must name each right once'),
      }),
    )
    .max(256),
});
export type AccessPolicy = DeepReadonly<z.output<typeof accessPolicySchema>>;

/** What the policy looks at: claims of a verified token. */
export interface Standing {
  readonly namespaces?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly teams?: readonly string[] | undefined;
}

/**
 * The grants of one caller. A rule holds for who has one of its roles and one of its teams, each where the rule names any; rules only
 * add up. Nothing is granted that no rule grants, and nothing outside the token's namespaces[].
 */
export function grantsOf(policy: AccessPolicy, { namespaces, roles = [], teams = [] }: Standing): Grants {
  const granted = Object.fromEntries(RIGHTS.map((right) => [right, new Set<string>()])) as Record<(typeof RIGHTS)[number], Set<string>>;
  for (const rule of policy.rules) {
    if (rule.roles !== undefined && !rule.roles.some((role) => roles.includes(role))) continue;
    const theirs = rule.teams === undefined ? teams : teams.filter((team) => rule.teams?.includes(team));
    if (rule.teams !== undefined && theirs.length === 0) continue;
    const patterns = rule.namespaces.flatMap((row) => withTeams(row, theirs));
    for (const right of rule.rights) for (const one of patterns) granted[right].add(one);
  }
  const frozen = (patterns: Iterable<string>): readonly string[] => Object.freeze([...patterns]);
  return Object.freeze({
    within: frozen(namespaces ?? policy.without_namespaces),
    read: frozen(granted.read),
    write: frozen(granted.write),
    forget: frozen(granted.forget),
    share: frozen(granted.share),
  });
}

/** One pattern for each team; a team that is no plain segment gives none, so that a name such as `*` or `a.b` widens nothing. */
function withTeams(row: string, teams: readonly string[]): readonly string[] {
  if (!row.split('.').includes(TEAM_SEGMENT)) return [row];
  return teams
    .filter((team) => !team.includes('.') && !team.includes('*'))
    .map((team) =>
      row
        .split('.')
        .map((segment) => (segment === TEAM_SEGMENT ? team : segment))
        .join('.'),
    )
    .filter(isNamespacePattern);
}
