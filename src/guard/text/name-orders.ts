/** Orders in the few words of a namespace's name (policies/guard/names.yaml), which the rules of texts do not tell from the name of a collection. */
import { z } from 'zod';
import type { DeepReadonly } from '../../policy.ts';

const names = z.array(z.string().min(1)).min(1);

export const nameOrdersSchema = z.strictObject({
  version: z.int().min(1),
  parts: z.record(z.string().regex(/^[a-z]+$/), z.string().min(1)),
  orders: z
    .array(z.strictObject({ id: z.string().regex(/^name-[a-z-]+$/), patterns: names, match: names, pass: names }))
    .min(1, 'must hold an order: without any, no name is judged'),
});

export type NameOrdersPolicy = DeepReadonly<z.output<typeof nameOrdersSchema>>;

/** Ids of the orders that the words of a name give: lower-case, one space between them. */
export type NameOrders = (words: string) => readonly string[];

/** Throws a sentence naming the order that names a part that there is not, or whose pattern is none. */
export function compileNameOrders({ parts, orders }: NameOrdersPolicy): NameOrders {
  const compiled = orders.map(({ id, patterns }) => {
    const spelledOut = (pattern: string): string =>
      pattern.replace(/<([a-z]+)>/g, (_part, name: string) => {
        const part = parts[name];
        if (part === undefined) throw new Error(`${id} names the part ${name}, which there is not`);
        return part;
      });
    return { id, tests: patterns.map((pattern) => new RegExp(spelledOut(pattern))) };
  });
  return (words) => compiled.filter(({ tests }) => tests.some((test) => test.test(words))).map(({ id }) => id);
}
