/** The instructions that ship with the service. */
import { join } from 'node:path';
import { loadInstructions } from '../../../../src/operations/instructions-files.ts';

export const INSTRUCTIONS = loadInstructions(join(import.meta.dirname, '..', '..', '..', '..', 'policies'));
