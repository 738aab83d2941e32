/** `tune`: its declaration; tune/ does the work. */
import type { CommandSpec } from './command-spec.ts';
import { CLIENT_OPTIONS, clientVariables } from './connect.ts';

const { json: _exact, ...SERVICE_OPTIONS } = CLIENT_OPTIONS;

export const tune: CommandSpec = {
  name: 'tune',
  summary: { en: 'find ranking weights from judged questions', zh: '根据标注好的问题寻找排序权重' },
  usage: 'tune JUDGED.jsonl [--profile NAME] [--out NAME.yaml]',
  takesWords: true,
  options: {
    profile: {
      type: 'string',
      value: 'NAME',
      description: { en: 'the profile to start from (default: assistant)', zh: '以哪个方案为起点（默认 assistant）' },
    },
    measure: {
      type: 'string',
      value: 'ndcg|mrr',
      description: { en: 'what is to become better (default: ndcg, nDCG@10)', zh: '优化哪个指标（默认 ndcg，即 nDCG@10）' },
    },
    folds: {
      type: 'string',
      value: 'K',
      description: { en: 'parts of the cross-validation (default: 5)', zh: '交叉验证的份数（默认 5）' },
    },
    seed: {
      type: 'string',
      value: 'N',
      description: {
        en: 'seed of folds and interval (default: 1): the same seed gives the same answer',
        zh: '随机种子（默认 1）：相同种子得到相同结果',
      },
    },
    out: {
      type: 'string',
      value: 'FILE.yaml',
      description: { en: 'write the weights as a profile that extends the first one', zh: '把权重写成继承原方案的新方案' },
    },
    policies: {
      type: 'string',
      value: 'DIR',
      description: {
        en: 'policies of the service (POLICIES_DIR; default: those that ship with it)',
        zh: '服务的策略目录（POLICIES_DIR，默认为自带的）',
      },
    },
    json: { type: 'boolean', description: { en: 'the result as JSON', zh: '以 JSON 输出结果' } },
    ...SERVICE_OPTIONS,
  },
  notes: {
    en: 'A row: {"query": "…", "relevant": ["memory_id", …]}, and where it is needed "namespaces": ["…"] and "asked_at": "2026-05-04T09:00:00Z"; 10 rows at least, better 100. Each question is asked three times: for the parts of the scores, by the profile as it is, and by the weights that were found without it. Its gain is measured by that third answer alone, on questions that had no part in finding the weights; when the interval of the gain includes 0, the weights may be no better than chance, and the command says so. The floor of nothing_relevant is inherited: look at it again with other weights. The questions count as accesses unless the token is a service’s. Put the file into POLICIES_DIR/ranking, start the service again, and name it in "profile".',
    zh: '每行：{"query": "…", "relevant": ["memory_id", …]}，需要时加 "namespaces": ["…"] 和 "asked_at": "2026-05-04T09:00:00Z"；至少 10 行，最好 100 行以上。每个问题会问三次：取得各信号的分值、按原方案、按“没有用到它”而得出的权重。提升只按第三次的回答计算，即只在未参与寻找权重的问题上衡量；如果提升的置信区间包含 0，新权重可能只是碰巧，命令会如实说明。nothing_relevant 的门槛沿用原方案，权重改变后请重新查看。除非令牌属于服务，这些提问会计入访问次数。把文件放到 POLICIES_DIR/ranking，重启服务，再用 profile 指定它。',
  },
  variables: async (lang) => [
    ...(await clientVariables(lang)),
    ['POLICIES_DIR', lang === 'zh' ? '服务的策略目录' : 'policies of the service'] as const,
  ],
  examples: [
    'hindsight-es tune judged.jsonl',
    'hindsight-es tune judged.jsonl --profile support --measure mrr --json',
    'hindsight-es tune judged.jsonl --out our-team.yaml',
  ],
  run: async (values, invocation) => (await import('./tune/run.ts')).tuneWeights(values, invocation),
};
