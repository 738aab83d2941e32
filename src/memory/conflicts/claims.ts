/** What a sentence does with what it says: claims it, says that it no longer holds, or corrects a value. Retractions are data. */

export interface Claim {
  /** The sentence as it would be said of what holds, or the thing that was ended. */
  readonly text: string;
  readonly ends: boolean;
  /** What it says is not the value after all. */
  readonly wrong: string | undefined;
}

/**
 * Terms (text/analyze) by which a sentence says that something no longer holds: "I don't work at Bosch any more" has five terms, two of
 * them of what it ends, and must still be found to be near "I work at Bosch".
 */
export const ENDING_TERMS: ReadonlySet<string> = new Set('don doesn didn isn aren wasn won ani more anymor longer'.split(' '));

interface Ending {
  readonly examples: readonly string[];
  /** Anchored; the claim is made of its groups. */
  readonly pattern: RegExp;
  readonly claim: string;
}

export const ENDINGS: readonly Ending[] = [
  { examples: ['Ana no longer lives in Berlin', 'The rule is no longer in force'], pattern: /^(.*?)\bno longer (.+)$/iu, claim: '$1$2' },
  {
    examples: ['I do not eat meat any more', 'Ana does not work at Acme anymore'],
    pattern: /^(.*?)\b(?:do|does) not (.+?) (?:any ?more|any longer|now)$/iu,
    claim: '$1$2',
  },
  {
    examples: ['Ana is not the manager any more'],
    pattern: /^(.*?)\b(is|are|am) not (.+?) (?:any ?more|any longer|now)$/iu,
    claim: '$1$2 $3',
  },
  { examples: ['I used to be a nurse'], pattern: /^(.*?)\bused to be (.+?)(?:,? but.*)?$/iu, claim: '$1is $2' },
  { examples: ['I used to live in Rome'], pattern: /^(.*?)\bused to (.+?)(?:,? but.*)?$/iu, claim: '$1$2' },
  {
    examples: ['Ana stopped eating meat', 'Bo gave up smoking', 'I have quit drinking coffee'],
    pattern: /^(.*?)\b(?:has |have )?(?:stopped|quit(?= \w+ing\b)|given up|gave up|ceased) (.+)$/iu,
    claim: '$1$2',
  },
  {
    examples: [
      'The Friday demo is cancelled',
      'The parking rule has been lifted',
      'The 20% discount is over',
      'Ticket T-81 is obsolete now',
    ],
    pattern:
      /^(.+?) (?:is|are|was|were|has been|have been|got) (?:now |permanently |officially )?(?:cancel+ed|called off|void|invalid|obsolete|revoked|withdrawn|deprecated|abandoned|scrapped|dropped|discontinued|retired|removed|lifted|over|off|outdated|rescinded|repealed|terminated|dissolved|shut down|switched off)(?: now| for good| entirely)?$/iu,
    claim: '$1',
  },
  {
    examples: ['We cancelled the Friday demo', 'Ana sold her car', 'They dropped the dress code'],
    pattern:
      /^(?:[\p{L}' ]{1,40}? )(?:has |have )?(?:cancel+ed|called off|dropped|scrapped|abandoned|withdrew|revoked|sold|lifted|repealed|discontinued|retired) (.+)$/iu,
    claim: '$1',
  },
  {
    examples: ['Forget that I like jazz', 'Disregard the Friday deadline'],
    pattern: /^(?:please )?(?:forget|ignore|disregard|scrap) (?:that |about |the fact that |what I said about )?(.+)$/iu,
    claim: '$1',
  },
  {
    examples: ['It is not true that Ana lives in Rome'],
    pattern: /^(?:it is not true|it is false|it is wrong)(?: any ?more)? that (.+)$/iu,
    claim: '$1',
  },
  {
    examples: ['The dress code does not apply any more'],
    pattern: /^(.+?) (?:does|do) not apply(?: any ?more| any longer)?$/iu,
    claim: '$1',
  },
  {
    examples: ['安娜不再住在柏林', '我以后不再喝咖啡了'],
    pattern: /^(.*?)(?:已经|现在|早就|以后|目前|从此)?(?:不再|不会再|没再)(.+?)了?$/u,
    claim: '$1$2',
  },
  { examples: ['我不用再吃药了', '周报不需要再抄送老板'], pattern: /^(.*?)(?:已经|现在)?(?:不用|不需要|不必)再?(.+?)了?$/u, claim: '$1$2' },
  {
    examples: ['我不住在北京了', '小李已经不喝咖啡了'],
    pattern: /^(.*?)(?:已经|现在|早就|早)?(?:不(?!过|同|错)|没有?)(.+)了$/u,
    claim: '$1$2',
  },
  {
    examples: ['周五的评审会已取消', '旧的报销规定作废了', '九折优惠已经失效'],
    pattern: /^(.+?)(?:已经|已|都|被|全部|正式)*(?:取消|作废|撤销|废止|失效|终止|停用|下线|停办|叫停|中止|解除|无效|过期)了?$/u,
    claim: '$1',
  },
  {
    examples: ['小李戒掉了咖啡', '我们取消了周五的评审会', '我卖掉了那辆车'],
    pattern: /^(.{0,12}?)(?:已经|已)?(?:取消|撤销|废除|停用|放弃|解除|卖掉|退掉|停掉|戒掉|戒)了?(.+?)了?$/u,
    claim: '$1$2',
  },
];

const CORRECTIONS: readonly { readonly pattern: RegExp; readonly claim: string; readonly wrong: string }[] = [
  { pattern: /^(.+?)\b(is|are|am) not (.{1,40}?),? but (?:rather )?(.+)$/iu, claim: '$1$2 $4', wrong: '$3' },
  { pattern: /^(.+?), (?:and )?not (?:(?:on|at|in|to|for|by) )?([^,]{1,40})$/iu, claim: '$1', wrong: '$2' },
  { pattern: /^(?!.*\bprefer)(.+?) instead of (?:(?:on|at|in|to|for|by) )?([^,]{1,40})$/iu, claim: '$1', wrong: '$2' },
  { pattern: /^(.+?)不是(.{1,20}?),?(?:而)?是(.+)$/u, claim: '$1是$3', wrong: '$2' },
  { pattern: /^(?!.*更?喜欢)(.+?),?(?:而不是|而非|不是)(.{1,20})$/u, claim: '$1', wrong: '$2' },
];

/** Pure; linear rules over one sentence of at most a few hundred characters. */
export function claimOf(sentence: string): Claim {
  for (const { pattern, claim, wrong } of CORRECTIONS) {
    const found = pattern.exec(sentence);
    if (found !== null) return { text: fill(claim, found), ends: false, wrong: fill(wrong, found) };
  }
  for (const { pattern, claim } of ENDINGS) {
    const found = pattern.exec(sentence);
    if (found !== null) return { text: fill(claim, found), ends: true, wrong: undefined };
  }
  return { text: sentence, ends: false, wrong: undefined };
}

function fill(template: string, found: RegExpExecArray): string {
  return template
    .replace(/\$(\d)/gu, (_, group: string) => found[Number(group)] ?? '')
    .replace(/ {2,}/gu, ' ')
    .trim();
}
