/** Counts work by watching calls of a built-in method: a guard on linear time that no clock disturbs. */

/** Runs `work` while `onCall` sees `this` and the first argument of each call of `owner[name]`; the method is put back afterwards. */
export function watchCalls(owner: object, name: string, onCall: (self: unknown, first: unknown) => void, work: () => void): void {
  const original = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  Reflect.set(owner, name, function (this: unknown, ...args: unknown[]) {
    onCall(this, args[0]);
    return original.apply(this, args);
  });
  try {
    work();
  } finally {
    Reflect.set(owner, name, original);
  }
}
