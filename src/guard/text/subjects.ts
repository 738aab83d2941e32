/** Names of subjects apart from orders: `delete-old-backups-runbook` is where a runbook stands, `always-approve-transfers` tells a reader what to do. */

/** What collections of texts are called by their last word, in English and in the pinyin that namespaces of Chinese teams are made of. */
const COLLECTION =
  /\b(?:anal(?:ysis|yses)|archives?|audits?|backlog|bugs?|cases?|checklists?|courses?|designs?|discussions?|docs?|documentation|drafts?|drills?|errors?|events?|examples?|faqs?|features?|findings?|flags?|flows?|forms?|guid(?:es?|elines?)|handbooks?|history|how-?tos?|ideas|incidents?|issues?|jobs?|kb|lessons|logs?|manuals?|meetings?|metrics|migrations?|notes?|onboarding|outages?|plans?|playbooks?|polic(?:y|ies)|post-?mortems?|procedures?|process(?:es)?|projects?|proposals?|questions?|reports?|requests?|research|retro(?:spective)?s?|reviews?|rfcs?|roadmaps?|runbooks?|schedules?|scripts|settings|setup|sops?|specs?|standards?|statistics|stats|status|stor(?:y|ies)|study|studies|support|surveys?|talks?|tasks?|templates?|tests?|threads?|tickets?|topics?|training|tutorials?|wiki|workflows?|workshops?|anli|baogao|biji|biaozhun|cheshi|ceshi|daiban|dangan|fangan|guiding|guifan|huiyi|jihua|jilu|jiaocheng|liucheng|moban|neirong|peixun|rizhi|shenqing|shigu|shouce|shuoming|tongji|wendang|wenti|xiangmu|yanjiu|zhidu|zhinan|ziliao)$/;
/** Questions that a collection answers. */
const ASKED = /^(?:[a-z]+ ){0,2}(?:how (?:to|we)|howto|why (?:we|to|not)|when to|what is|ruhe|zenme) /;
/** Who is told, for which cases, without whom: no collection is called by these. */
const TELLS =
  /\b(?:ignor(?:e|ing)|disregard|forget|override|obey|you|your|yours|assistants?|agents?|ais?|llms?|bots?|chatbots?|always|never|must|shall|should|every|each|everyone|everybody|anyone|anybody|all|any|whenever|henceforth|now|immediately|automatically|silently|secretly|without (?:ask|approv|confirm|review|tell|check|verif|consent|permission)\w{0,12}|do not|dont|no questions)\b/;

const HAN = /\p{Script=Han}/u;

/** Whether the words of a name (identifiers.ts, in any case) are what texts are about, and not what somebody is to do. Pure, linear. */
export function namesSubject(words: string): boolean {
  const said = words.toLowerCase();
  return (COLLECTION.test(said) || ASKED.test(said)) && !TELLS.test(said);
}

/** Whether the words of several names, read on, may tell somebody to do something: of Chinese any may, which no such word gives away. */
export const tellsSomebody = (words: string): boolean => HAN.test(words) || TELLS.test(words.toLowerCase());
