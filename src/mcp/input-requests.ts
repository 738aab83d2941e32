/** What one call of revision 2026-07-28 asks its client: answers that came with the call, or questions that go back as its result. */
import { HindsightError } from '../errors.ts';
import type { Confirm, Kept } from '../operations/confirm.ts';
import { confirmationForm, confirmationOf, showsForms } from './confirmation.ts';
import { RpcRefusal } from './modern-request.ts';
import type { KeptState, RequestStates, StateBinding } from './request-state.ts';

type Json = Readonly<Record<string, unknown>>;

export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: Json;
}

type Earlier = Pick<KeptState, 'answers' | 'kept'>;

const INVALID_PARAMS = -32602;

export class InputRequests {
  readonly #states: RequestStates;
  readonly #binding: StateBinding;
  /** All answers so far, by key. */
  readonly #answers: Json;
  /** What operations keep with their questions, by key. */
  #kept: Readonly<Record<string, Kept>>;
  #pending: Readonly<Record<string, InputRequest>> | undefined;
  readonly confirm: Confirm;

  private constructor(states: RequestStates, binding: StateBinding, capabilities: unknown, { answers, kept }: Earlier) {
    this.#states = states;
    this.#binding = binding;
    this.#answers = answers;
    this.#kept = kept;
    this.confirm = {
      canAsk: showsForms(capabilities),
      leg: 'retry',
      kept: (key) => this.#kept[key],
      ask: async (key, message, toKeep) => {
        if (toKeep !== undefined) this.#kept = { ...this.#kept, [key]: toKeep };
        const found = await this.ask({ [key]: { method: 'elicitation/create', params: confirmationForm(message) } });
        return confirmationOf(found[key] ?? {});
      },
    };
  }

  /** Answers count only with the state that asked for them. Throws RpcRefusal (400) for a state that is not good, or answers that are none. */
  static async of(states: RequestStates, binding: StateBinding, params: Json, capabilities: unknown): Promise<InputRequests> {
    const { inputResponses: given, requestState: state } = params;
    if (given !== undefined && !isObject(given))
      throw new RpcRefusal(400, INVALID_PARAMS, 'Invalid params: inputResponses must be an object');
    if (state === undefined) return new InputRequests(states, binding, capabilities, { answers: {}, kept: {} });
    const earlier = await states.open(state, binding);
    if (earlier === undefined)
      throw new RpcRefusal(
        400,
        INVALID_PARAMS,
        'Invalid requestState: it was changed, used, too old or of another call; call again without it',
      );
    const answered = Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => earlier.asked.includes(key)));
    return new InputRequests(states, binding, capabilities, { answers: { ...earlier.answers, ...answered }, kept: earlier.kept });
  }

  /** An answer to each question, or ERR_CONFIRMATION_NEEDED, after which `result` holds those without one. */
  async ask(requests: Readonly<Record<string, InputRequest>>): Promise<Readonly<Record<string, Json>>> {
    const open = Object.entries(requests).filter(([key, { method }]) => !isAnswer(method, this.#answers[key]));
    if (open.length === 0) return this.#answers as Readonly<Record<string, Json>>;
    this.#pending = Object.fromEntries(open);
    throw new HindsightError('ERR_CONFIRMATION_NEEDED');
  }

  /** The InputRequiredResult, when something was asked. */
  result(): Json | undefined {
    if (this.#pending === undefined) return undefined;
    const kept = { asked: Object.keys(this.#pending), answers: this.#answers, kept: this.#kept };
    const requestState = this.#states.seal(this.#binding, kept);
    return { resultType: 'input_required', inputRequests: this.#pending, requestState };
  }
}

/** What has not even the shape of an answer is asked for again. */
function isAnswer(method: InputRequest['method'], answer: unknown): boolean {
  if (!isObject(answer)) return false;
  if (method === 'elicitation/create') return ['accept', 'decline', 'cancel'].includes(String(answer['action']));
  return method === 'roots/list' ? Array.isArray(answer['roots']) : isObject(answer['content']);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
