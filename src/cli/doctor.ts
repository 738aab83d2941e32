/** `doctor`: its declaration; doctor/ does the work. */
import type { CommandSpec } from './command-spec.ts';

export const doctor: CommandSpec = {
  name: 'doctor',
  summary: { en: 'check what the service needs, and say what to fix', zh: '检查服务所需的环境并给出修复建议' },
  usage: 'doctor [--json] [--data-dir DIR]',
  options: {
    json: { type: 'boolean', description: { en: 'findings as JSON', zh: '以 JSON 输出检查结果' } },
    'data-dir': { type: 'string', value: 'DIR', description: { en: 'data directory (DATA_DIR)', zh: '数据目录（DATA_DIR）' } },
  },
  notes: {
    en: 'Looks at Node, Java, Maven, engine and model files, disk, port, Elasticsearch, Redis, the embedding endpoint and the running service, by the environment that serve would read. Needs no running service.',
    zh: '按 serve 会读取的环境变量检查 Node、Java、Maven、引擎与模型文件、磁盘、端口、Elasticsearch、Redis、向量服务以及正在运行的服务。不需要服务在运行。',
  },
  examples: ['hindsight-es doctor', 'ELASTICSEARCH_URL=http://127.0.0.1:9200 hindsight-es doctor --json'],
  run: async (values, invocation) => (await import('./doctor/run.ts')).examine(values, invocation),
};
