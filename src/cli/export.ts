/** `export`: the service's stream into a file, which gets its name only when it is whole. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PassThrough, pipeline as connectStreams } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { memoryExport } from '../operations/memory-export.ts';
import { inLang, UsageError, type Invocation, type OptionValues } from './command-spec.ts';
import { connect } from './connect.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailed } from './failure.ts';
import { readInput, restCallOf } from './operation-command.ts';
import { gunzipped, linesOf } from './transfer/lines.ts';
import { ExportCheck } from './transfer/survey.ts';

/** Throws CommandFailed when the stream broke off; what came stays under FILE.part. */
export async function exportFile(values: OptionValues, invocation: Invocation): Promise<number> {
  const { lang, stdout, stderr } = invocation;
  const file = typeof values['output'] === 'string' ? resolve(values['output']) : undefined;
  if (file === undefined && stdout.isTTY === true)
    throw new UsageError(
      inLang(
        {
          en: 'a terminal cannot show the file: name one with --output, or redirect',
          zh: '终端无法显示该文件：请用 --output 指定，或重定向',
        },
        lang,
      ),
      'export',
    );
  const input = await readInput(memoryExport, values, invocation);
  const response = await connect(values, invocation).open(restCallOf(memoryExport, input));
  const part = file === undefined ? undefined : `${file}.part`;
  const target = part === undefined ? stdout : createWriteStream(part, { mode: 0o600 });
  const copy = new PassThrough();
  const checked = check(copy);
  const hash = createHash('sha256');
  response.on('data', (chunk: Buffer) => hash.update(chunk));
  connectStreams(response, copy, () => undefined);
  const written = pipeline(response, target, { end: part !== undefined });
  const [writing, found] = await Promise.allSettled([written, checked]);
  const count = writing.status === 'fulfilled' && found.status === 'fulfilled' ? found.value : undefined;
  if (count === undefined) throw new CommandFailed(broken(part, lang), EXIT.unavailable);
  if (file !== undefined && part !== undefined) await rename(part, file);
  const facts = { count, sha256: hash.digest('hex'), ...(file === undefined ? {} : { file }) };
  const told =
    values['json'] === true
      ? JSON.stringify(facts)
      : inLang(
          {
            en: `${count} memories exported${file === undefined ? '' : ` to ${file}`}`,
            zh: `已导出 ${count} 条记忆${file === undefined ? '' : `到 ${file}`}`,
          },
          lang,
        );
  // where the file itself goes to stdout, what is said about it must not
  (file === undefined ? stderr : stdout).write(`${told}\n`);
  return EXIT.ok;
}

/** How many records the file holds; undefined when it does not end in a manifest that fits. */
async function check(compressed: PassThrough): Promise<number | undefined> {
  const exported = new ExportCheck();
  for await (const line of linesOf(gunzipped(compressed))) exported.feed(line);
  const end = exported.end();
  return end !== undefined && 'manifest' in end && typeof end.manifest.count === 'number' ? end.manifest.count : undefined;
}

function broken(part: string | undefined, lang: Invocation['lang']): string {
  const where = part === undefined ? '' : inLang({ en: `; what came is in ${part}`, zh: `；已收到的部分在 ${part}` }, lang);
  return inLang({ en: `the export broke off before its end${where}: run it again`, zh: `导出在结束前中断${where}：请重新运行` }, lang);
}
