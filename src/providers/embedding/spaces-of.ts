/** Which vector spaces a record belongs in: asked by the write that makes them due and by the reembedding of what was written before. */
import { bodyOf } from '../../text/body.ts';
import type { SpaceRouting } from './provider.ts';

/** Names of the spaces, by the text's scripts (local-models) or all there are (openai). */
export function spacesOf(
  routing: Pick<SpaceRouting, 'spacesForText'>,
  texts: { readonly title?: string | undefined; readonly content: string },
): readonly string[] {
  return routing.spacesForText(bodyOf(texts));
}
