/** Runs the checks and prints them: a line each, and under it what to do. */
import type { HindsightError } from '../../errors.ts';
import { loadConfig, type Config } from '../../config.ts';
import { inLang, type Invocation, type OptionValues } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import { inert, pad, penFor, type Colour } from '../human/text.ts';
import { packageVersion } from '../package-version.ts';
import { finding, type Finding, type Health } from './check.ts';
import { checkMasterKey } from './keys.ts';
import { checkDisk, checkFiles, checkJava, checkMaven, checkNode, checkPort } from './machine.ts';
import { checkElasticsearch, checkEmbedding, checkRedis, checkService } from './services.ts';

const COLOURS: Readonly<Record<Health, Colour>> = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'dim' };
const NAME_COLUMNS = 14;

/** Exit code 1 when a check fails; warnings do not count. */
export async function examine(values: OptionValues, invocation: Invocation): Promise<number> {
  const { env, lang, stdout } = invocation;
  const dataDir = typeof values['data-dir'] === 'string' ? { DATA_DIR: values['data-dir'] } : {};
  const findings = [finding('hindsight-es', 'ok', packageVersion()), ...(await examineAll({ ...env, ...dataDir }))];
  const sick = findings.some(({ health }) => health === 'fail');
  if (values['json'] === true) {
    const plain = findings.map(({ check, health, found, fix }) => ({
      check,
      health,
      found: inLang(found, lang),
      ...(fix === undefined || health === 'ok' ? {} : { fix: inLang(fix, lang) }),
    }));
    stdout.write(`${JSON.stringify({ healthy: !sick, checks: plain })}\n`);
  } else {
    const pen = penFor(invocation);
    for (const { check, health, found, fix } of findings) {
      stdout.write(`${pen.paint(COLOURS[health], pad(health, 4))}  ${pad(check, NAME_COLUMNS)} ${inert(inLang(found, lang))}\n`);
      if (fix !== undefined && (health === 'fail' || health === 'warn'))
        stdout.write(`      ${pad('', NAME_COLUMNS)} → ${inert(inLang(fix, lang))}\n`);
    }
  }
  return sick ? EXIT.failed : EXIT.ok;
}

/** All of them, also where the configuration cannot be read: then with the defaults, and that is the first finding. */
async function examineAll(env: Invocation['env']): Promise<readonly Finding[]> {
  const { config, fault } = configOf(env);
  const [java, maven, files, disk, port, service, engine, redis, embedding, masterKey] = await Promise.all([
    checkJava(config),
    checkMaven(config),
    checkFiles(config),
    checkDisk(config.dataDir),
    checkPort(config),
    checkService(config.dataDir),
    checkElasticsearch(config),
    checkRedis(config.redisUrl),
    checkEmbedding(config),
    checkMasterKey(config),
  ]);
  return [
    ...(fault === undefined ? [] : [fault]),
    checkNode(),
    java,
    maven,
    ...files,
    disk,
    port,
    engine,
    ...(masterKey === undefined ? [] : [masterKey]),
    redis,
    ...(embedding === undefined ? [] : [embedding]),
    service,
  ];
}

function configOf(env: Invocation['env']): { readonly config: Config; readonly fault?: Finding } {
  const local = env['JWKS_URL'] === undefined && env['JWT_ISSUERS_FILE'] === undefined ? { HINDSIGHT_LOCAL: 'true' } : {};
  try {
    return { config: loadConfig({ ...env, ...local }) };
  } catch (error) {
    const { HOME, XDG_CACHE_HOME, DATA_DIR } = env;
    const known = Object.fromEntries(Object.entries({ HOME, XDG_CACHE_HOME, DATA_DIR }).filter(([, value]) => value !== undefined));
    const fix = {
      en: 'correct the environment; "hindsight-es serve --help" lists every variable',
      zh: '请更正环境变量；“hindsight-es serve --help” 列出全部变量',
    };
    const fault = finding('configuration', 'fail', (error as HindsightError).message, fix);
    return { config: loadConfig({ ...known, HINDSIGHT_LOCAL: 'true' }), fault };
  }
}
