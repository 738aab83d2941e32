/** `import` and `export`: their declarations; import.ts and export.ts are loaded when they run. */
import type { CommandOption, CommandSpec } from './command-spec.ts';
import { CLIENT_OPTIONS, clientVariables } from './connect.ts';

const { json: _exact, ...SERVICE_OPTIONS } = CLIENT_OPTIONS;
const JSON_OPTION: CommandOption = { type: 'boolean', description: { en: 'the summary as JSON', zh: '以 JSON 输出摘要' } };

export const importCommand: CommandSpec = {
  name: 'import',
  summary: { en: 'store the rows of a file', zh: '导入文件中的记忆' },
  usage: 'import FILE.jsonl[.gz]|- [--map new=old …] [--namespace NS]',
  takesWords: true,
  options: {
    map: {
      type: 'string',
      multiple: true,
      value: 'NEW=OLD',
      description: { en: 'rename a field; OLD may reach in by dots', zh: '重命名字段；旧名可用点号深入' },
    },
    namespace: { type: 'string', value: 'NS', description: { en: 'namespace of rows that name none', zh: '未注明命名空间的行归入此处' } },
    extra: {
      type: 'string',
      value: 'reject|drop|metadata',
      description: { en: 'what becomes of unknown fields (default: reject)', zh: '未知字段如何处理（默认 reject）' },
    },
    batch: { type: 'string', value: 'N', description: { en: 'rows a call (default: 200)', zh: '每次请求的行数（默认 200）' } },
    untrusted: {
      type: 'boolean',
      description: { en: 'take a damaged export all the same, every row as external', zh: '即使导出文件不完整也导入，全部按外部来源处理' },
    },
    again: { type: 'boolean', description: { en: 'import a file anew that was imported before', zh: '重新导入已导入过的文件' } },
    'in-doubt': {
      type: 'string',
      value: 'skip|send',
      description: {
        en: 'rows that were on their way when a run ended over 23 hours ago: leave out or send',
        zh: '超过 23 小时前中断时正在发送的行：跳过或发送',
      },
    },
    json: JSON_OPTION,
    ...SERVICE_OPTIONS,
  },
  notes: {
    en: 'Rows are stored as given (no worth filter, no duplicate check), each on its own: faults are listed with line, pointer and reason in FILE.faults.jsonl. Run it again after it was ended in any way: it goes on where it was, and no row is stored twice; after 23 hours rows that were on their way are asked about (--in-doubt), because the service knows a batch again for a day only. An export of the same service keeps ids and times; its memories are then yours, at most at your own word: what a person had confirmed is what you state until it is confirmed again.',
    zh: '各行按原样独立写入（不做价值与重复检查）；出错的行连同行号、位置和原因写入 FILE.faults.jsonl。中途以任何方式结束后再次运行即可续传，不会重复写入；若已超过 23 小时，会询问当时正在发送的行如何处理（--in-doubt），因为服务只在一天内能识别同一批次。本服务的导出文件会保留 id 和时间；导入后的记忆归导入者所有，信任级别最高为导入者本人的陈述：曾经人工确认的内容需重新确认。',
  },
  variables: clientVariables,
  examples: [
    'hindsight-es import notes.jsonl --namespace team.sales',
    'hindsight-es import chats.jsonl.gz --map content=message.text --map occurred_at=date --extra metadata',
    'hindsight-es export --output backup.jsonl.gz && hindsight-es import backup.jsonl.gz',
  ],
  run: async (values, invocation) => (await import('./import.ts')).importFile(values, invocation),
};

export const exportCommand: CommandSpec = {
  name: 'export',
  summary: { en: 'all memories that fit, as a file', zh: '把符合条件的记忆导出为文件' },
  usage: 'export [--output FILE.jsonl.gz] [--namespaces A,B] [conditions]',
  options: {
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      description: { en: 'where to (default: stdout)', zh: '写到哪里（默认标准输出）' },
    },
    namespaces: {
      type: 'string',
      multiple: true,
      value: 'A,B',
      description: { en: 'which namespaces (default: all that the token may read)', zh: '哪些命名空间（默认所有可读的）' },
    },
    layer: { type: 'string', multiple: true, value: 'A,B', description: { en: 'layers', zh: '层' } },
    kind: { type: 'string', multiple: true, value: 'A,B', description: { en: 'kinds', zh: '类型' } },
    tags: { type: 'string', multiple: true, value: 'A,B', description: { en: 'any of these tags', zh: '任一标签' } },
    status: {
      type: 'string',
      multiple: true,
      value: 'A,B',
      description: { en: 'statuses (default: active and conflict)', zh: '状态（默认 active 和 conflict）' },
    },
    subject: { type: 'string', value: 'TEXT', description: { en: 'exact subject', zh: '对象（完全一致）' } },
    'created-gte': { type: 'string', value: 'TIME', description: { en: 'stored from this time on', zh: '存入时间不早于' } },
    'created-lt': { type: 'string', value: 'TIME', description: { en: 'stored before this time', zh: '存入时间早于' } },
    json: JSON_OPTION,
    ...SERVICE_OPTIONS,
  },
  notes: {
    en: 'gzip NDJSON: a head, one signed line a memory, a signed manifest. A file gets its name only when it is whole. Needs memory:admin and actor user.',
    zh: 'gzip NDJSON：文件头、每条记忆一行签名、末尾签名清单。只有完整时才会以该文件名出现。需要 memory:admin 且为用户本人。',
  },
  variables: clientVariables,
  examples: ['hindsight-es export --output backup.jsonl.gz', 'hindsight-es export --namespaces team.sales --kind fact > sales.jsonl.gz'],
  run: async (values, invocation) => (await import('./export.ts')).exportFile(values, invocation),
};
