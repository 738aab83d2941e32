/** `forget`: the operation's command, but what would go is shown first, and a terminal is asked. */
import { memoryForget } from '../operations/memory-forget.ts';
import { inLang, type CommandSpec, type Invocation, type OptionValues } from './command-spec.ts';
import { connect } from './connect.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailed } from './failure.ts';
import { printAnswer } from './human/print.ts';
import { callOperation, operationCommand, readInput } from './operation-command.ts';
import { confirm } from './stdin.ts';

/** The derived command with `--yes` and its own run. */
export function forgetCommand(): CommandSpec {
  const derived = operationCommand(memoryForget);
  return {
    ...derived,
    usage: 'forget MEMORY-ID | forget [conditions] [--yes]',
    options: {
      yes: { type: 'boolean', short: 'y', description: { en: 'do not ask', zh: '不再询问' } },
      ...derived.options,
    },
    notes: {
      en: 'What would go is shown first. At a terminal a yes is asked for; anywhere else --yes is needed. --dry-run only shows.',
      zh: '先显示将忘记的内容；在终端中会询问，其他情况需要 --yes。--dry-run 只显示。',
    },
    examples: [
      'hindsight-es forget 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
      'hindsight-es forget --subject Ana --kind preference --dry-run',
      "hindsight-es forget --query '关于搬家的一切' --min-score 0.6 --yes",
    ],
    run,
  };
}

async function run(values: OptionValues, invocation: Invocation): Promise<number> {
  const json = values['json'] === true;
  const input = await readInput(memoryForget, values, invocation);
  const client = connect(values, invocation);
  const print = (text: string): number => printAnswer(memoryForget.name, text, json, invocation);
  // a plan is the second step already
  if (input['plan'] !== undefined || input['dry_run'] === true) return print(await callOperation(client, memoryForget, input));

  const shown = await callOperation(client, memoryForget, { ...input, dry_run: true });
  const { count, plan } = JSON.parse(shown) as { count?: number; plan?: string };
  if (!json || count === 0) print(shown);
  if (count === 0) return EXIT.ok;
  if (values['yes'] !== true && !(await agreed(json ? shown : undefined, invocation))) return EXIT.failed;
  // by id the version of the dry run would do, but there the id itself is the plan
  return print(await callOperation(client, memoryForget, input['memory_id'] === undefined ? { plan } : input));
}

/** A yes at a terminal. Throws CommandFailed where nobody can be asked. `shown`: the dry run that was not printed yet. */
async function agreed(shown: string | undefined, invocation: Invocation): Promise<boolean> {
  const { lang, stdin, stderr } = invocation;
  if (stdin.isTTY !== true) {
    if (shown !== undefined) invocation.stdout.write(`${shown.trimEnd()}\n`);
    throw new CommandFailed(
      inLang(
        { en: 'nothing was forgotten: add --yes to forget without being asked', zh: '没有忘记任何内容：加 --yes 可不经询问直接执行' },
        lang,
      ),
      EXIT.usage,
    );
  }
  const yes = await confirm(inLang({ en: 'Forget this? [y/N] ', zh: '确定忘记？[y/N] ' }, lang), { stdin, stderr });
  if (!yes) stderr.write(inLang({ en: 'Nothing was forgotten.\n', zh: '没有忘记任何内容。\n' }, lang));
  return yes;
}
