/** The last look at secrets: tells the verdict of a masked record, and keeps out one that some path forgot to mask. */
import type { AdmissionStage } from '../admission.ts';
import { sealedTextsOf } from '../sealed-texts.ts';
import type { FindSecrets } from './detect.ts';
import { isCredential } from './finding.ts';

/** Rule id of a record that holds a credential in the clear. */
const UNMASKED = 'secret-unmasked';

/** Kinds in `masked` entries (`kind:fingerprint`), each once. */
export function maskedKinds(masked: readonly string[] | undefined): string[] {
  return [...new Set((masked ?? []).map((entry) => entry.split(':', 1)[0] ?? entry))];
}

/** After masking: verdict mask for what was masked, block for a credential that still stands there. */
export const secretStage = (find: FindSecrets): AdmissionStage => ({
  name: 'secrets',
  judge: (draft) => {
    for (const [field, texts] of Object.entries(sealedTextsOf(draft)))
      // lists and metadata come as a line for each string; a content is one text, in which a key spans lines
      for (const text of field === 'content' ? [texts] : texts.split('\n'))
        if (find(text).some(({ kind }) => isCredential(kind))) return { verdict: 'block', ruleIds: [UNMASKED] };
    const kinds = maskedKinds(draft.masked);
    return kinds.length === 0 ? {} : { verdict: 'mask', ruleIds: kinds.map((kind) => `masked-${kind}`) };
  },
});
