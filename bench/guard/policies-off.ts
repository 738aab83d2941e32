/** A copy of the policies in which no text rule and no anomaly can hold: what the guard costs in recall is told by the difference to it. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** No text holds this: the pattern asks for a character before the start of the text. */
const NOTHING = '[^]^';

/**
 * Copies `policies` to `target` and takes the guard's rules out. There is no switch in the product: what this makes is a folder of policies in
 * the bench's own temporary folder, gone with the run. Throws when the files have changed in a way this does not know.
 */
export function writePoliciesWithoutRules(policies: string, target: string): void {
  cpSync(policies, target, { recursive: true });
  const change = (file: string, edit: (text: string) => string): void => {
    const path = join(target, 'guard', file);
    const before = readFileSync(path, 'utf8');
    const after = edit(before);
    if (after === before) throw new Error(`policies/guard/${file} has another form than the bench knows`);
    writeFileSync(path, after);
  };
  change('concepts.yaml', () => `version: 1\nconcepts:\n  nothing:\n    any: ['${NOTHING}']\n`);
  change(
    'rules.yaml',
    () => `version: 1\nrules:\n  - { id: nothing, class: directive, all: [nothing], match: ['none'], pass: ['any text'] }\n`,
  );
  change('anomaly.yaml', (text) => text.replace(/^max_tier: \w+$/m, 'max_tier: external'));
}
