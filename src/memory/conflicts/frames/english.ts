/** Frame rules for English sentences, from the most exact form to the loosest. */
import { FORM_OF_ADDRESS, LEFT, REPLY_LANGUAGE, type FrameRule } from './frame.ts';
import { all, SUBJECT as S } from './pieces.ts';

const V = '(?<v>.{1,100})';
const BE = '(?:is|are|am|will be)';
/** "has been changed to", "went up to", "is": the value follows. */
const BECOMES =
  '(?:(?:(?:is|are|was|were|has been|have been|will be|got|gets)(?: being)? )?(?:changed|set|reset|updated|raised|lowered|increased|reduced|cut|extended|shortened|switched|moved|postponed|pushed(?: back)?|brought forward|shifted|rescheduled|renamed|upgraded|downgraded|bumped|dropped|went up|went down|rose|fell)(?: from (?<w>.{1,60}?))? to|(?:has )?(?:became|becomes|become)|changes to|is (?:equal to|set at|fixed at)|will be|is|are|=)';
/** Nouns that name one attribute of a thing, so that any two values of them stand against each other. */
export const ATTRIBUTES =
  'deadline|due date|code|port|version|release|name|title|address|budget|price|cost|colou?r|e-?mail(?: address)?|phone(?: number)?|number|birthday|owner|manager|boss|lead|leader|status|state|location|venue|place|size|limit|timeout|interval|rate limit|region|time ?zone|language|currency|theme|password|date|time|start(?:ing)? (?:date|time)|end date|target|goal|url|domain|host|hostname|branch|database|framework|editor|model|format|priority|threshold|capacity|quota|dosage|dose|weight|height|age|salary|wage|rent|fee|tuition|fare|subscription|premium|role|position|job|title|employer|company|school|major|doctor|dentist|landlord|tutor|coach|nickname|username|hometown|home|seat|room|office|plan|tier|diet|size|shoe size|blood type|capital|retention(?: period)?|policy|level|mode|degree|provider|vendor|supplier|contact|default \\w+';

const rule = (r: FrameRule): FrameRule => r;

const attribute = ({ a }: Readonly<Record<string, string | undefined>>): string | undefined => a?.trim();

export const ENGLISH_FRAMES: readonly FrameRule[] = [
  rule({
    examples: [
      'Ana lives in Berlin',
      'I live in Rome',
      'The user is based in Lyon',
      'Ana has moved from Rome to Berlin',
      'Bo relocated to Oslo',
    ],
    pattern: all(
      `^${S} (?:lives?|resides?|${BE} (?:living|based|residing)|(?:has |have )?(?:moved|relocated)(?: house)?(?: (?:away )?from (?<w>.{1,60}?))?(?= to)) (?:in|at|to) ${V}$`,
    ),
    topic: 'residence',
    value: 'name',
  }),
  rule({
    examples: ['Ana moved away from Berlin', 'I moved out of Rome'],
    pattern: all(`^${S} (?:has |have )?moved (?:away from|out of) ${V}$`),
    topic: 'residence',
    value: 'name',
    ends: true,
  }),
  rule({
    examples: ['Bo has left Acme', 'Ana quit Initech', 'Kim resigned from Globex'],
    pattern: all(`^${S} (?:has |have )?(?:left|quit|resigned from|dropped out of|retired from) ${V}$`),
    topic: LEFT,
    value: 'name',
    ends: true,
  }),
  rule({
    examples: ['Ana works as a nurse', 'I am employed as an engineer', 'Bo was promoted to team lead', 'Ana became a surgeon'],
    pattern: all(
      `^${S} (?:works? as|${BE} (?:employed|working) as|(?:was|got|has been) promoted to|(?:has )?(?:became|become)|started (?:working )?as) (?:an? |the )?${V}$`,
    ),
    topic: 'occupation',
  }),
  rule({
    examples: ['Ana works at Acme', 'I work for Initech', 'Bo joined Globex', 'Ana is employed by Acme'],
    pattern: all(
      `^${S} (?:works? (?:at|for)|${BE} (?:working (?:at|for)|employed (?:at|by))|(?:has )?joined|started (?:working )?at) ${V}$`,
    ),
    topic: 'employer',
    value: 'name',
  }),
  rule({
    examples: ['Ana is called Annie', 'The project is named Falcon', 'The bot goes by Max'],
    pattern: all(
      `^${S} (?:${BE} (?:called|named)|goes by|was renamed(?: from (?<w>.{1,60}?))? to|(?:prefers?|wants?|likes?) to be called) ${V}$`,
    ),
    topic: 'name',
  }),
  rule({
    examples: ['Ana is 34 years old', 'I am 34', 'Bo turned 9', 'Kim is aged 50'],
    pattern: all(`^${S} (?:(?:has )?(?:just )?turned (?<v>\\d{1,3})|${BE} (?:aged )?(?<v2>\\d{1,3})(?<o> years old| years of age)?)$`),
    topic: ({ s = '', o, v }) => (v !== undefined || o !== undefined || /^(?:I|[\p{Lu}][\p{L}-]+)$/u.test(s) ? 'age' : undefined),
    value: 'amount',
  }),
  rule({
    examples: ['Ana is married to Tom'],
    pattern: all(`^${S} ${BE} married to ${V}$`),
    topic: 'spouse',
    value: 'name',
  }),
  rule({
    examples: ['Ana reports to Kim', 'The team is managed by Kim'],
    pattern: all(`^${S} (?:reports? to|${BE} (?:now )?(?:managed|led|supervised) by) ${V}$`),
    topic: 'manager',
  }),
  rule({
    examples: ['The service is owned by Payments'],
    pattern: all(`^${S} ${BE} (?:owned|maintained|handled|run) by ${V}$`),
    topic: 'owner',
  }),
  rule({
    examples: ['Ana studies at MIT', 'Ana attends Lincoln High'],
    pattern: all(`^${S} (?:stud(?:y|ies) at|${BE} (?:studying|enrolled) at|attends?) ${V}$`),
    topic: 'school',
    value: 'name',
  }),
  rule({
    examples: ['Ana majors in physics'],
    pattern: all(`^${S} (?:majors? in|${BE} majoring in|switched (?:her|his|their|my) major to) ${V}$`),
    topic: 'major',
  }),
  rule({
    examples: ['Ana drives a Volvo'],
    pattern: all(`^${S} drives? (?:an? |the )${V}$`),
    topic: 'car',
  }),
  rule({
    examples: ['I wake up at 6:30', 'Ana gets up at 7 am'],
    pattern: all(`^${S} (?:wakes?|gets?) up at ${V}$`),
    topic: 'wake-up time',
    value: 'when',
  }),
  rule({
    examples: ['I go to bed at 23:00'],
    pattern: all(`^${S} (?:goes|go) to (?:bed|sleep) at ${V}$`),
    topic: 'bedtime',
    value: 'when',
  }),
  rule({
    examples: ['The shop opens at 9:00', 'The concert begins at 8 pm', 'Term starts on 4 September'],
    pattern: all(`^${S} (?:now )?(?:starts?|begins?|opens?|will (?:start|begin|open)|kicks? off) (?:at|on|in) ${V}$`),
    topic: 'start',
    value: 'when',
  }),
  rule({
    examples: ['The shop closes at 18:00', 'The sale ends on 5 May'],
    pattern: all(`^${S} (?:now )?(?:ends?|closes?|finish(?:es)?|expires?|will (?:end|close|expire)) (?:at|on|in) ${V}$`),
    topic: 'end',
    value: 'when',
  }),
  rule({
    examples: ['The train departs at 9:40', 'Flight LH12 leaves at 7:15'],
    pattern: all(`^${S} (?:now )?(?:departs?|leaves?|takes? off|will (?:depart|leave)) (?:at|on) ${V}$`),
    topic: 'departure',
    value: 'when',
  }),
  rule({
    examples: ['The parcel arrives on Tuesday'],
    pattern: all(`^${S} (?:arrives?|lands?|will arrive) (?:at|on) ${V}$`),
    topic: 'arrival',
    value: 'when',
  }),
  rule({
    examples: ['The report is due on 3 May', 'The essay is due by Friday'],
    pattern: all(`^${S} ${BE} due (?:on |by |at )?${V}$`),
    topic: 'deadline',
    value: 'when',
  }),
  rule({
    examples: [
      'The launch is scheduled for 3 May',
      'The review has been moved to Thursday',
      'The demo takes place at 10:00',
      'The standup is at 9:30',
    ],
    pattern: all(
      `^${S} (?:${BE}(?: (?:scheduled|planned|set|booked))?|takes? place|will take place|happens?|(?:has been|have been|was|were|got|${BE}) (?:rescheduled|moved|postponed|pushed(?: back)?|delayed|shifted|brought forward)|(?:has )?(?:slipped|moved)|moves)(?: from (?<w>.{1,60}?))? (?:for|on|at|to|until|in) ${V}$`,
    ),
    topic: 'schedule',
    value: 'when',
  }),
  rule({
    examples: ['The ticket costs $30', 'Membership is priced at 20 euros', 'The flat rents for 900 euros'],
    pattern: all(`^${S} (?:costs?|will cost|${BE} priced at|rents for|sells for) (?:me |us )?${V}$`),
    topic: 'price',
    value: 'amount',
  }),
  rule({
    examples: ['The build takes 12 minutes', 'A session lasts 45 minutes'],
    pattern: all(`^${S} (?:takes?|lasts?|will take|will last) (?:about )?(?<v>[^ ].{0,40})$`),
    topic: 'duration',
    value: 'amount',
  }),
  rule({
    examples: ['Ana weighs 62 kg'],
    pattern: all(`^${S} weighs? ${V}$`),
    topic: 'weight',
    value: 'amount',
  }),
  rule({
    examples: ['Bo is 182 cm tall'],
    pattern: all(`^${S} ${BE} (?<v>.{1,30}) tall$`),
    topic: 'height',
    value: 'amount',
  }),
  rule({
    examples: ['The API listens on port 8080', 'Redis runs on port 6380'],
    pattern: all(`^${S} (?:listens?|runs?|${BE} (?:listening|running)|${BE} exposed) on port ${V}$`),
    topic: 'port',
    value: 'amount',
  }),
  rule({
    examples: ['The API is limited to 100 requests per minute', 'Uploads must not exceed 5 MB', 'Sessions are capped at 2 hours'],
    pattern: all(
      `^${S} (?:${BE} (?:now )?(?:limited|capped|restricted) (?:to|at)|(?:must|may|can|should) not (?:exceed|be (?:longer|larger|more) than)) ${V}$`,
    ),
    topic: 'limit',
    value: 'amount',
  }),
  rule({
    examples: ['Ana is allergic to peanuts', 'I have an allergy to dust'],
    pattern: all(`^${S} (?:${BE} allergic to|(?:has|have) an allergy to) ${V}$`),
    topic: 'allergies',
  }),
  rule({
    examples: ['Ana speaks French', 'I can speak Dutch'],
    pattern: all(`^${S} (?:can )?speaks? ${V}$`),
    topic: 'languages',
    value: 'name',
  }),
  rule({
    examples: ['I prefer Vim for editing', 'Ana prefers pytest for tests', 'We switched to Notion for planning trips'],
    pattern: all(
      `^${S} (?:prefers?|uses?|would rather use|(?:has |have )?(?:switched|migrated)(?: over)? to) (?:to use |using )?${V.replace('100', '60')} (?:for|when) (?<a>.{1,60})$`,
    ),
    topic: ({ a }) => (a === undefined ? undefined : `choice for ${a}`),
  }),
  rule({
    examples: ['Ana uses Vim as her editor', 'We use Postgres as the main database'],
    pattern: all(`^${S} (?:uses?|prefers?|switched to) (?<v>.{1,60}?) as (?:(?:my|our|her|his|their|the|an?|its) )(?<a>.{1,40})$`),
    topic: attribute,
  }),
  rule({
    examples: ['Always answer in French', 'Please reply in German', 'The user prefers answers in English', 'I want replies in Dutch'],
    pattern: all(
      `^(?:${S} (?:prefers?|wants?|likes?) (?:all |your |to get |to have )?(?:answers|replies|responses|explanations|to be answered)|(?:always |please )*(?:answer|reply|respond|write|talk|speak)(?: to me)?) in ${V}$`,
    ),
    topic: REPLY_LANGUAGE,
    value: 'name',
  }),
  rule({
    examples: ['Call me Annie', 'Please call me Bo'],
    pattern: all(`^(?<s>)(?:please |just |you can )*call me ${V}$`),
    topic: FORM_OF_ADDRESS,
    value: 'name',
  }),
  rule({
    examples: ['Ana prefers tea over coffee', 'I like trains better than planes', 'I prefer tabs to spaces'],
    pattern: all(
      `^${S} (?:(?:prefers?|would rather have) (?<v>.{1,40}?) (?:over|to|rather than|instead of)|likes? (?<v2>.{1,40}?) (?:better|more) than) (?<w>.{1,40})$`,
    ),
    topic: ({ v, v2, w }) => {
      const [first, second] = [v ?? v2 ?? '', w ?? ''].map((side) => side.toLowerCase()).sort();
      return first === 'be' ? undefined : `choice between ${first} and ${second}`;
    },
  }),
  rule({
    examples: ['I prefer dark mode', 'Ana prefers aisle seats', 'The user prefers short answers'],
    pattern: all(
      `^${S} (?:prefers?|wants?) (?:an? |the |to have )?(?<v>[\\w-]{2,20} (?<a>mode|theme|seats?|answers?|replies|reply|summaries|explanations?|examples?|emails?|meetings?|rooms?|layout|format|style|tone|tea|coffee|milk|bread|units?|keyboards?|comments|names|commits?|indentation|tabs|fonts?|lessons|flights|trains|hotels|pens?))$`,
    ),
    topic: ({ a }) => (a === undefined ? undefined : `preferred ${a.toLowerCase().replace(/ies$/, 'y').replace(/s$/, '')}`),
  }),
  rule({
    examples: ['Ana likes jazz', 'I love hiking', 'Bo enjoys chess'],
    pattern: all(`^${S} (?:likes?|loves?|enjoys?|${BE} (?:fond of|into|a fan of)) ${V}$`),
    topic: 'likes',
  }),
  rule({
    examples: ['Ana hates olives', 'I dislike crowds'],
    pattern: all(`^${S} (?:hates?|dislikes?|cannot stand) ${V}$`),
    topic: 'dislikes',
  }),
  rule({
    examples: ["Oolong is Ana's favourite tea", 'Blue is my favourite colour'],
    pattern: all(
      `^(?<v>[^,;:"]{1,40}?) is (?<s>my|our|the user's|[\\p{Lu}][^,;:"]{0,40}?'s) (?<a>(?:new )?fav(?:ou)?rite .{1,40}|(?:${ATTRIBUTES}))$`,
    ),
    topic: attribute,
  }),
  rule({
    examples: ["Ana's favourite tea is oolong", "My landlord's phone number is 555 0101", 'Our rollout plan is canary', "Bo's desk is 14"],
    pattern: all(`^(?<s>my|our|his|her|their|your|[^,;:"]{1,60}'s?) (?<a>[\\p{L}][\\p{L}\\p{N} -]{0,40}?) ${BECOMES} ${V}$`),
    topic: attribute,
    compares: 'typed',
  }),
  rule({
    examples: ['The deadline for the report is 3 May', 'The port of the staging database was changed to 5433', 'The head of design is Kim'],
    pattern: all(`^(?:the )?(?<a>(?:[\\p{L}-]+ ){0,2}(?:${ATTRIBUTES}|head)) (?:of|for|in) ${S} ${BECOMES} ${V}$`),
    topic: attribute,
  }),
  rule({
    examples: ['The API has a timeout of 30 seconds', 'The project has a budget of $5,000'],
    pattern: all(`^${S} (?:has|have) (?:an? |the )(?<a>(?:[\\p{L}-]+ ){0,2}(?:${ATTRIBUTES})) of ${V}$`),
    topic: attribute,
  }),
  rule({
    examples: ['The Apollo deadline is 3 May', 'The staging database port was changed from 5432 to 5433', 'Release date: 3 May'],
    pattern: all(`^(?:the |our )?(?<s>(?:[\\p{L}\\p{N}.-]+ ){1,4}?)?(?<a>${ATTRIBUTES})(?: ${BECOMES}|:) ${V}$`),
    topic: attribute,
  }),
  rule({
    examples: ['Favourite tea: oolong', 'Home city: Berlin'],
    pattern: all(`^(?<s>)(?<a>(?:fav(?:ou)?rite|preferred|home) [\\p{L} -]{1,30}): ${V}$`),
    topic: attribute,
    compares: 'typed',
  }),
  rule({
    examples: ['The sync is in room 301', 'The archive is located in Leipzig', 'The keys are in the top drawer'],
    pattern: all(`^${S} ${BE} (?:located |stored |kept |held |hosted )?(?:in|at|on) ${V}$`),
    topic: 'location',
    compares: 'typed',
  }),
];
