/** Takes their force from marks that tell a model who speaks (chat markup, role tags, `system:` at the head of a line); part of the envelope. */

/** Words that name a speaker or a part of a prompt, in tags and at the head of a line. */
const ROLES = [
  'system|sys|user|assistant|human|ai|bot|agent|developer|model|admin|operator|root',
  'tool|tools|function|functions|invoke|parameter|parameters|result|results',
  'instruction|instructions|prompt|context|memory|memories|message|messages|document|documents|reference|ref|policy|rule|rules',
  'im_start|im_end|start_of_turn|end_of_turn|bos|eos|s|inst|think|thinking|scratchpad|reminder|important',
].join('|');
const HAN_ROLES =
  '系统|用户|助手|助理|人类|开发者|管理员|模型|工具|函数|指令|提示|提示词|记忆|上下文|消息|文档|规则|系統|用戶|開發者|管理員|記憶|規則';
/** Only these speak: a line that begins with `rules:` or `result:` is ordinary. */
const SPEAKERS = [
  'system|assistant|user|human|ai|bot|developer|tool|function|instructions?',
  '系统|用户|助手|助理|人类|开发者|管理员|模型|工具|指令|系統|用戶|開發者|管理員',
].join('|');
const NOUNS = 'prompt|message|instructions?|note|reminder|override|role|提示|提示词|消息|指令|提醒|訊息';

const OPENING = '[<＜﹤]';
const CLOSING = '[>＞﹥]';
/** `<name …>`, open or closing, where a part of the name is one of ROLES: `<system-reminder>`, `</memory>`, `<x:tool_call id="1">`. */
const ROLE_TAG = new RegExp(
  `${OPENING}(\\s{0,4}[/／!?]?\\s{0,4}(?:[\\p{L}\\p{N}]{1,20}[-_:.]){0,4}(?:(?:${ROLES})(?![a-z0-9])|${HAN_ROLES})[^<>＜＞﹤﹥\\n]{0,200})(${CLOSING})?`,
  'giu',
);
/** `<|im_start|>` and its full-width form. */
const PIPED = /[<＜﹤][|｜]([^<>|｜\n]{0,64})([|｜][>＞﹥])?/gu;
const INST = new RegExp(
  `\\[(\\s{0,3}[/／]?\\s{0,3}(?:INST|SYS|SYSTEM|ASSISTANT|USER|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|系统|助手|用户)\\s{0,3})\\]`,
  'giu',
);
/** A speaker at the head of a line, be it a quote, a list, a heading or bold; `\n` spelled out begins a line as well. */
const SPEAKER = new RegExp(
  `((?:^|\\\\[nr])[^\\S\\n]{0,16}[-#>*_~"'“‘「(（【[‹]{0,8}[^\\S\\n]{0,4}(?:${SPEAKERS})(?:[ _-]?(?:${NOUNS}))?[^\\S\\n]{0,4}[-*_~"'”’」)）】›\\]]{0,8}[^\\S\\n]{0,4})[:：﹕∶]`,
  'gimu',
);
const JSON_ROLE = /(["']role["']\s{0,4}):/gi;

/** The text with such marks spelled so that they read as words; nothing is lost but their force. Idempotent, linear. */
export function withoutRoleMarks(text: string): string {
  return text
    .replace(PIPED, (_match, name: string, end: string | undefined) => `‹|${name}${end === undefined ? '' : '|›'}`)
    .replace(ROLE_TAG, (_match, inside: string, end: string | undefined) => `‹${inside}${end === undefined ? '' : '›'}`)
    .replace(INST, '‹$1›')
    .replace(SPEAKER, (_match, speaker: string) => `${speaker} –`)
    .replace(JSON_ROLE, '$1 –');
}
