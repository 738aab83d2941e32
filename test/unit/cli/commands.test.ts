/** The command line: help texts, and what is said about commands and options that are wrong. */
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { langOption, parseCommandLine } from '../../../src/cli/command-line.ts';
import { inLang, LANGS, UsageError } from '../../../src/cli/command-spec.ts';
import { findCommand, loadCommands, overview } from '../../../src/cli/commands.ts';
import { nearest } from '../../../src/cli/suggest.ts';
import { CONFIG_VARIABLES } from '../../../src/config.ts';
import { languageOf, wantsColours } from '../../../src/config/terminal.ts';
import { operations } from '../../../src/operations/index.ts';
import { runCli } from '../../support/cli-run.ts';

describe('commands', () => {
  it('has one for every operation, named as the operation is', async () => {
    const names = (await loadCommands()).map(({ name }) => name);
    expect(names).to.include.members(operations.map(({ name, cli }) => cli?.name ?? name.replace('memory_', '').replaceAll('_', '-')));
    expect(new Set(names).size).to.equal(names.length);
  });

  it('lists every command with its summary, in both languages', async () => {
    for (const lang of LANGS)
      for (const { name, spec } of await loadCommands())
        expect(await overview(lang)).to.include(`  ${name.padEnd(13)} ${inLang(spec.summary, lang)}`);
    expect(await overview('zh')).to.match(/检索记忆/);
  });

  it('says what each command and each option does in Chinese too', async () => {
    const unsaid = (await loadCommands()).flatMap(({ name, spec }) => [
      ...(/\p{Script=Han}/u.test(inLang(spec.summary, 'zh')) ? [] : [name]),
      ...Object.entries(spec.options ?? {})
        .filter(([, { description }]) => !/\p{Script=Han}/u.test(inLang(description, 'zh')))
        .map(([option]) => `${name} --${option}`),
    ]);
    expect(unsaid).to.deep.equal([]);
  });

  it('prints usage, options, examples and exit codes of each', async () => {
    for (const command of await loadCommands()) {
      const help = await command.help('en');
      expect(help).to.match(new RegExp(`\\n\\nUsage: hindsight-es ${command.name}( |\n)`));
      expect(help)
        .to.match(/\nOptions:\n {2}-/)
        .and.match(/\nExamples:\n {2}\S/)
        .and.match(/\n {2}5 {2}service or a part of it away/);
      expect(await command.help('zh'), command.name)
        .to.match(/\n选项:\n/)
        .and.match(/退出码/);
    }
  });

  it('shows examples that its own parser takes', async () => {
    const shell = /['"]((?:[^'"]|'\\'')*)['"]|(\S+)/g;
    for (const { name, spec } of await loadCommands())
      for (const example of spec.examples.filter((e) => /^hindsight-es [^|<>$&]*$/.test(e))) {
        const words = [...example.matchAll(shell)].map(([, quoted, plain]) => quoted?.replaceAll(`'\\''`, "'") ?? plain ?? '');
        expect(words[1], example).to.be.oneOf([name, ...(spec.aliases ?? [])]);
        expect(() => parseCommandLine(spec, words.slice(2), 'en'), example).not.to.throw();
      }
  });

  it('answers to the names that people expect', async () => {
    expect((await findCommand('remember', 'en')).name).to.equal('write');
    expect((await findCommand('recall', 'en')).name).to.equal('search');
  });

  it('names every variable in the help of serve, with its default and with the file of a secret', async () => {
    const help = await (await findCommand('serve', 'en')).help('en');
    for (const { name, default: byDefault, derived } of CONFIG_VARIABLES) {
      const line = help.split('\n').find((l) => l.startsWith(`  ${name} `)) ?? '';
      expect(line, name).to.include(byDefault ?? derived ?? '');
    }
    expect(help).to.match(/^ {2}MASTER_KEY .*or MASTER_KEY_FILE\)$/m);
  });

  it('suggests the command and the option that was probably meant, and leaves with 2', async () => {
    expect(await runCli(['serach'])).to.deep.equal({
      code: 2,
      out: '',
      err: 'hindsight-es: there is no command "serach"; did you mean "search"?; try "hindsight-es --help"\n',
    });
    const option = await runCli(['search', 'tea', '--topk', '3']);
    expect([option.code, option.err]).to.deep.equal([
      2,
      'hindsight-es: Unknown option --topk (did you mean --top-k?); try "hindsight-es search --help"\n',
    ]);
    expect((await runCli(['xyzzy'])).err).not.to.contain('mean');
    expect((await runCli(['serach'], { lang: 'zh' })).err).to.contain('没有命令 "serach"；是否想用 "search"？');
  });

  it('refuses options that it does not know, and words that are no options', async () => {
    for (const args of [['--colour'], ['now'], ['--port'], ['--local=yes']]) {
      const { code, err } = await runCli(['serve', ...args]);
      expect(code, args.join()).to.equal(2);
      expect(err, args.join()).to.match(/^hindsight-es: [A-Z][^\n]{5,200}; try "hindsight-es serve --help"\n$/);
    }
  });

  it('takes its language from --lang, else from the locale', () => {
    expect(langOption(['search', 'x', '--lang', 'zh'])).to.equal('zh');
    expect(langOption(['--lang=en', 'search'])).to.equal('en');
    expect(langOption(['write', '--', '--lang', 'xx'])).to.equal(undefined);
    expect(() => langOption(['--lang', 'fr'])).to.throw(UsageError, 'zh');
    expect(languageOf({ LANG: 'zh_CN.UTF-8' })).to.equal('zh');
    expect(languageOf({ LANG: 'zh_CN.UTF-8', LC_ALL: 'C' })).to.equal('en');
    expect(languageOf({})).to.equal('en');
  });

  it('colours nothing where NO_COLOR is set or the terminal is dumb', () => {
    expect(wantsColours({})).to.equal(true);
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) expect(wantsColours(env)).to.equal(false);
  });
});

describe('nearest', () => {
  const known = ['search', 'serve', 'status', 'get', 'list'];
  for (const [given, meant] of [
    ['serach', 'search'],
    ['stat', 'status'],
    ['gt', 'get'],
    ['lst', 'list'],
    ['zz', undefined],
    ['export', undefined],
  ] as const)
    it(`takes ${given} for ${meant ?? 'nothing'}`, () => expect(nearest(given, known)).to.equal(meant));
});

describe('token', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'hindsight-token-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const WRONG: Readonly<Record<string, readonly string[]>> = {
    '--scope takes memory:read': ['--scope', 'memory:everything'],
    '--scope takes': ['--scope', ' '],
    '--actor takes user': ['--actor', 'robot'],
    '--namespaces takes': ['--namespaces', 'Team.Sales'],
    '--ttl takes whole seconds from 1 to 7776000': ['--ttl', '7776001'],
    '--ttl takes whole': ['--ttl', '1.5'],
    'the token’s tenant is not valid': ['--tenant', 'a b'],
  };
  for (const [sentence, args] of Object.entries(WRONG))
    it(`refuses ${args.join(' ')}`, async () => {
      const { code, err } = await runCli(['token', '--data-dir', dataDir, ...args]);
      expect(code).to.equal(2);
      expect(err).to.include(sentence);
    });
});
