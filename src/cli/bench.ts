/** `bench`: runs a bench of the checkout; a package has none, and says where they are. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inLang, UsageError, type CommandSpec, type Invocation } from './command-spec.ts';
import { CommandFailed } from './failure.ts';
import { nearest } from './suggest.ts';

export const bench: CommandSpec = {
  name: 'bench',
  summary: { en: 'measure quality and latency (in a checkout)', zh: '测量质量与延迟（需源码目录）' },
  usage: 'bench [NAME [-- options of the bench]]',
  takesWords: true,
  options: {},
  notes: {
    en: 'Without a name it lists what there is. Everything after -- goes to the bench.',
    zh: '不带名字则列出可用的测试；-- 之后的内容传给该测试。',
  },
  examples: ['hindsight-es bench', 'hindsight-es bench quality', 'hindsight-es bench latency -- --help'],
  run: async (_values, invocation) => runBench(invocation),
};

async function runBench({ words, lang, stdout, env }: Invocation): Promise<number> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const names = benchesOf(join(root, 'bench'));
  if (names.length === 0 || !existsSync(join(root, 'node_modules', 'tsx')))
    throw new CommandFailed(
      inLang(
        {
          en: 'the benches are in a checkout of hindsight-es: clone it, run "npm install", then "npx hindsight-es bench" there',
          zh: '测试在 hindsight-es 的源码目录中：请克隆源码，运行 “npm install”，再在其中运行 “npx hindsight-es bench”',
        },
        lang,
      ),
    );
  const [name, ...options] = words;
  if (name === undefined) {
    stdout.write(`${names.join('\n')}\n`);
    return 0;
  }
  if (!names.includes(name)) {
    const near = nearest(name, names);
    const hint = near === undefined ? names.join(', ') : near;
    throw new UsageError(
      inLang({ en: `there is no bench "${name.slice(0, 40)}" (${hint}?)`, zh: `没有测试 "${name.slice(0, 40)}"（${hint}？）` }, lang),
      'bench',
    );
  }
  const file = [join(root, 'bench', `${name}.ts`), join(root, 'bench', name, 'main.ts')].find((path) => existsSync(path)) ?? '';
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...options], { cwd: root, env: { ...env }, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** `bench/NAME.ts`, and folders with a main.ts. */
function benchesOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((entry) => {
      if (entry.endsWith('.ts')) return [entry.slice(0, -'.ts'.length)];
      return statSync(join(folder, entry)).isDirectory() && existsSync(join(folder, entry, 'main.ts')) ? [entry] : [];
    })
    .sort();
}
