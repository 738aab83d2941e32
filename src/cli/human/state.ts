/** The state of the service for people: what runs, how much is remembered where, and what waits. */
import type { StatsAnswer } from '../../domain/wire/stats.ts';
import { inLang, type Words } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import type { Printer } from './printer.ts';
import { columnsOf, oneLine, pad, table } from './text.ts';

export const printStats: Printer<StatsAnswer> = (answer, pen, lang) => {
  const say = (words: Words): string => inLang(words, lang);
  const { service, embedding_queue: queue, degraded } = answer;
  const redis: Readonly<Record<typeof service.redis, Words>> = {
    off: { en: 'not configured (limits and marks in the process)', zh: '未配置（限流与标记保存在进程内）' },
    ok: { en: 'ok', zh: '正常' },
    away: { en: 'away', zh: '连不上' },
  };
  const vectors =
    queue.due === 0 ? say({ en: 'all in place', zh: '全部就绪' }) : say({ en: `${queue.due} due`, zh: `${queue.due} 条待生成` });
  const dead = queue.dead === 0 ? '' : say({ en: `, ${queue.dead} given up`, zh: `，${queue.dead} 条已放弃` });
  const lines: readonly (readonly [Words, string])[] = [
    [{ en: 'service', zh: '服务' }, service.url],
    [{ en: 'version', zh: '版本' }, service.version],
    [{ en: 'up for', zh: '已运行' }, duration(service.uptime_seconds)],
    [{ en: 'engine', zh: '引擎' }, service.engine],
    [{ en: 'embedding', zh: '向量模型' }, service.embedding],
    ['Redis', say(redis[service.redis])],
    [{ en: 'degraded', zh: '降级' }, degraded.length === 0 ? say({ en: 'nothing', zh: '无' }) : degraded.map(oneLine).join(', ')],
    [{ en: 'vectors', zh: '向量' }, vectors + dead],
    [{ en: 'tenant', zh: '租户' }, answer.tenant],
    [{ en: 'memories', zh: '记忆' }, String(answer.memories)],
  ];
  const width = Math.max(...lines.map(([label]) => columnsOf(say(label))));
  const head = lines.map(([label, value]) => `${pen.paint('dim', pad(say(label), width))}  ${oneLine(value)}\n`);
  const rows = answer.namespaces.map(({ namespace, memories }) => [oneLine(namespace), String(memories)]);
  const columns = [say({ en: 'namespace', zh: '命名空间' }), say({ en: 'memories', zh: '记忆' })];
  return { text: head.join('') + (rows.length === 0 ? '' : `\n${table(pen, columns, rows)}`), exitCode: EXIT.ok };
};

/** The two largest units: "3 d 4 h". */
function duration(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const from = parts.findIndex(([n]) => n > 0);
  return from === -1
    ? '0 s'
    : parts
        .slice(from, from + 2)
        .map(([n, unit]) => `${n} ${unit}`)
        .join(' ');
}
