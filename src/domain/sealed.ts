/**
 * The sealed types: boxes that make a way around the guard a compile error.
 * The index writes only Admitted values, reads only with Scoped queries and hands out only Unscreened results.
 * Who may make or open which box is fenced by test/invariants/layers.test.ts (by imported name):
 * admit, scoped, openUnscreened: guard/guard.ts. openAdmitted, openScoped, unscreened: elastic/ and the two forms of working memory.
 * mapUnscreened: ranking/, memory/.
 */
import type { Scope } from './scope.ts';

const BOX: unique symbol = Symbol('box');

/** A value the guard let in. */
export interface Admitted<T> {
  readonly kind: 'admitted';
  readonly [BOX]: T;
}

/** A query bound to what its principal may see. */
export interface Scoped<Q> {
  readonly kind: 'scoped';
  readonly scope: Scope;
  readonly [BOX]: Q;
}

/** A result no one has checked yet. */
export interface Unscreened<T> {
  readonly kind: 'unscreened';
  readonly [BOX]: T;
}

export const admit = <T>(value: T): Admitted<T> => ({ kind: 'admitted', [BOX]: value });
export const openAdmitted = <T>(box: Admitted<T>): T => box[BOX];
export const scoped = <Q>(query: Q, scope: Scope): Scoped<Q> => ({ kind: 'scoped', scope, [BOX]: query });
export const openScoped = <Q>(box: Scoped<Q>): Q => box[BOX];
export const unscreened = <T>(value: T): Unscreened<T> => ({ kind: 'unscreened', [BOX]: value });
export const openUnscreened = <T>(box: Unscreened<T>): T => box[BOX];
/** Ranking and service code transforms results inside the box; they stay unscreened. */
export const mapUnscreened = <A, B>(box: Unscreened<A>, f: (value: A) => B): Unscreened<B> => unscreened(f(box[BOX]));
