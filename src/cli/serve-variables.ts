/** The environment variables of `serve` for its help, from the one table of the configuration. */
import { CONFIG_VARIABLES } from '../config.ts';

/** Name and description, with the default and the file of a secret. */
export function serveVariables(): readonly (readonly [name: string, description: string])[] {
  return CONFIG_VARIABLES.map((v) => {
    const byDefault = v.default ?? v.derived;
    const notes = [byDefault === undefined ? '' : `default: ${byDefault}`, v.secret === true ? `or ${v.name}_FILE` : ''].filter(Boolean);
    return [v.name, `${v.description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`] as const;
  });
}
