/** `confirm` and `release`: the operations' commands, but the texts are shown first, and what is sent is the hash of what was shown. */
import type { ReviewInput, ReviewItem, ReviewListAnswer } from '../domain/wire/review.ts';
import type { AnyOperation } from '../operations/define.ts';
import { inLang, UsageError, type CommandSpec, type Invocation, type OptionValues, type Words } from './command-spec.ts';
import { connect, type Connection } from './connect.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailed } from './failure.ts';
import { printAnswer } from './human/print.ts';
import { reviewItemText } from './human/review.ts';
import { penFor } from './human/text.ts';
import { callOperation, commandName, operationCommand } from './operation-command.ts';
import { choose } from './stdin.ts';

type Decision = ReviewInput['decision'];

/** The operation that lists what a deciding one decides on; loaded by the call that needs it. */
const listOf = async ({ name }: AnyOperation): Promise<AnyOperation> =>
  name === 'memory_confirm'
    ? (await import('../operations/memory-confirmations.ts')).memoryConfirmations
    : (await import('../operations/memory-quarantine.ts')).memoryQuarantine;

/** The derived command of memory_confirm or memory_release with the question around it. */
export function reviewCommand(operation: AnyOperation): CommandSpec {
  const derived = operationCommand(operation);
  const name = commandName(operation);
  return {
    ...derived,
    usage: `${name} MEMORY-ID [--decision approve|reject] [--yes] [--json]`,
    options: {
      yes: {
        type: 'boolean',
        short: 'y',
        description: { en: 'do not ask; approves unless --decision says otherwise', zh: '不再询问；除非 --decision 另有指定，否则批准' },
      },
      ...derived.options,
    },
    notes: NOTES,
    examples: [
      `hindsight-es ${name} 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b`,
      `hindsight-es ${name} 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b --decision reject --yes`,
    ],
    run: (values, invocation) =>
      // who brings the hash has seen the texts
      values['content-hash'] === undefined ? run(operation, values, invocation) : derived.run(values, invocation),
  };
}

const NOTES: Words = {
  en: 'Every text is shown with the rules that caught it. At a terminal y approves, n rejects, anything else leaves it waiting; anywhere else --yes is needed. What is sent is the hash of what was shown: a text that changes meanwhile is not decided on. With --content-hash and --decision nothing is shown or asked.',
  zh: '先显示全部文本以及拦下它的规则。在终端中 y 批准、n 拒绝，其他输入则保持等待；非终端需要 --yes。发送的是所显示文本的哈希，期间文本若有变化则不作决定。同时给出 --content-hash 和 --decision 时不显示也不询问。',
};

async function run(operation: AnyOperation, values: OptionValues, invocation: Invocation): Promise<number> {
  const { lang, words } = invocation;
  const [memoryId = '', ...more] = words;
  if (memoryId === '' || more.length > 0)
    throw new UsageError(inLang({ en: 'takes one MEMORY-ID', zh: '需要一个 MEMORY-ID' }, lang), commandName(operation));
  const json = values['json'] === true;
  const wanted = values['decision'];
  if (wanted !== undefined && wanted !== 'approve' && wanted !== 'reject')
    throw new UsageError(
      inLang({ en: '--decision is approve or reject', zh: '--decision 只能是 approve 或 reject' }, lang),
      commandName(operation),
    );
  const client = connect(values, invocation);
  const item = await find(client, await listOf(operation), memoryId);
  if (item === undefined)
    throw new CommandFailed(
      inLang({ en: 'nothing with this id waits for your decision', zh: '没有这个编号的内容在等待你的决定' }, lang),
      EXIT.notFound,
    );
  // an answer in JSON has stdout for itself
  (json ? invocation.stderr : invocation.stdout).write(reviewItemText(item, penFor(invocation), lang));
  const decision = values['yes'] === true ? (wanted ?? 'approve') : await asked(wanted, invocation);
  if (decision === undefined) {
    invocation.stderr.write(inLang({ en: 'Nothing was decided; it still waits.\n', zh: '没有作决定，仍在等待。\n' }, lang));
    return EXIT.failed;
  }
  const answer = await callOperation(client, operation, { memory_id: memoryId, decision, content_hash: item.content_hash });
  return printAnswer(operation.name, answer, json, invocation);
}

/** What waits under this id, or, to be confirmed, an active memory; a foreign id answers like an absent one. */
async function find(client: Connection, list: AnyOperation, memoryId: string): Promise<ReviewItem | undefined> {
  const page = JSON.parse(await callOperation(client, list, { memory_id: memoryId })) as ReviewListAnswer;
  return page.items.find((item) => item.memory_id === memoryId);
}

/** What the person at the terminal wants; undefined: later. Throws CommandFailed where nobody can be asked. */
async function asked(wanted: Decision | undefined, { lang, stdin, stderr }: Invocation): Promise<Decision | undefined> {
  if (stdin.isTTY !== true)
    throw new CommandFailed(
      inLang({ en: 'nothing was decided: add --yes to decide without being asked', zh: '没有作决定：加 --yes 可不经询问直接执行' }, lang),
      EXIT.usage,
    );
  const question: Words =
    wanted === undefined
      ? { en: 'Approve this? [y = approve, n = reject, Enter = later] ', zh: '批准吗？[y 批准，n 拒绝，回车 以后再说] ' }
      : wanted === 'approve'
        ? { en: 'Approve this? [y/N] ', zh: '批准吗？[y/N] ' }
        : { en: 'Reject this? [y/N] ', zh: '拒绝吗？[y/N] ' };
  const choice = await choose(inLang(question, lang), { stdin, stderr });
  if (wanted !== undefined) return choice === 'yes' ? wanted : undefined;
  return choice === 'yes' ? 'approve' : choice === 'no' ? 'reject' : undefined;
}
