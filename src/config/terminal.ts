/** What the command line reads from the environment beside the service's address: language and colours, and the help on its variables. */

type Env = Readonly<Record<string, string | undefined>>;

export interface ClientVariable {
  readonly name: string;
  readonly description: Readonly<Record<'en' | 'zh', string>>;
}

/** Shown by --help of the commands that call the service. */
export const CLIENT_VARIABLES: readonly ClientVariable[] = [
  {
    name: 'HINDSIGHT_URL',
    description: { en: 'URL of the service (default: the one in DATA_DIR/run.json)', zh: '服务地址（默认取 DATA_DIR/run.json）' },
  },
  {
    name: 'HINDSIGHT_TOKEN',
    description: {
      en: 'bearer token, or HINDSIGHT_TOKEN_FILE (default: the one in DATA_DIR/run.json, for that service alone)',
      zh: '访问令牌，也可用 HINDSIGHT_TOKEN_FILE（默认取 DATA_DIR/run.json，只发给该服务）',
    },
  },
  {
    name: 'DATA_DIR',
    description: { en: 'data directory of the local service (default: ~/.hindsight-es)', zh: '本地服务的数据目录（默认 ~/.hindsight-es）' },
  },
  { name: 'NO_COLOR', description: { en: 'no colours', zh: '不使用颜色' } },
];

/** zh where the locale says so (LC_ALL before LC_MESSAGES before LANG, as POSIX orders them), else en. */
export function languageOf(env: Env): 'en' | 'zh' {
  const locale = [env['LC_ALL'], env['LC_MESSAGES'], env['LANG']].find((v) => v !== undefined && v !== '') ?? '';
  return /^zh/i.test(locale) ? 'zh' : 'en';
}

/** https://no-color.org, and terminals that cannot. */
export function wantsColours(env: Env): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}
