/** What is declared is used: error rows, variables, metrics, signals, keys and ports that nothing in the service touches are taken out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';
import { loadConfig } from '../../src/config.ts';
import { CONFIG_VARIABLES } from '../../src/config/variables.ts';
import { ERRORS } from '../../src/errors.ts';
import { KEY_LABELS } from '../../src/gate/keys.ts';
import { loadProfiles } from '../../src/ranking/profile.ts';
import { WEIGHT_NAMES } from '../../src/ranking/signals/catalogue.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|mjs)$/.test(file))
  .map((file) => ({ file, code: readFileSync(join(root, 'src', file), 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '') }));

const codeOf = (keep: (file: string) => boolean): string =>
  sources
    .filter(({ file }) => keep(file))
    .map(({ code }) => code)
    .join('\n');

/** Names of the methods and function properties of all interfaces of a file. */
function methodsOf(file: string): string[] {
  const tree = ts.createSourceFile(file, readFileSync(join(root, 'src', file), 'utf8'), ts.ScriptTarget.Latest);
  const names: string[] = [];
  for (const statement of tree.statements)
    if (ts.isInterfaceDeclaration(statement))
      for (const member of statement.members)
        if (ts.isMethodSignature(member) && ts.isIdentifier(member.name)) names.push(member.name.text);
  return names;
}

/** Dotted paths of everything a configuration holds, objects themselves left out. */
function leaves(value: object, path: readonly string[] = []): string[][] {
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) =>
    typeof part === 'object' && part !== null && !Array.isArray(part) ? leaves(part, [...path, key]) : [[...path, key]],
  );
}

describe('what is declared is used', () => {
  it('every error row is thrown somewhere', () => {
    const code = codeOf((file) => file !== 'errors.ts');
    expect(Object.keys(ERRORS).filter((name) => !code.includes(`'${name}'`))).to.deep.equal([]);
  });

  it('every environment variable becomes a part of the configuration', () => {
    const code = codeOf((file) => file === 'config.ts');
    expect(CONFIG_VARIABLES.map(({ name }) => name).filter((name) => !new RegExp(`\\bv\\.${name}\\b`).test(code))).to.deep.equal([]);
  });

  it('every part of the configuration is read outside it', () => {
    const code = codeOf((file) => !/^config/.test(file));
    const config = loadConfig({ HINDSIGHT_LOCAL: 'true', HOME: '/home/nobody' });
    const unread = leaves(config).filter(([first = '', ...rest]) => {
      const last = rest.at(-1);
      const opened = new RegExp(`\\b(?:config|local)\\.${first}\\b|\\{[^{}]*\\b${first}\\b[^{}]*\\}[^;]{0,40}\\b[cC]onfig\\b`).test(code);
      return !opened || (last !== undefined && !new RegExp(`\\b${last}\\b`).test(code));
    });
    expect(unread.map((path) => path.join('.'))).to.deep.equal([]);
  });

  it('every metric is observed by the service, and shows once it is', async () => {
    const metrics = createMetrics();
    const methods = Object.keys(metrics).filter((name) => name !== 'contentType' && name !== 'render');
    const code = codeOf((file) => !file.startsWith('telemetry/'));
    expect(methods.filter((name) => !new RegExp(`\\bmetrics\\.${name}\\b`).test(code))).to.deep.equal([]);

    metrics.requestDone('GET', '/x', 200, 1);
    metrics.operationDone('x', 'OK', 1);
    metrics.elasticDone('search', 'ok', 1);
    metrics.searchDegraded('vector');
    metrics.rateLimited('tenant');
    metrics.readHeldBack('quarantine');
    metrics.rescanUnchecked(1);
    metrics.rescanFound('bias', 'quarantined');
    metrics.rescanSampled(1);
    metrics.pendingExpired();
    metrics.judged('passed');
    metrics.policies('current');
    metrics.auditUp(true);
    metrics.auditDropped();
    metrics.recallsDropped(1);
    metrics.shortcutTaken('limits_without_redis');
    metrics.embedFailed('unavailable');
    metrics.embedQueue({ due: 1, dead: 1, deadBy: { unavailable: 1, rejected: 1, store: 1, other: 1 }, foreign: 1 });
    metrics.reembedUnchecked(1);
    const page = await metrics.render();
    const declared = [...page.matchAll(/^# TYPE (hindsight_\w+)/gm)].map(([, name]) => name as string);
    expect(declared.length).to.be.above(methods.length - 1);
    expect(declared.filter((name) => !new RegExp(`^${name}(?:_bucket|_count)?(?:\\{[^\\n]*\\})? [1-9]`, 'm').test(page))).to.deep.equal([]);
  });

  it('every ranking signal has a weight in some profile', () => {
    const profiles = [...loadProfiles(join(root, 'policies', 'ranking')).values()];
    expect(WEIGHT_NAMES.filter((name) => !profiles.some(({ weights }) => (weights[name] ?? 0) > 0))).to.deep.equal([]);
  });

  it('every key label has a key derived for it', () => {
    const code = codeOf((file) => file !== 'gate/keys.ts');
    const without = Object.keys(KEY_LABELS).filter((label) => !code.includes(`deriveKey('${label}')`));
    expect(without).to.deep.equal([]);
  });

  for (const port of ['domain/ports.ts', 'memory/gateway.ts', 'elastic/schema.ts', 'gate/keys.ts', 'providers/embedding/provider.ts'])
    it(`every method of ${port} is called by someone`, () => {
      const code = codeOf((file) => file !== port);
      const methods = methodsOf(port);
      expect(methods, 'methods read').to.not.have.length(0);
      expect(methods.filter((name) => !new RegExp(`(?<!\\bclient)\\.${name}\\b`).test(code))).to.deep.equal([]);
    });
});
