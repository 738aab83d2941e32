/** The one question that every leg of MCP can put to a user: a yes or no, as a form of one field. */
import type { Confirmation } from '../operations/confirm.ts';

type Json = Readonly<Record<string, unknown>>;

/** Params of elicitation/create; a form, because anything a URL could show is on the service's own page (MCP 2025-11-25, elicitation). */
export function confirmationForm(message: string) {
  return {
    mode: 'form' as const,
    message,
    requestedSchema: {
      type: 'object' as const,
      properties: { confirm: { type: 'boolean' as const, title: 'Yes, do it' } },
      required: ['confirm'],
    },
  };
}

/** Only a plain yes is one, and only what the user chose is a no: a form that was closed or sent empty leaves the question open. */
export function confirmationOf({ action, content }: Json): Confirmation {
  const choice = (content as Json | undefined)?.['confirm'];
  if (action === 'accept' && choice === true) return 'accepted';
  return action === 'decline' || (action === 'accept' && choice === false) ? 'declined' : 'unanswered';
}

/** Whether a client that declared these capabilities shows forms; an empty object means forms. */
export function showsForms(capabilities: unknown): boolean {
  const elicitation = (capabilities as Json | undefined)?.['elicitation'] as Json | undefined;
  return typeof elicitation === 'object' && elicitation !== null && (elicitation['form'] !== undefined || elicitation['url'] === undefined);
}
