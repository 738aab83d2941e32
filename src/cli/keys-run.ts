/** The work of `keys`: what concerns all tenants goes straight to Elasticsearch with MASTER_KEY; deletion is asked of the service, which records it. */
import { connect as connectEngine, startManaged, type Engine } from '../compose/engine.ts';
import { loadConfig, type Config } from '../config.ts';
import { systemClock } from '../domain/clock.ts';
import { openKeys } from '../gate/keys.ts';
import { masterKeys } from '../keys/master.ts';
import { memoryKeysDelete } from '../operations/memory-keys-delete.ts';
import { createKeyAdministration, type KeyAdministration } from '../stores/key-administration.ts';
import { createKeyRings } from '../stores/key-rings.ts';
import { reseal } from '../stores/reseal.ts';
import { createTenantKeys } from '../stores/tenant-keys.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { inLang, UsageError, type Invocation, type OptionValues } from './command-spec.ts';
import { connect } from './connect.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailed } from './failure.ts';
import { printAnswer, printPlain } from './human/print.ts';
import { callOperation } from './operation-command.ts';
import { confirm } from './stdin.ts';

const ACTIONS = ['status', 'rotate-master', 'rotate', 'reseal', 'delete'] as const;
type Action = (typeof ACTIONS)[number];
const FOR_A_TENANT: ReadonlySet<Action> = new Set<Action>(['rotate', 'reseal', 'delete']);

export async function runKeys(values: OptionValues, invocation: Invocation): Promise<number> {
  const { words, lang, stdout } = invocation;
  const [word, ...more] = words;
  const action = ACTIONS.find((name) => name === word);
  if (action === undefined || more.length > 0)
    throw new UsageError(inLang({ en: `takes one of ${ACTIONS.join(', ')}`, zh: `需要 ${ACTIONS.join('、')} 之一` }, lang), 'keys');
  const { tenant } = values;
  if (FOR_A_TENANT.has(action) && typeof tenant !== 'string')
    throw new UsageError(inLang({ en: `${action} needs --tenant`, zh: `${action} 需要 --tenant` }, lang), 'keys');
  if (action === 'delete') return deleteKeys(String(tenant), values, invocation);
  const answer = await onEngine(values, invocation, (parts) => act(action, String(tenant), values['finish'] === true, parts));
  stdout.write(values['json'] === true ? `${JSON.stringify(answer)}\n` : printPlain(answer).text);
  return EXIT.ok;
}

async function deleteKeys(tenant: string, values: OptionValues, invocation: Invocation): Promise<number> {
  const { lang, stdin, stderr } = invocation;
  if (values['yes'] !== true) {
    if (stdin.isTTY !== true)
      throw new CommandFailed(inLang({ en: 'nothing was deleted: add --yes', zh: '没有删除：请加 --yes' }, lang), EXIT.usage);
    const question = {
      en: `What was sealed for ${tenant} can never be read again. Delete its keys? [y/N] `,
      zh: `${tenant} 已加密的内容将永久无法读取。删除密钥？[y/N] `,
    };
    if (!(await confirm(inLang(question, lang), { stdin, stderr }))) {
      stderr.write(inLang({ en: 'Nothing was deleted.\n', zh: '没有删除。\n' }, lang));
      return EXIT.failed;
    }
  }
  const answer = await callOperation(connect(values, invocation), memoryKeysDelete, { tenant });
  return printAnswer(memoryKeysDelete.name, answer, values['json'] === true, invocation);
}

interface Parts {
  readonly config: Config;
  readonly engine: Engine;
  readonly administration: KeyAdministration;
  readonly masters: ReturnType<typeof masterKeys>;
}

async function act(action: Exclude<Action, 'delete'>, tenant: string, finish: boolean, parts: Parts): Promise<object> {
  const { administration, engine, masters, config } = parts;
  switch (action) {
    case 'status':
      return administration.status();
    case 'rotate-master':
      return administration.rotateMaster(finish);
    case 'rotate':
      return { tenant, key_id: await administration.rotateTenant(tenant) };
    case 'reseal': {
      const prefix = config.elasticsearch.indexPrefix;
      const rings = createKeyRings({ client: engine.client, prefix, clock: systemClock });
      const current = (await rings.ring(tenant))?.ring.current;
      if (current === undefined) return { tenant, resealed: 0, moved: 0, unreadable: 0 };
      const keys = createTenantKeys({ rings, masters, clock: systemClock });
      return { tenant, ...(await reseal({ client: engine.client, prefix, keys }, tenant, current)) };
    }
  }
}

/** On the configured cluster, or on the managed engine, started for it; a wrong MASTER_KEY is told before anything is done. */
async function onEngine<T>(values: OptionValues, { env, lang, stderr }: Invocation, work: (parts: Parts) => Promise<T>): Promise<T> {
  const config = loadConfig(env, {
    ...(values['local'] === true ? { HINDSIGHT_LOCAL: 'true' } : {}),
    ...(typeof values['data-dir'] === 'string' ? { DATA_DIR: values['data-dir'] } : {}),
  });
  const keys = await openKeys(config);
  const masters = masterKeys(keys.deriveKey('seal'), keys.previousSeal);
  const parts = {
    logger: createLogger(config),
    metrics: createMetrics(),
    onProgress: ({ message }: { readonly message: string }): void => void stderr.write(`- ${message}\n`),
  };
  const { url, indexPrefix: prefix } = config.elasticsearch;
  const engine = url === undefined ? await startManaged(config, parts) : await connectEngine(config, url, parts);
  try {
    const rings = createKeyRings({ client: engine.client, prefix, clock: systemClock });
    // a write would make the index, without its mapping
    if ((await rings.masters()) === undefined)
      throw new CommandFailed(
        inLang({ en: 'there are no keys here yet: start the service once', zh: '这里还没有密钥：请先启动一次服务' }, lang),
      );
    const administration = createKeyAdministration({ rings, masters, clock: systemClock });
    await administration.checkMaster();
    return await work({ config, engine, administration, masters });
  } finally {
    await engine.close();
  }
}
