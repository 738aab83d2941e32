/** What an error of the OpenAI client may tell the log: never its message, in which endpoints repeat what they were sent. */
import { APIError } from 'openai';

/** For a `cause`: status and the endpoint's own name of the fault; the error itself where no answer came. */
export function statusOf(error: unknown): unknown {
  if (!(error instanceof APIError) || typeof error.status !== 'number') return error;
  const { status, code, cause } = error as APIError<number>;
  const name = typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? ` ${code}` : '';
  return new Error(`status ${String(status)}${name}`, { cause });
}
