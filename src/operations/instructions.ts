/** What an agent is told about using this memory: languages and shapes; instructions-files.ts reads the texts from policies/. */

export const INSTRUCTION_LANGUAGES = ['zh', 'en'] as const;
export type InstructionLanguage = (typeof INSTRUCTION_LANGUAGES)[number];

export interface InstructionText {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
}

export type Instructions = Readonly<Record<InstructionLanguage, InstructionText>>;
