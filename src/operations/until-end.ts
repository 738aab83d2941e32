/** An answer that is streamed works on after its call has returned: what the call holds is given back when the stream ends; invoke.ts uses it. */

/**
 * The same values, with `ended` called once: at the end, at a fault, or when the reader leaves (it asks for `return` or `throw`, as `for
 * await` and Readable.from do). A stream that nobody ever asks for anything holds on.
 */
export function untilEnd<T>(values: AsyncIterable<T>, ended: () => void): AsyncIterable<T> {
  const source = values[Symbol.asyncIterator]();
  let open = true;
  const end = (): void => {
    if (open) ended();
    open = false;
  };
  const watched = async (step: Promise<IteratorResult<T>>): Promise<IteratorResult<T>> => {
    try {
      const result = await step;
      if (result.done === true) end();
      return result;
    } catch (error) {
      end();
      throw error;
    }
  };
  const iterator: AsyncIterator<T> = {
    next: () => watched(source.next()),
    return: (value?: unknown) => watched(source.return?.(value) ?? Promise.resolve({ done: true, value })),
    throw: (error?: unknown) => watched(source.throw?.(error) ?? Promise.reject(new Error('the reader broke off', { cause: error }))),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

export function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
