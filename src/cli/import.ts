/** `import`: a file of rows, or an export, into the service; its options and what is said about the file. transfer/ does the work. */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../domain/clock.ts';
import { isNamespace } from '../domain/namespace.ts';
import { transferItem, type ImportAnswer } from '../domain/wire/transfer.ts';
import { memoryImport } from '../operations/memory-import.ts';
import { inLang, UsageError, type Invocation, type OptionValues, type Words } from './command-spec.ts';
import { connect, type Connection } from './connect.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailed, isA } from './failure.ts';
import { callOperation } from './operation-command.ts';
import { runImport, type InDoubt } from './transfer/import-run.ts';
import { parseMap, type RowOptions } from './transfer/rows.ts';
import { surveyFile, type Survey } from './transfer/survey.ts';

const DEFAULT_BATCH = 200;
const MAX_BATCH = 500;
const EXTRAS = ['reject', 'drop', 'metadata'] as const;

/** Throws UsageError, CommandFailed for a file that cannot be taken, Refused and Unreachable. */
export async function importFile(values: OptionValues, invocation: Invocation): Promise<number> {
  const { words, lang, stderr, stdout } = invocation;
  const [given, ...more] = words;
  if (given === undefined || more.length > 0)
    throw usage({ en: 'takes one FILE, or - for standard input', zh: '需要一个文件名，或用 - 表示标准输入' }, lang);
  const rows = rowOptions(values, invocation);
  const batchRows = Number(values['batch'] ?? DEFAULT_BATCH);
  if (!Number.isInteger(batchRows) || batchRows < 1 || batchRows > MAX_BATCH)
    throw usage({ en: `--batch takes a number from 1 to ${MAX_BATCH}`, zh: `--batch 取 1 到 ${MAX_BATCH}` }, lang);
  const inDoubt = values['in-doubt'];
  if (inDoubt !== undefined && inDoubt !== 'skip' && inDoubt !== 'send')
    throw usage({ en: '--in-doubt takes skip or send', zh: '--in-doubt 只能是 skip 或 send' }, lang);
  const client = connect(values, invocation);
  const path = given === '-' ? await spool(client.dataDir, invocation) : resolve(given);
  try {
    const survey = await surveyFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new CommandFailed(
        inLang(
          { en: `${given} cannot be read (${error.code ?? error.message})`, zh: `无法读取 ${given}（${error.code ?? error.message}）` },
          lang,
        ),
      );
    });
    if (survey.kind === 'export' && (rows.map.size > 0 || rows.extra !== 'reject'))
      throw usage(
        { en: 'an export file is taken as it is: leave --map and --extra out', zh: '导出文件按原样导入：请去掉 --map 和 --extra' },
        lang,
      );
    if (survey.damage !== undefined && values['untrusted'] !== true) throw new CommandFailed(inLang(damageWords(given, survey), lang));
    const verified = await judgeManifest(client, survey);
    if (survey.kind === 'export' && !verified) stderr.write(`! ${inLang(UNVERIFIED, lang)}\n`);
    const salt = values['again'] === true ? randomUUID() : '';
    const job = [survey.hash, client.url, [...rows.map], rows.namespace ?? '', rows.extra, batchRows, salt];
    const faultsPath = given === '-' ? resolve('import.faults.jsonl') : `${path}.faults.jsonl`;
    const key = createHash('sha256').update(JSON.stringify(job)).digest('hex').slice(0, 40);
    const place = { client, dataDir: client.dataDir, path, faultsPath, stderr, clock: systemClock };
    const end = await runImport({
      ...place,
      survey,
      rows,
      batchRows,
      key,
      keepsIds: verified && survey.damage === undefined,
      inDoubt,
    }).catch((error: unknown) => {
      throw isA<InDoubt>(error, 'InDoubt') ? new CommandFailed(inLang(doubtWords(error), lang)) : error;
    });
    const facts = {
      rows: survey.rows,
      outcomes: end.outcomes,
      faults: end.faults,
      verified,
      ...(end.faults > 0 ? { faults_file: faultsPath } : {}),
    };
    stdout.write(values['json'] === true ? `${JSON.stringify(facts)}\n` : summary(facts, lang));
    return end.faults > 0 ? EXIT.failed : EXIT.ok;
  } finally {
    if (given === '-') await rm(path, { force: true });
  }
}

function rowOptions(values: OptionValues, { lists, lang }: Invocation): RowOptions {
  const map = parseMap(lists['map'] ?? []);
  if (map === undefined) throw usage({ en: '--map takes new=old', zh: '--map 的格式为 新字段=旧字段' }, lang);
  const namespace = values['namespace'] as string | undefined;
  if (namespace !== undefined && !isNamespace(namespace))
    throw usage({ en: '--namespace takes a namespace', zh: '--namespace 需要一个命名空间' }, lang);
  const extra = EXTRAS.find((e) => e === (values['extra'] ?? 'reject'));
  if (extra === undefined) throw usage({ en: `--extra takes ${EXTRAS.join(', ')}`, zh: `--extra 可取 ${EXTRAS.join('、')}` }, lang);
  return { map, namespace, extra, known: new Set(Object.keys(transferItem.shape)) };
}

/** A stream is read twice, so it is kept in a file while the import runs. */
async function spool(dataDir: string, { stdin }: Invocation): Promise<string> {
  await mkdir(join(dataDir, 'imports'), { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'imports', `stdin-${randomUUID()}`);
  await pipeline(stdin, createWriteStream(path, { mode: 0o600 }));
  return path;
}

async function judgeManifest(client: Connection, { manifest }: Survey): Promise<boolean> {
  if (manifest === undefined) return false;
  const { verified } = JSON.parse(await callOperation(client, memoryImport, { manifest, items: [] })) as ImportAnswer;
  return verified;
}

function doubtWords({ lines: [first, last] }: InDoubt): Words {
  return {
    en: `the last run ended while lines ${first} to ${last} were on their way, too long ago for the service to know them again: they may be stored already. Look for the first with "hindsight-es search", then go on with --in-doubt skip (they are) or --in-doubt send (they are not)`,
    zh: `上次导入在发送第 ${first} 至 ${last} 行时中断，时间过久，服务已无法识别它们，可能已经写入。请先用 “hindsight-es search” 查找第一条，再用 --in-doubt skip（已写入）或 --in-doubt send（未写入）继续`,
  };
}

const UNVERIFIED: Words = {
  en: 'the manifest is not this service’s own: every row becomes external (tier 0), reference only, under a new id',
  zh: '清单不是本服务签发的：所有行都按外部来源（0 级）导入，仅供参考，并使用新的 id',
};

function damageWords(file: string, { damage }: Survey): Words {
  return damage === 'cut off'
    ? {
        en: `${file} was cut off: the end is missing. Export it again, or take what is there as external with --untrusted`,
        zh: `${file} 不完整：缺少结尾。请重新导出，或用 --untrusted 把现有内容按外部来源导入`,
      }
    : {
        en: `${file} was changed after it was exported: count or hash differ from its manifest. Export it again, or take it as external with --untrusted`,
        zh: `${file} 在导出后被改动：数量或哈希与清单不符。请重新导出，或用 --untrusted 按外部来源导入`,
      };
}

function summary(
  {
    rows,
    outcomes,
    faults,
    faults_file: file,
  }: { rows: number; outcomes: Readonly<Record<string, number>>; faults: number; faults_file?: string },
  lang: Invocation['lang'],
): string {
  const counts = Object.entries(outcomes).map(([outcome, n]) => `${outcome} ${n}`);
  const head = inLang({ en: `${rows} rows: ${counts.join(', ') || 'nothing'}`, zh: `共 ${rows} 行：${counts.join('，') || '无'}` }, lang);
  const where = faults === 0 ? '' : inLang({ en: `${faults} faults, see ${file}`, zh: `${faults} 处错误，见 ${file}` }, lang);
  return `${head}\n${where === '' ? '' : `${where}\n`}`;
}

function usage(words: Words, lang: Invocation['lang']): UsageError {
  return new UsageError(inLang(words, lang), 'import');
}
