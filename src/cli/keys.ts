/** `keys`: its declaration; keys-run.ts does the work. */
import type { CommandSpec } from './command-spec.ts';
import { CLIENT_OPTIONS, clientVariables } from './connect.ts';

export const keys: CommandSpec = {
  name: 'keys',
  summary: { en: 'the keys that seal values at rest', zh: '加密保存所用的密钥' },
  usage: 'keys status | rotate-master [--finish] | rotate --tenant T | reseal --tenant T | delete --tenant T [--yes]',
  takesWords: true,
  options: {
    tenant: { type: 'string', value: 'T', description: { en: 'whose keys', zh: '哪个租户的密钥' } },
    finish: {
      type: 'boolean',
      description: { en: 'rotate-master: take the previous key away', zh: 'rotate-master：去掉旧的主密钥' },
    },
    yes: { type: 'boolean', short: 'y', description: { en: 'delete: do not ask', zh: 'delete：不再询问' } },
    local: { type: 'boolean', description: { en: 'the service of local mode', zh: '本地模式的服务' } },
    ...CLIENT_OPTIONS,
  },
  notes: {
    en: 'delete asks the running service (memory:admin, actor user): what was sealed for the tenant is unreadable for good. The others work on Elasticsearch with the environment of serve (MASTER_KEY, ELASTICSEARCH_URL …); with the managed engine stop the service first. MASTER_KEY is changed in three steps: run the service with the new MASTER_KEY and the old one as MASTER_KEY_PREVIOUS, run rotate-master and then rotate-master --finish with the same two, take MASTER_KEY_PREVIOUS away.',
    zh: 'delete 由正在运行的服务执行（需要 memory:admin 且为用户本人）：该租户已加密的内容将永久无法读取。其他子命令按 serve 的环境变量（MASTER_KEY、ELASTICSEARCH_URL 等）直接操作 Elasticsearch；使用自带引擎时请先停止服务。更换 MASTER_KEY 分三步：以新的 MASTER_KEY 和旧的 MASTER_KEY_PREVIOUS 运行服务；用同样两个密钥先后运行 rotate-master 和 rotate-master --finish；去掉 MASTER_KEY_PREVIOUS。',
  },
  variables: clientVariables,
  examples: ['hindsight-es keys status', 'hindsight-es keys rotate-master --finish', 'hindsight-es keys delete --tenant acme --yes'],
  run: async (values, invocation) => (await import('./keys-run.ts')).runKeys(values, invocation),
};
