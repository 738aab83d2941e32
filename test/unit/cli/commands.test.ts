/** The command line: help texts, and what is said about options that are wrong. */
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands, overview, UsageError } from '../../../src/cli/commands.ts';
import { CONFIG_VARIABLES } from '../../../src/config.ts';

const command = (name: string) => {
  const found = commands.find((c) => c.name === name);
  if (found === undefined) throw new Error(`no command ${name}`);
  return found;
};

describe('commands', () => {
  it('lists every command with its summary', () => {
    for (const { name, summary } of commands) expect(overview()).to.match(new RegExp(`^ {2}${name} +${summary}$`, 'm'));
  });

  it('prints usage, options and examples of each', () => {
    for (const c of commands) {
      expect(c.help()).to.match(new RegExp(`^${c.summary}\n\nUsage: hindsight-es ${c.name} `));
      expect(c.help())
        .to.match(/\nOptions:\n {2}--/)
        .and.match(/\nExamples:\n {2}\S/);
    }
  });

  it('names every variable in the help of serve, with its default and with the file of a secret', () => {
    const help = command('serve').help();
    for (const { name, default: byDefault, derived } of CONFIG_VARIABLES) {
      const line = help.split('\n').find((l) => l.startsWith(`  ${name} `)) ?? '';
      expect(line, name).to.include(byDefault ?? derived ?? '');
    }
    expect(help).to.match(/^ {2}MASTER_KEY .*or MASTER_KEY_FILE\)$/m);
  });

  it('refuses options that it does not know, and words that are no options', async () => {
    for (const args of [['--colour'], ['now'], ['--port'], ['--local=yes']]) {
      const thrown: unknown = await command('serve')
        .run(args)
        .catch((error: unknown) => error);
      expect(thrown, args.join()).to.be.instanceOf(UsageError).with.property('command', 'serve');
      expect((thrown as Error).message, args.join()).to.match(/^[A-Z][^\n]{5,200}[^.\n]$/);
    }
  });
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
      const thrown: unknown = await command('token')
        .run(['--data-dir', dataDir, ...args])
        .catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(UsageError);
      expect((thrown as Error).message).to.include(sentence);
    });
});
