/** `audit`: the operation's command, and `audit verify`, which asks the service or, as its operator, checks the index itself. */
import { memoryAudit } from '../operations/memory-audit.ts';
import { memoryAuditVerify } from '../operations/memory-audit-verify.ts';
import { inLang, UsageError, type CommandSpec, type Invocation, type OptionValues, type Words } from './command-spec.ts';
import { connect } from './connect.ts';
import { printAnswer } from './human/print.ts';
import { callOperation, operationCommand } from './operation-command.ts';

const NOTES: Words = {
  en: 'audit verify follows the hash chains of your tenant and holds them against the signed anchors; exit code 1 when one breaks. With --tenant NAME or --all it needs no token, but the environment of serve with ELASTICSEARCH_URL: it reads the index itself.',
  zh: 'audit verify 逐条核对本租户的哈希链与签名锚点；有断裂时退出码为 1。带 --tenant 名称 或 --all 时不需要令牌，而需要 serve 的环境变量和 ELASTICSEARCH_URL：直接读取索引。',
};

export function auditCommand(): CommandSpec {
  const derived = operationCommand(memoryAudit);
  return {
    ...derived,
    usage: 'audit [verify [--tenant NAME|--all]] [options]',
    takesWords: true,
    options: {
      tenant: {
        type: 'string',
        value: 'NAME',
        description: { en: 'with verify: this tenant, as operator', zh: '配合 verify：以运维身份核查该租户' },
      },
      all: { type: 'boolean', description: { en: 'with verify: all tenants, as operator', zh: '配合 verify：以运维身份核查全部租户' } },
      ...derived.options,
    },
    notes: NOTES,
    examples: ['hindsight-es audit --operation memory_forget', 'hindsight-es audit verify', ...derived.examples.slice(2, 3)],
    run: (values, invocation) => (invocation.words.length === 0 ? derived.run(values, invocation) : verify(values, invocation)),
  };
}

async function verify(values: OptionValues, invocation: Invocation): Promise<number> {
  const { words, lang } = invocation;
  if (words.length !== 1 || words[0] !== 'verify')
    throw new UsageError(inLang({ en: 'the only word it takes is verify', zh: '只接受 verify 一词' }, lang), 'audit');
  const tenant = typeof values['tenant'] === 'string' ? values['tenant'] : undefined;
  const json = values['json'] === true;
  const answer =
    tenant !== undefined || values['all'] === true
      ? await (await import('./audit-check.ts')).checkIndex(tenant, invocation.env)
      : await callOperation(connect(values, invocation), memoryAuditVerify, {});
  return printAnswer(memoryAuditVerify.name, answer, json, invocation);
}
