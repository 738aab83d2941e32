/** One spelling of a JSON value: what is compared, hashed and signed, in the audit log as in the memory; equal values have equal text. Pure. */

/** JSON with sorted keys and without undefined members; undefined in a list is null, as JSON has it. Vectors are spelled at once. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    if (value.every((part) => typeof part === 'number')) return JSON.stringify(value);
    return `[${value.map((part: unknown) => (part === undefined ? 'null' : canonicalJson(part))).join(',')}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const part = members[key];
    if (part !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(part)}`;
  }
  return `{${text}}`;
}
