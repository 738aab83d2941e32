/** What follows from an operation's HTTP binding alone. */
import type { HttpBinding } from '../operations/define.ts';

/** Names of the `:name` segments. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** GET and DELETE take their fields from path and query. */
export function takesBody(binding: Pick<HttpBinding, 'method'>): boolean {
  return binding.method !== 'GET' && binding.method !== 'DELETE';
}
