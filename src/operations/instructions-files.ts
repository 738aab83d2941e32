/**
 * policies/instructions/{zh,en}.yaml -> one Markdown text for each language, at start-up; apart from instructions.ts, which the command
 * line loads with every operation and which must not bring the YAML reader along (30 ms of a cold call, measured).
 */
import { join } from 'node:path';
import { z } from 'zod';
import { HindsightError } from '../errors.ts';
import { loadPolicy } from '../policy.ts';
import { INSTRUCTION_LANGUAGES, type InstructionLanguage, type Instructions, type InstructionText } from './instructions.ts';

/** What a file must tell, in this order: an agent that is not told one of these uses the memory wrongly. */
const SECTIONS = ['recall', 'remember', 'change', 'avoid', 'reference', 'secrets'] as const;
const MAX_LINE_CHARS = 600;

const line = z.string().trim().min(1).max(MAX_LINE_CHARS);

/** policies/instructions/<lang>.yaml. */
const instructionsSchema = z.strictObject({
  version: z.literal(1),
  lang: z.enum(INSTRUCTION_LANGUAGES),
  title: line,
  sections: z
    .array(z.strictObject({ id: z.enum(SECTIONS), title: line, points: z.array(line).min(1).max(12) }))
    .refine((all) => all.map(({ id }) => id).join() === SECTIONS.join(), `must be the sections ${SECTIONS.join(', ')}, in this order`),
});

/** Both languages from `<policiesDir>/instructions`. ERR_CONFIG_INVALID naming the file and the fault. */
export function loadInstructions(policiesDir: string): Instructions {
  return { zh: loadOne(policiesDir, 'zh'), en: loadOne(policiesDir, 'en') };
}

function loadOne(policiesDir: string, lang: InstructionLanguage): InstructionText {
  const file = loadPolicy(join(policiesDir, 'instructions', `${lang}.yaml`), instructionsSchema);
  if (file.lang !== lang) throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail: `${lang}.yaml /lang must be ${lang}` } });
  const sections = file.sections.map(({ title, points }) => `## ${title}\n\n${points.map((point) => `- ${point}`).join('\n')}\n`);
  return Object.freeze({ title: file.title, text: `# ${file.title}\n\n${sections.join('\n')}` });
}
