/** The body of a record: what decides its language and its vector spaces, at the write and in the embed job alike. */

/** Title and content in full. */
export function bodyOf({ title, content }: { readonly title?: string | undefined; readonly content: string }): string {
  return title === undefined ? content : `${title}\n${content}`;
}
