/** What runs beside: the service, Elasticsearch, Redis and the embedding endpoint, each asked with a short patience. */
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Config } from '../../config.ts';
import { packageVersion } from '../package-version.ts';
import { isAlive, readRunFile } from '../run-file.ts';
import { finding, type Finding } from './check.ts';

const PATIENCE_MS = 3_000;
const OLDEST_ENGINE = [8, 16] as const;

/** The local service by its run file: alive, ready, and of this version. */
export async function checkService(dataDir: string): Promise<Finding> {
  const start = { en: 'start it with "hindsight-es serve --local"', zh: '用 “hindsight-es serve --local” 启动' };
  const run = readRunFile(dataDir);
  if (run === undefined || !(await isAlive(run))) return finding('service', 'warn', { en: 'not running', zh: '未运行' }, start);
  const ready = await get(`${run.url}/readyz`);
  if (ready?.status !== 200)
    return finding(
      'service',
      'fail',
      { en: `${run.url} runs but is not ready`, zh: `${run.url} 在运行但尚未就绪` },
      { en: `see ${dataDir}/logs/service.log`, zh: `请查看 ${dataDir}/logs/service.log` },
    );
  const stats = (await get(`${run.url}/v1/stats`, { authorization: `Bearer ${run.token}` }))?.body as
    { service?: { version?: string } } | undefined;
  const version = stats?.service?.version;
  const own = packageVersion();
  if (version !== undefined && version !== own)
    return finding(
      'service',
      'warn',
      { en: `${run.url} is version ${version}, this program ${own}`, zh: `${run.url} 的版本是 ${version}，本程序是 ${own}` },
      { en: 'restart the service', zh: '请重启服务' },
    );
  return finding('service', 'ok', `${run.url} (${version ?? own})`);
}

/** A cluster of the user's own; the managed one is asked through the service. */
export async function checkElasticsearch({ elasticsearch }: Config): Promise<Finding> {
  const { url, apiKey, username, password } = elasticsearch;
  if (url === undefined)
    return finding('Elasticsearch', 'skip', {
      en: 'managed by the service (no ELASTICSEARCH_URL)',
      zh: '由服务自带（未设 ELASTICSEARCH_URL）',
    });
  const authorization =
    apiKey !== undefined
      ? `ApiKey ${apiKey}`
      : username !== undefined
        ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`
        : undefined;
  const answer = await get(url, authorization === undefined ? {} : { authorization });
  if (answer === undefined)
    return unreachable('Elasticsearch', 'ELASTICSEARCH_URL', {
      en: 'inside a container localhost is the container',
      zh: '容器内的 localhost 是容器自己',
    });
  if (answer.status === 401 || answer.status === 403)
    return finding(
      'Elasticsearch',
      'fail',
      { en: 'refuses the credentials', zh: '拒绝了凭据' },
      { en: 'check ELASTICSEARCH_API_KEY, or _USERNAME and _PASSWORD', zh: '请检查 ELASTICSEARCH_API_KEY 或 _USERNAME、_PASSWORD' },
    );
  const version = (answer.body as { version?: { number?: string } } | undefined)?.version?.number ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const old = major < OLDEST_ENGINE[0] || (major === OLDEST_ENGINE[0] && minor < OLDEST_ENGINE[1]);
  if (version === '')
    return finding(
      'Elasticsearch',
      'fail',
      { en: 'what answers is no Elasticsearch', zh: '应答的不是 Elasticsearch' },
      { en: 'correct ELASTICSEARCH_URL', zh: '请更正 ELASTICSEARCH_URL' },
    );
  return old
    ? finding('Elasticsearch', 'fail', version, { en: '8.16 or newer is needed', zh: '需要 8.16 或更新版本' })
    : finding('Elasticsearch', 'ok', version);
}

/** PING over a bare socket: no client has to be loaded for one word. A password is sent first where the URL has one. */
export async function checkRedis(url: string | undefined): Promise<Finding> {
  if (url === undefined)
    return finding('Redis', 'skip', {
      en: 'not configured (REDIS_URL), needed for several replicas only',
      zh: '未配置（REDIS_URL），仅多副本时需要',
    });
  const answer = await ping(new URL(url)).catch((error: NodeJS.ErrnoException) => error.code ?? 'ERROR');
  if (/\+PONG/.test(answer)) return finding('Redis', 'ok', { en: 'answers', zh: '应答正常' });
  const refused = /NOAUTH|WRONGPASS|NOPERM/.test(answer);
  return refused
    ? finding(
        'Redis',
        'fail',
        { en: 'refuses the password', zh: '拒绝了密码' },
        { en: 'correct the password in REDIS_URL', zh: '请更正 REDIS_URL 中的密码' },
      )
    : finding(
        'Redis',
        'warn',
        { en: 'cannot be reached', zh: '无法连接' },
        {
          en: 'the service works without it, but limits then count in each process: start it or correct REDIS_URL',
          zh: '服务可以不依赖它工作，但限流只在各进程内计数：请启动或更正 REDIS_URL',
        },
      );
}

function ping(url: URL): Promise<string> {
  const decoded = (text: string): string => decodeURIComponent(text);
  const auth = url.password === '' ? [] : [['AUTH', ...(url.username === '' ? [] : [decoded(url.username)]), decoded(url.password)]];
  const commands = [...auth, ['PING']].map(
    (parts) => `*${parts.length}\r\n${parts.map((p) => `$${Buffer.byteLength(p)}\r\n${p}\r\n`).join('')}`,
  );
  return new Promise((resolve, reject) => {
    const address = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6_379) };
    const socket = url.protocol === 'rediss:' ? connectTls({ ...address, servername: address.host }) : connectSocket(address);
    let text = '';
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(Object.assign(new Error('time-out'), { code: 'ETIMEDOUT' })));
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.split('\r\n').length <= commands.length) return;
      socket.destroy();
      resolve(text);
    });
    socket.on('close', () => resolve(text));
    socket.write(commands.join(''));
  });
}

/** An embedding endpoint is there when it answers at all: what it answers to is tested by the service's start. */
export async function checkEmbedding({ embedding }: Config): Promise<Finding | undefined> {
  const { profile, baseUrl } = embedding;
  if (profile === 'local' || baseUrl === undefined) return undefined;
  const answer = await get(`${baseUrl}/models`, embedding.apiKey === undefined ? {} : { authorization: `Bearer ${embedding.apiKey}` });
  if (answer === undefined)
    return unreachable('embedding', 'EMBEDDING_BASE_URL', {
      en: 'from a container: host.docker.internal',
      zh: '容器内请用 host.docker.internal',
    });
  const refused = answer.status === 401 || answer.status === 403;
  return refused
    ? finding(
        'embedding',
        'fail',
        { en: 'refuses the key', zh: '拒绝了密钥' },
        { en: 'check EMBEDDING_API_KEY', zh: '请检查 EMBEDDING_API_KEY' },
      )
    : finding('embedding', 'ok', { en: 'answers', zh: '应答正常' });
}

/** Nothing answers at the address in `variable`; `aside` is what it often is. */
function unreachable(what: string, variable: string, aside: { readonly en: string; readonly zh: string }): Finding {
  return finding(
    what,
    'fail',
    { en: `${variable} cannot be reached`, zh: `无法连接 ${variable}` },
    { en: `start it, or correct the URL (${aside.en})`, zh: `请启动它或更正地址（${aside.zh}）` },
  );
}

/** Undefined when nothing answers in three seconds. */
async function get(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown } | undefined> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, body: await response.json().catch((): unknown => undefined) };
  } catch {
    return undefined;
  }
}
