/** Whether a text is worth a long-term memory, by rules alone, and as what: kind, layer, importance and term; memory_write asks before anything is stored. Pure. */
import type { Kind, Layer } from '../../domain/memory.ts';
import type { Actor } from '../../domain/principal.ts';
import type { WriteItem } from '../../domain/wire/write.ts';
import { inferSlot } from '../conflicts/infer-slot.ts';
import type { RelationPolicy } from '../conflicts/relation-policy.ts';
import { defaultLayer, type LayerPolicy } from '../layer-policy.ts';
import type { AdmissionRule, CompiledAdmission, Speaker } from './policy.ts';
import { readSentence, type Reading } from './read.ts';
import { sentencesOf } from './sentences.ts';

export interface WorthContext {
  readonly policy: CompiledAdmission;
  readonly layers: LayerPolicy;
  readonly relations: RelationPolicy;
  /** Who writes it: what an agent says of importance is a hint. */
  readonly actor: Actor;
}

/** A grade of the model's for what the rules say nothing about (admission/model-grade). */
export interface ModelGrade {
  readonly grade: number;
  readonly kind: Kind | undefined;
  /** Holds for about a day. */
  readonly passing: boolean;
}

export type Worth =
  | { readonly keep: false; readonly reason: string; readonly sure: boolean }
  | {
      readonly keep: true;
      /** Given, or found. */
      readonly kind?: Kind;
      readonly layer: Layer;
      readonly importance: number;
      /** Of a state that passes. */
      readonly ttlSeconds?: number;
      readonly reason: string;
      /** False: no rule speaks about it, so a model may be asked. */
      readonly sure: boolean;
    };

/** Terms of a model's passing states, in seconds. */
const PASSING_SECONDS = 86_400;
const MAX_GRADE = 5;
/** Of use in its talk alone. */
const TALK_GRADE = 2;
/** States of these kinds hold no longer than they say; decisions, events, errors and results are over already. */
const STATES: readonly (Kind | undefined)[] = [undefined, 'fact', 'preference', 'constraint'];

/** What one text comes to: its weightiest sentence. */
interface Graded {
  readonly grade: number;
  readonly kind: Kind | undefined;
  readonly reason: string;
  /** A rule speaks about it. */
  readonly ruled: boolean;
  /** Text of the sentence, lower case. */
  readonly text: string;
}

/**
 * What is worth keeping is kept: what is about somebody or something, can be used again, and holds for a while; the last two questions
 * are the grade's and the term's. What a caller says of the item (kind, layer, term, a person's importance) stands.
 */
export function worthOf(item: WriteItem, context: WorthContext, model?: ModelGrade): Worth {
  const { policy, actor } = context;
  const said = gradeOf(policy, item);
  const described = isDescribed(item) && said.grade < policy.plainGrade && !isBare(said);
  const byRules: Graded = described
    ? { ...said, grade: policy.plainGrade, kind: undefined, reason: 'its writer says what it is', ruled: true }
    : said;
  const graded: Graded =
    model === undefined || byRules.ruled
      ? byRules
      : { ...byRules, grade: model.grade, kind: model.kind, reason: 'judged by the language model', ruled: true };
  const importance = importanceOf(item, graded, actor, policy);
  const how = `grade ${graded.grade} of ${MAX_GRADE}, ${model === undefined || byRules.ruled ? 'by rules' : 'by the language model'}`;
  if (importance < policy.keepFrom && !(item.importance !== undefined && actor !== 'agent' && graded.grade >= policy.plainGrade))
    return { keep: false, reason: `not kept: ${graded.reason} (${how})`, sure: byRules.ruled };
  const found = item.kind ?? graded.kind;
  // what happened stays, also where what holds since then is kept of it
  const ttlSeconds = item.ttl_seconds ?? (STATES.includes(found) ? termOf(policy, graded, model) : undefined);
  const kind = item.kind ?? (tellsValue(context, item, graded) ? policy.values.as : graded.kind);
  const layer = layerOf(context, item, kind);
  const asWhat = kind === undefined ? `kept in ${layer} memory` : `kept as ${kind} in ${layer} memory`;
  const term =
    ttlSeconds === undefined || item.ttl_seconds !== undefined ? '' : ` for ${Math.round(ttlSeconds / 86_400)} d, as it will pass`;
  return {
    keep: true,
    ...(kind === undefined ? {} : { kind }),
    layer,
    importance,
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    reason: `${asWhat}${term}: ${graded.reason} (${how})`,
    sure: byRules.ruled,
  };
}

/** Whether what happened or was decided tells the one value that an attribute has now ("Ana moved to Munich"): it is to meet the value before it. */
function tellsValue(
  { policy: { values }, relations }: WorthContext,
  { content, subject, topic }: WriteItem,
  { kind, text }: Graded,
): boolean {
  if (kind === undefined || !values.kinds.includes(kind) || values.unless.test(text)) return false;
  const slot = inferSlot({ content, subject, topic, kind: values.as }, relations);
  return slot !== undefined && !slot.multiValued;
}

/** By kind, task and subject; a turn that no rule speaks about stays in its session. */
function layerOf({ policy, layers }: WorthContext, item: WriteItem, kind: Kind | undefined): Layer {
  if (kind === undefined && item.session_id !== undefined && saysNoMore(policy, item)) return 'working';
  return defaultLayer(layers, { kind, task_id: item.task_id, subject: item.subject });
}

/** All that a turn of a talk says of itself, with who spoke and which turn it was: whoever says more wants a memory. */
const TURN_FIELDS: ReadonlySet<string> = new Set(
  'content namespace visibility session_id turn occurred_at source admission importance metadata'.split(' '),
);

function saysNoMore({ talk }: CompiledAdmission, item: WriteItem): boolean {
  const keys = Object.keys(item.metadata ?? {}).map((key) => key.toLowerCase());
  return (
    (item.source?.parents ?? []).length === 0 &&
    (keys.length === 0 || (keys.some((key) => talk.marks.has(key)) && keys.every((key) => talk.marks.has(key) || talk.beside.has(key)))) &&
    Object.entries(item).every(([field, value]) => value === undefined || TURN_FIELDS.has(field))
  );
}

/** Somebody took the trouble to say what it is. */
function isDescribed(item: WriteItem): boolean {
  return [item.kind, item.subject, item.topic, item.title, item.summary].some((field) => field !== undefined) || item.pinned === true;
}

/** Nothing but an acknowledgement: no description makes that worth keeping. */
function isBare({ reason }: Graded): boolean {
  return reason === ACKNOWLEDGEMENT;
}

const ACKNOWLEDGEMENT = 'it only acknowledges';

/** Whose words they are: the source's. Without one they are a person's: what an agent writes of its own accord is mostly what it was told. */
function speakerOf({ source }: WriteItem): Speaker {
  if (source === undefined || source.type === 'user') return 'person';
  return source.type === 'agent' ? 'agent' : 'tool';
}

function gradeOf(policy: CompiledAdmission, item: WriteItem): Graded {
  const isNote = item.session_id === undefined;
  // whoever says what it is, or sends a page or a paper, sends no talk
  const mayBeTalk = isNote && saysNoMore(policy, item) && ['user', 'agent', 'tool'].includes(item.source?.type ?? 'user');
  const isTalk = (talk: boolean): boolean => mayBeTalk && (talk || item.turn !== undefined || item.metadata !== undefined);
  const readings = sentencesOf(item.content).map((sentence) => {
    const reading = readSentence(policy, sentence, speakerOf(item), isNote);
    return gradedOf(policy, reading, sentence.text, isTalk(reading.talk === true));
  });
  const [first] = readings;
  // nothing but marks and pictures
  if (first === undefined) return { grade: 1, kind: undefined, reason: ACKNOWLEDGEMENT, ruled: true, text: '' };
  return readings.reduce(
    (best, next) => (next.grade > best.grade || (next.grade === best.grade && speaks(next) > speaks(best)) ? next : best),
    first,
  );
}

/** Of two sentences of one grade the one that more is known of stands for the text. */
function speaks({ ruled, kind }: Graded): number {
  return Number(ruled) * 2 + Number(kind !== undefined);
}

function gradedOf(policy: CompiledAdmission, { rule, within, acknowledgement }: Reading, text: string, isTalk: boolean): Graded {
  if (acknowledgement === true) return { grade: 1, kind: undefined, reason: ACKNOWLEDGEMENT, ruled: true, text };
  if (rule === undefined && isTalk)
    return {
      grade: TALK_GRADE,
      kind: undefined,
      reason: 'it is a turn of a talk, and of no session that it could stay in',
      ruled: false,
      text,
    };
  if (rule === undefined) return { grade: policy.plainGrade, kind: undefined, reason: 'nothing speaks against it', ruled: false, text };
  const said: AdmissionRule = rule.drops && within !== undefined ? within : rule;
  return { grade: said.grade, kind: within?.kind ?? said.kind, reason: said.reason, ruled: !said.unsure, text };
}

function importanceOf({ importance: given }: WriteItem, { grade, ruled }: Graded, actor: Actor, policy: CompiledAdmission): number {
  const graded = (grade - 1) / (MAX_GRADE - 1);
  if (given === undefined || graded < policy.keepFrom) return graded;
  if (actor !== 'agent') return given;
  const hint = Math.min(given, policy.agentImportanceMax);
  // no rule speaks about it: its writer knows best; else it can be raised by the hint, not talked down
  return ruled ? Math.max(graded, hint) : hint;
}

function termOf(policy: CompiledAdmission, { text }: Graded, model: ModelGrade | undefined): number | undefined {
  const term = policy.volatile.find(({ pattern }) => pattern.test(text))?.ttlSeconds;
  return term ?? (model?.passing === true ? PASSING_SECONDS : undefined);
}
