/** The dependency rules of the code base: who may import whom, which package lives where, who may open which sealed box. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';

const src = join(import.meta.dirname, '..', '..', 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts'));

interface Import {
  readonly from: string;
  readonly to: string;
  readonly names: readonly string[];
  /** A file of src; types count too. */
  readonly local: boolean;
}

/** Every import, export-from and dynamic import of the sources, read from their syntax trees. */
const imports: Import[] = files.flatMap((from) => {
  const source = ts.createSourceFile(from, readFileSync(join(src, from), 'utf8'), ts.ScriptTarget.Latest);
  const found: Import[] = [];
  const add = (specifier: ts.Expression | undefined, names: readonly string[]): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const local = specifier.text.startsWith('.');
    found.push({ from, to: local ? relative(src, join(src, dirname(from), specifier.text)) : specifier.text, names, local });
  };
  const walk = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      const named = bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : [];
      // a namespace import could reach every name
      const all = bindings !== undefined && ts.isNamespaceImport(bindings) ? ['*'] : [];
      add(node.moduleSpecifier, [...named.map((e) => (e.propertyName ?? e.name).text), ...all]);
    } else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, ['*']);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], ['*']);
    ts.forEachChild(node, walk);
  };
  walk(source);
  return found;
});

/** Lower layers first; a file may import its own layer (within its folder) and every lower one. */
const LAYERS: readonly (readonly string[])[] = [
  ['errors.ts', 'text', 'domain'],
  ['telemetry', 'policy.ts', 'config', 'config.ts'],
  ['providers', 'ranking', 'redis'],
  ['gate', 'keys'],
  ['guard'],
  ['elastic', 'stores'],
  ['memory'],
  ['operations', 'jobs'],
  ['http'],
  ['mcp'],
];
const TOP = ['compose', 'compose.ts', 'main.ts', 'cli', 'bootstrap'];

const room = (file: string): string => file.split('/')[0] ?? file;
const level = (file: string): number => LAYERS.findIndex((l) => l.includes(room(file)));

const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@elastic/elasticsearch': ['elastic/', 'stores/'],
  ioredis: ['redis/', 'gate/rate-limiter'],
  openai: ['providers/'],
  jose: ['gate/'],
  'rate-limiter-flexible': ['gate/rate-limiter'],
  'secure-json-parse': ['http/json'],
  pino: ['telemetry/logger'],
  'prom-client': ['telemetry/metrics'],
  yaml: ['policy.ts', 'ranking/profile'],
  koa: ['http/', 'mcp/'],
  '@koa/router': ['http/'],
  '@modelcontextprotocol/sdk': ['mcp/'],
  'onnxruntime-node': ['providers/embedding/'],
  '@huggingface/tokenizers': ['providers/embedding/'],
};

/** The two forms of working memory: stores as elastic/ is one. */
const WORKING = ['redis/working-memory.ts', 'memory/working/in-process.ts'];

const SEALS: Readonly<Record<string, readonly string[]>> = {
  admit: ['guard/guard.ts'],
  scoped: ['guard/guard.ts'],
  openUnscreened: ['guard/guard.ts'],
  openAdmitted: ['elastic/', ...WORKING],
  openScoped: ['elastic/', ...WORKING],
  unscreened: ['elastic/', ...WORKING],
  mapUnscreened: ['ranking/', 'memory/'],
};

describe('layers', () => {
  it('every folder of src has a place in the order', () => {
    expect(imports.length, 'imports read').to.be.greaterThan(files.length);
    expect(files.filter((f) => level(f) === -1 && !TOP.includes(room(f)))).to.deep.equal([]);
  });

  it('a file imports only its own and lower layers', () => {
    const faults = imports.filter(({ from, to, local }) => {
      if (!local || TOP.includes(room(from))) return false;
      if (TOP.includes(room(to))) return true;
      return level(to) > level(from);
    });
    expect(faults.map((f) => `${f.from} -> ${f.to}`)).to.deep.equal([]);
  });

  it('memory is reached from operations, http, mcp and jobs through its gateway alone', () => {
    const faults = imports.filter(
      ({ from, to }) =>
        ['operations', 'http', 'mcp', 'jobs'].includes(room(from)) && room(to) === 'memory' && !to.startsWith('memory/gateway'),
    );
    expect(faults.map((f) => `${f.from} -> ${f.to}`)).to.deep.equal([]);
  });

  it('a package is imported only inside its fence', () => {
    const faults = imports.filter(({ from, to, local }) => {
      const name = Object.keys(PACKAGES).find((p) => to === p || to.startsWith(`${p}/`));
      return !local && name !== undefined && !PACKAGES[name]?.some((place) => from.startsWith(place));
    });
    expect(faults.map((f) => `${f.from} -> ${f.to}`)).to.deep.equal([]);
  });

  it('a sealed box is made and opened only by those who may', () => {
    const faults = imports
      .filter(({ to }) => to === 'domain/sealed.ts')
      .flatMap(({ from, names }) =>
        names
          .filter((n) => n === '*' || (SEALS[n] !== undefined && !SEALS[n].some((place) => from.startsWith(place))))
          .map((n) => `${from}: ${n}`),
      );
    expect(faults).to.deep.equal([]);
  });

  it('there are no import cycles', () => {
    const graph = new Map(files.map((f) => [f, imports.filter((i) => i.from === f && i.local).map((i) => i.to)]));
    const done = new Set<string>();
    const cycles: string[] = [];
    const walk = (file: string, path: readonly string[]): void => {
      const at = path.indexOf(file);
      if (at !== -1) cycles.push([...path.slice(at), file].join(' -> '));
      if (at !== -1 || done.has(file)) return;
      for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
    expect(cycles).to.deep.equal([]);
  });

  it('the environment, the wall clock and stdout are touched in one place each', () => {
    const rules: readonly (readonly [RegExp, RegExp])[] = [
      // providers/embedding/local.ts sets, for the ONNX runtime's native code, what that reads from the environment alone
      [/\bprocess\.env\b/, /^(config\.ts|main\.ts|bootstrap\/|providers\/embedding\/local\.ts)/],
      [/\bDate\.now\(|\bnew Date\(\)/, /^domain\/clock\.ts/],
      [/\bconsole\.|\bprocess\.stdout\b/, /^(cli\/|main\.ts|mcp\/stdio)/],
    ];
    const faults = files.flatMap((file) => {
      const code = readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return rules.filter(([use, place]) => use.test(code) && !place.test(file)).map(([use]) => `${file}: ${use.source}`);
    });
    expect(faults).to.deep.equal([]);
  });
});
