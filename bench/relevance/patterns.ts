/** Sentences about things that are known to the letter: a record far from its question in wording, and look-alikes that are nearer; invented for the bench. */

export interface Pattern {
  readonly record: string;
  readonly question: string;
  /** Nearer to the question in wording and meaning than the record is. */
  readonly lookAlike: string;
}

export type Kind = 'code' | 'number' | 'name' | 'phrase';
export type Language = 'zh' | 'en';

const CODES_EN: readonly Pattern[] = [
  {
    record: '{code}: {person} left it with the porter in {place}.',
    question: 'Where is {code} now?',
    lookAlike: '{code} is now in {place}.',
  },
  {
    record: '{person} says {code} made trouble, so ask {other}.',
    question: 'Who knows about {code}?',
    lookAlike: '{person} knows about {code}.',
  },
  {
    record: 'Write {code} on the box; the lid is green.',
    question: 'What colour goes with {code}?',
    lookAlike: 'The colour that goes with {code} is blue.',
  },
  { record: '{person} has {code}.', question: 'Whose number is {code}?', lookAlike: 'The number {code} is that of {person}.' },
  {
    record: '{thing} came with {code} printed on the bottom.',
    question: 'What is {code}?',
    lookAlike: 'What {code} is: something for {person}.',
  },
];
const CODES_ZH: readonly Pattern[] = [
  { record: '{code}：{person}托{place}的门卫保管。', question: '{code}现在在哪里？', lookAlike: '{code}现在在{place}。' },
  { record: '{person}说出毛病的是 {code}，得找{other}。', question: '谁了解 {code}？', lookAlike: '{person}了解 {code}。' },
  { record: '箱子外面写 {code}，盖子涂成绿的。', question: '{code} 配什么颜色？', lookAlike: '{code} 配的颜色是蓝色。' },
  { record: '{person}拿着 {code}。', question: '{code} 是谁的号码？', lookAlike: '{code} 是{person}的号码。' },
  { record: '{thing}底下印着 {code}。', question: '{code} 是什么？', lookAlike: '{code} 是给{person}的东西。' },
];

const NUMBERS_EN: readonly Pattern[] = [
  {
    record: 'Box {code} stands in the cellar, under the sheets.',
    question: 'Where is number {code}?',
    lookAlike: 'Number {code} is in the attic.',
  },
  { record: '{person} drew {code} and tore it up.', question: 'Who has ticket {code}?', lookAlike: 'Ticket {code} is with {other}.' },
  { record: 'Behind the mirror somebody scratched {code}.', question: 'What does {code} open?', lookAlike: '{code} opens the garage.' },
];
const NUMBERS_ZH: readonly Pattern[] = [
  { record: '箱子 {code} 放在地窖里，床单底下。', question: '编号 {code} 在哪里？', lookAlike: '编号 {code} 在阁楼里。' },
  { record: '{person}抽到 {code}，撕掉了。', question: '谁有 {code} 的票？', lookAlike: '{code} 的票在{other}那里。' },
  { record: '镜子后面有人刻了 {code}。', question: '{code} 能开什么？', lookAlike: '{code} 能开车库。' },
];

const NAMES_EN: readonly Pattern[] = [
  {
    record: '{code}: blue door, behind the hook.',
    question: 'Where is the spare key of {code}?',
    lookAlike: 'The spare key of {code} is with the neighbours.',
  },
  {
    record: 'Ask {code}, the boiler makes that noise again.',
    question: 'What does {code} know about?',
    lookAlike: '{code} knows about heating.',
  },
  { record: 'A parcel for {code} stood in the rain.', question: 'What did {code} receive?', lookAlike: '{code} received a letter.' },
  { record: 'Left early: {code}, migraine.', question: 'Why did {code} go home?', lookAlike: '{code} went home because of a cold.' },
  { record: 'Table six, no nuts, {code}.', question: 'What must {code} not eat?', lookAlike: '{code} must not eat shellfish.' },
];
const NAMES_ZH: readonly Pattern[] = [
  { record: '{code}：蓝门，钩子后面。', question: '{code}的备用钥匙在哪里？', lookAlike: '{code}的备用钥匙在邻居那里。' },
  { record: '锅炉又响了，去问{code}。', question: '{code}懂什么？', lookAlike: '{code}懂暖气维修。' },
  { record: '有个给{code}的包裹淋了雨。', question: '{code}收到了什么？', lookAlike: '{code}收到了一封信。' },
  { record: '提前走的：{code}，偏头痛。', question: '{code}为什么回家了？', lookAlike: '{code}因为感冒回家了。' },
  { record: '六号桌，不放坚果，{code}。', question: '{code}不能吃什么？', lookAlike: '{code}不能吃贝类。' },
];

const PHRASES_EN: readonly Pattern[] = [
  { record: 'On the lid stood {code}, nothing else.', question: 'What is “{code}”?', lookAlike: '“{code}” is a kind of tea.' },
  {
    record: '{person} whispered {code} and hung up.',
    question: 'Who uses the words "{code}"?',
    lookAlike: '{person} often uses the words "{code}".',
  },
  { record: 'Password for the shed: {code}.', question: 'What does "{code}" mean?', lookAlike: '"{code}" means that the shop is closed.' },
];
const PHRASES_ZH: readonly Pattern[] = [
  { record: '盖子上只写着{code}。', question: '“{code}”是什么？', lookAlike: '“{code}”是一种茶。' },
  { record: '{person}小声说了{code}就挂了电话。', question: '谁说过“{code}”？', lookAlike: '{person}常说“{code}”。' },
  { record: '棚子的暗号：{code}。', question: '“{code}”是什么意思？', lookAlike: '“{code}”的意思是商店关门了。' },
];

export const PATTERNS: Readonly<Record<Kind, Readonly<Record<Language, readonly Pattern[]>>>> = {
  code: { en: CODES_EN, zh: CODES_ZH },
  number: { en: NUMBERS_EN, zh: NUMBERS_ZH },
  name: { en: NAMES_EN, zh: NAMES_ZH },
  phrase: { en: PHRASES_EN, zh: PHRASES_ZH },
};
