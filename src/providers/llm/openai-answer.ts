/** Reads the answer of an OpenAI-compatible /chat/completions call, which is untrusted: one finished message, no tools, one JSON object of the schema. */
import type { ZodType } from 'zod';
import { LanguageModelRejected } from './provider.ts';

/** A longer message is no answer to any of our questions. */
const MAX_ANSWER_CHARS = 100_000;
/** Reasoning that some local models write before their answer, once and at the very start. */
const THOUGHTS = /^\s*<think>[\s\S]*?<\/think>/;
/** The whole message as one fenced block, as models write it whose server knows no response_format. */
const FENCED = /^```(?:json)?\s*\n([\s\S]*)\n\s*```$/;

/**
 * The object of the schema in the first choice.
 * @throws LanguageModelRejected for anything else: text around the object, a further field, a tool call, a refusal, an answer cut off.
 * Source: OpenAI API reference, "Create chat completion" (choices[].message, finish_reason).
 */
export function readCompletion<T>(answer: unknown, schema: ZodType<T>): T {
  const [choice]: unknown[] = listOf(field(answer, 'choices'));
  const message = field(choice, 'message');
  const finish = field(choice, 'finish_reason');
  if (finish === 'length') throw new LanguageModelRejected('the answer was cut off');
  if (finish === 'content_filter') throw new LanguageModelRejected('the answer was filtered');
  if (typeof field(message, 'refusal') === 'string') throw new LanguageModelRejected('the model refused to answer');
  if (listOf(field(message, 'tool_calls')).length > 0 || isObject(field(message, 'function_call')))
    throw new LanguageModelRejected('the model called a tool instead of answering');
  const content = field(message, 'content');
  if (typeof content !== 'string') throw new LanguageModelRejected('the answer holds no text');
  if (content.length > MAX_ANSWER_CHARS) throw new LanguageModelRejected('the answer is too long');
  const parsed = schema.safeParse(jsonOf(content), { reportInput: false });
  if (!parsed.success) throw new LanguageModelRejected('the answer does not fit the schema');
  return parsed.data;
}

function jsonOf(content: string): unknown {
  const text = content.replace(THOUGHTS, '').trim();
  try {
    return JSON.parse(FENCED.exec(text)?.[1] ?? text) as unknown;
  } catch {
    // the parser's message quotes the text
    throw new LanguageModelRejected('the answer is not JSON');
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const field = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
