/** Every regular expression that modules hold: literals from their syntax, made ones caught while a fresh copy of the module loads. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

export interface FoundRegex {
  /** File and line, or file alone for one that is put together when the module loads. */
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/** Of all modules under a folder of src. One that a function makes when it is called is not among them: `caught` sees such. */
export async function regexesUnder(dir: string): Promise<readonly FoundRegex[]> {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .sort();
  const found: FoundRegex[] = [];
  for (const path of files) {
    const file = join(dir, path);
    const { literals, made } = regexesOf(file, path);
    found.push(...literals);
    if (made) found.push(...(await whileLoading(file, path)));
  }
  return found;
}

function regexesOf(file: string, name: string): { readonly literals: readonly FoundRegex[]; readonly made: boolean } {
  const tree = ts.createSourceFile(name, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  const literals: FoundRegex[] = [];
  let made = false;
  const where = (node: ts.Node): string => `${name}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      literals.push({ where: where(node), source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') made = true;
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { literals, made };
}

function whileLoading(file: string, name: string): Promise<readonly FoundRegex[]> {
  return caught(name, () => import(`${pathToFileURL(file).href}?fresh=${Math.random()}`));
}

/** Every one that `work` makes with `new RegExp` in our own code; a dependency's are its maker's. */
export async function caught(where: string, work: () => unknown): Promise<readonly FoundRegex[]> {
  const made: FoundRegex[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, args: [string | RegExp, string?]) {
      const regex = new target(...args);
      const caller = new Error().stack?.split('\n')[2] ?? '';
      if (!caller.includes('node_modules')) made.push({ where, source: regex.source, flags: regex.flags });
      return regex;
    },
  });
  try {
    await work();
  } finally {
    globalThis.RegExp = original;
  }
  return made;
}
