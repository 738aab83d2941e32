/** A newer sentence that says what was left for what: "The team switched from Jira to Linear" takes the place of "The team uses Jira". */
import { keyOf, tokensOf } from './reading.ts';
import type { Relation } from './relation-kind.ts';
import type { RelationPolicy } from './relation-policy.ts';

const SWITCHES: readonly RegExp[] = [
  /^(?<s>.{1,60}?) (?:has |have )?(?:switched|moved|migrated|changed|upgraded|downgraded)(?: over)? from (?<w>.{1,60}?) to (?<v>.{1,60})$/iu,
  /^(?<s>.{1,24}?)(?:已经|已|现在)*从(?<w>.{1,20}?)(?:换成|换到|改成|改用|改为|切换到|切换成|迁移到|迁到|升级到)了?(?<v>.{1,20})$/u,
];
/** Words that an older sentence may have besides whom it speaks of and what was left: a verb and what goes with it. */
const MORE_WORDS = 3;

/** Undefined when the newer tells of no such change, or of another thing's. */
export function switchesFrom(older: string, newer: string, policy: RelationPolicy): Relation | undefined {
  for (const pattern of SWITCHES) {
    const { s, w } = pattern.exec(newer)?.groups ?? {};
    if (s === undefined || w === undefined) continue;
    const before = ` ${keyOf(tokensOf(older, policy))} `;
    const [who, left] = [s, w].map((part) => ` ${keyOf(tokensOf(part, policy))} `) as [string, string];
    if (who.trim() === '' || left.trim() === '' || !before.startsWith(who) || !before.includes(left)) continue;
    const more = before
      .replace(who, ' ')
      .replace(left, ' ')
      .trim()
      .split(' ')
      .filter((word) => word !== '').length;
    if (more <= MORE_WORDS) return { kind: 'changed', reason: 'what it was left for' };
  }
  return undefined;
}
