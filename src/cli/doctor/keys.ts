/** Whether MASTER_KEY is the one that the installation on the configured cluster was started with; asked without loading a client. */
import type { Config } from '../../config.ts';
import { globalIndex } from '../../elastic/placement.ts';
import { openKeys } from '../../gate/keys.ts';
import { isCheckOf, knownMasters, masterKeys } from '../../keys/master.ts';
import { finding, type Finding } from './check.ts';

const PATIENCE_MS = 3_000;

/** Undefined where there is nothing to compare: the managed engine, a cluster that is away, the first start. */
export async function checkMasterKey(config: Config): Promise<Finding | undefined> {
  const { url, apiKey, username, password, indexPrefix } = config.elasticsearch;
  // in local mode the key may be made by the first start, not by a look
  if (url === undefined || config.masterKeyBase64 === undefined || config.serviceSecret === undefined) return undefined;
  const authorization =
    apiKey !== undefined ? `ApiKey ${apiKey}` : `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`;
  const headers = apiKey === undefined && username === undefined ? {} : { authorization };
  const answer = await fetch(`${url}/${globalIndex(indexPrefix, 'keys')}/_source/masters`, {
    headers,
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
    .then(async (response) =>
      response.ok ? ((await response.json()) as { readonly checks?: Readonly<Record<string, string>> }) : undefined,
    )
    .catch(() => undefined);
  if (answer?.checks === undefined) return undefined;
  const { checks } = answer;
  const keys = await openKeys(config);
  const fits = knownMasters(masterKeys(keys.deriveKey('seal'), keys.previousSeal)).some((master) => {
    const value = checks[master.id];
    return value !== undefined && isCheckOf(master, value);
  });
  return fits
    ? finding('MASTER_KEY', 'ok', { en: 'opens the keys of the tenants', zh: '可以打开各租户的密钥' })
    : finding(
        'MASTER_KEY',
        'fail',
        { en: 'is not the key that this installation was started with', zh: '不是此安装启动时所用的密钥' },
        {
          en: 'set that one; to change it, see "hindsight-es keys --help"',
          zh: '请使用原来的密钥；如需更换，参见 “hindsight-es keys --help”',
        },
      );
}
