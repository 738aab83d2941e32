/** npm run bench:secrets: what the detectors of secrets and personal data find in the development set and in the held-out rows, and what they cost. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Finding } from '../src/guard/secrets/finding.ts';
import { loadSecretFinder } from '../src/guard/secrets/policy.ts';
import { heldOutSecrets, type SecretRow } from '../test/support/secret-rows.ts';
import { markdownTable } from './report/markdown.ts';
import { COMMON_OPTIONS, UsageError, type BenchCommand } from './support/options.ts';
import { runBench } from './support/run.ts';
import { wilson } from './support/wilson.ts';

const COMMAND: BenchCommand = {
  name: 'bench:secrets',
  summary: 'secrets and personal data found, look-alikes altered, CPU time on clean and on hostile text',
  options: {
    data: { description: 'folder of secrets_dev.jsonl.gz; without it the held-out rows alone' },
    ...COMMON_OPTIONS,
  },
};

const CREDENTIALS: readonly string[] = ['api_key', 'private_key', 'jwt', 'connection_string'];
const HOSTILE_CHARS = 32_768;
const HOSTILE = [
  '1 ',
  'sk-',
  'password is ',
  'key ',
  '-----BEGIN PRIVATE KEY-----',
  'a.a.',
  '://a:b',
  '+1 303 ',
  '密码是',
  '１',
  'a\u200b',
  '%61',
  '@',
];
const CLEAN_EN =
  'We moved the weekly sync to Thursday because the design team is travelling; Maya takes the notes and Tom brings the numbers of May.';
const CLEAN_ZH =
  '周四下午和设计团队开会，主要讨论新版首页的配色和文案，会后由小李整理纪要并同步给市场部，下周一之前给出第二版草图，大家都觉得可以。';

const find = loadSecretFinder(join(import.meta.dirname, '..', 'policies', 'guard'));

interface Score {
  readonly found: number;
  readonly of: number;
}

await runBench(COMMAND, async (run) => {
  const folder = run.options.optional('data');
  const sets: Readonly<Record<string, readonly SecretRow[]>> = {
    ...(folder === undefined ? {} : { development: readRows(join(folder, 'secrets_dev.jsonl.gz')) }),
    held_out: heldOutSecrets(),
  };
  const figures: Record<string, unknown> = {};
  const tables: string[] = [];
  for (const [name, rows] of Object.entries(sets)) {
    const scored = score(rows);
    figures[name] = scored;
    const table = markdownTable(
      ['kind', 'found', 'of', 'share', '95 %'],
      Object.entries(scored).map(([kind, { found, of }]) => [kind, String(found), String(of), percent(found / of), interval(found, of)]),
    );
    tables.push(`## ${name.replace('_', '-')} rows\n\n${table}\n`);
    run.print(`${name}:\n${table}`);
  }
  const cost = costs();
  for (const [what, us] of Object.entries(cost)) run.print(`${what}: ${us.toFixed(1)} µs`);
  const costTable = markdownTable(
    ['text', 'µs of CPU'],
    Object.entries(cost).map(([what, us]) => [what, us.toFixed(1)]),
  );
  run.attach('secrets.md', `# Secrets and personal data: found, altered, cost\n\n${tables.join('\n')}\n## Cost\n\n${costTable}\n`);
  return { ...figures, cpu_us: cost };
});

function readRows(path: string): readonly SecretRow[] {
  try {
    const lines = gunzipSync(readFileSync(path)).toString('utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SecretRow);
  } catch (error) {
    throw new UsageError(`cannot read ${path}: name its folder with --data (${error instanceof Error ? error.message : String(error)})`);
  }
}

/** As score_secrets.py counts: a span is found when its value is gone from the masked text; a clean row is altered by any finding. */
function score(rows: readonly SecretRow[]): Readonly<Record<string, Score>> {
  const kinds = new Map<string, { found: number; of: number }>();
  let altered = 0;
  let clean = 0;
  for (const { text, spans } of rows) {
    const findings = find(text);
    const rest = findings.reduceRight((part, { start, end }: Finding) => `${part.slice(0, start)}[masked]${part.slice(end)}`, text);
    if (spans.length === 0) {
      clean += 1;
      if (findings.length > 0) altered += 1;
    }
    for (const { start, end, kind } of spans) {
      const value = text.slice(start, end);
      const password = kind === 'connection_string' ? /(?::\/\/[^:/@]*:|password=)([^@&;\s]+)/.exec(value)?.[1] : undefined;
      const entry = kinds.get(kind) ?? { found: 0, of: 0 };
      entry.of += 1;
      if (!rest.includes(password ?? value)) entry.found += 1;
      kinds.set(kind, entry);
    }
  }
  const sum = (which: (kind: string) => boolean): Score => {
    const picked = [...kinds].filter(([kind]) => which(kind)).map(([, entry]) => entry);
    return { found: picked.reduce((n, { found }) => n + found, 0), of: picked.reduce((n, { of }) => n + of, 0) };
  };
  return {
    ...Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1))),
    'credentials together': sum((kind) => CREDENTIALS.includes(kind)),
    'all kinds': sum(() => true),
    'clean rows altered': { found: altered, of: clean },
  };
}

/** CPU time of this process a text: clean ones 20,000 times, hostile ones of 32 KB once after one for warmth. */
function costs(): Readonly<Record<string, number>> {
  const repeated = (text: string, chars: number): string => text.repeat(Math.ceil(chars / text.length)).slice(0, chars);
  const clean = (text: string, times: number): number => {
    for (let i = 0; i < times / 10; i++) find(text);
    return (
      cpuUs(() => {
        for (let i = 0; i < times; i++) find(text);
      }) / times
    );
  };
  const worst = HOSTILE.map((unit) => {
    const text = repeated(unit, HOSTILE_CHARS);
    find(text.slice(0, 4_096));
    return cpuUs(() => find(text));
  });
  return {
    'clean, 120 characters, English': clean(CLEAN_EN.slice(0, 120), 20_000),
    'clean, 60 characters, Chinese': clean(CLEAN_ZH.slice(0, 60), 20_000),
    'clean, 2 KB, English': clean(repeated(`${CLEAN_EN} `, 2_048), 2_000),
    'clean, 2 KB, Chinese': clean(repeated(CLEAN_ZH, 683), 2_000),
    'the worst of the hostile texts, 32 KB': Math.max(...worst),
  };
}

function cpuUs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function interval(hits: number, n: number): string {
  const { low, high } = wilson(hits, n);
  return `${percent(low)} to ${percent(high)}`;
}
