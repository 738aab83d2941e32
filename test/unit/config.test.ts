import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { assertNodeVersion, CONFIG_VARIABLES, loadConfig } from '../../src/config.ts';
import { HindsightError } from '../../src/errors.ts';

const SECRET = 'q7Yx0nB3vW9zL5kT2mJ8hR4dF6sA1cEu';
const KEY = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7 + 1)).toString('base64');
const local = { HINDSIGHT_LOCAL: 'on', HOME: '/home/x' };
const remote = {
  HOME: '/home/x',
  JWKS_URL: 'https://id.example/keys',
  JWT_ISSUER: 'https://id.example',
  JWT_AUDIENCE: 'https://memory.example/mcp',
  SERVICE_SECRET: SECRET,
  MASTER_KEY: KEY,
};

function fault(env: Record<string, string | undefined>, overrides = {}): HindsightError {
  try {
    loadConfig(env, overrides);
  } catch (error) {
    expect(error).to.be.instanceOf(HindsightError);
    return error as HindsightError;
  }
  throw new Error('the configuration was accepted');
}

describe('config', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'config-'));
  });
  after(() => {
    rmSync(dir, { recursive: true });
  });
  const file = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text);
    return path;
  };

  it('takes former service secrets one by one, and as a whole where one holds blanks', () => {
    const [one, other] = [SECRET.toLowerCase(), SECRET.toUpperCase()];
    const former = (text: string | undefined) =>
      loadConfig({ ...remote, HOST: '127.0.0.1', SERVICE_SECRET_PREVIOUS: text }).serviceSecretsPrevious;
    expect(former(undefined)).to.deep.equal([]);
    expect(former(one)).to.deep.equal([one]);
    expect(former(`${one} ${other}`)).to.include.members([one, other]);
    const blanks = 'seven old brass keys hang beside the cellar door';
    expect(former(blanks)).to.deep.equal([blanks]);
  });

  it('refuses to start with a former secret that is too short, and does not repeat it', () => {
    for (const text of ['short-secret', `${SECRET} short-secret`, `${SECRET} ${SECRET} x`, ' '.repeat(40)]) {
      const { message } = fault({ ...remote, HOST: '127.0.0.1', SERVICE_SECRET_PREVIOUS: text });
      expect(message).to.contain('SERVICE_SECRET_PREVIOUS must be former secrets of at least 32 characters each, separated by blanks');
      expect(message).not.to.contain('short-secret');
    }
  });

  it('starts in local mode without any other variable', () => {
    const config = loadConfig(local);
    expect(config).to.deep.include({
      local: true,
      host: '127.0.0.1',
      port: 8420,
      publicUrl: 'http://127.0.0.1:8420',
      dataDir: '/home/x/.hindsight-es',
      cacheDir: '/home/x/.cache/hindsight-es',
      topKDefault: 5,
      memoryTtlDays: 0,
    });
    expect(config.auth).to.deep.equal({
      issuers: [],
      localIssuer: { issuer: 'urn:hindsight-es:local-issuer', audience: 'urn:hindsight-es:local', tenants: undefined },
      revocations: { file: '/home/x/.hindsight-es/revoked.yaml', fileRequired: false, inRedis: false },
      publishMetadata: false,
    });
    expect(config.elasticsearch.replicas).to.equal(0);
    expect(config.allowedHosts).to.deep.equal(['127.0.0.1', 'localhost', '[::1]', '127.0.0.1:8420']);
  });

  it('starts with an issuer, an audience and both keys outside local mode', () => {
    const config = loadConfig({ ...remote, ELASTICSEARCH_URL: 'https://es.example:9200/' });
    expect(config.local).to.equal(false);
    expect(config.auth.localIssuer).to.equal(undefined);
    expect(config.auth.publishMetadata).to.equal(true);
    expect(config.auth.issuers).to.deep.equal([
      {
        issuer: 'https://id.example',
        keysMaxAgeSeconds: 600,
        clockToleranceSeconds: 5,
        claims: {},
        audience: 'https://memory.example/mcp',
        keys: { url: 'https://id.example/keys' },
        algorithms: ['ES256', 'RS256', 'EdDSA'],
        requireTyp: false,
        maxTokenAgeSeconds: 86_400,
        tenants: undefined,
      },
    ]);
    expect(config.elasticsearch).to.include({ url: 'https://es.example:9200', replicas: 1 });
    expect(config.masterKeyBase64).to.equal(KEY);
  });

  it('is frozen at every depth', () => {
    const config = loadConfig(local);
    expect(() => {
      (config as { port: number }).port = 1;
    }).to.throw(TypeError);
    expect(() => {
      (config.engine as { heapMb: number }).heapMb = 1;
    }).to.throw(TypeError);
  });

  it('lets the command line win over the environment and takes an empty string as absent', () => {
    expect(loadConfig({ ...local, PORT: '1', LOG_LEVEL: '' }, { PORT: '9000' })).to.include({ port: 9000, logLevel: 'info' });
    expect(fault(local, { PROT: '1' }).message).to.contain('PROT is not a known variable');
  });

  it('reports all faults in one sentence by name and never repeats a value', () => {
    const error = fault({
      PORT: '70000',
      LOG_LEVEL: 'loud-value',
      ELASTICSEARCH_URL: 'http://user:hunter2@es:9200',
      SERVICE_SECRET: 'short-secret',
      MASTER_KEY: 'not-a-key',
      EMBEDDING_PROFILE: 'openai',
      CORS_ORIGINS: '*',
    });
    expect(error.code).to.equal('ERR_CONFIG_INVALID');
    for (const name of [
      'PORT must be an integer from 1 to 65535',
      'LOG_LEVEL must be fatal, error, warn, info, debug, trace or silent',
      'ELASTICSEARCH_URL must be',
      'SERVICE_SECRET must be at least 32 characters',
      'MASTER_KEY must be 32 random bytes',
      'EMBEDDING_BASE_URL must be set with EMBEDDING_PROFILE=openai',
      'CORS_ORIGINS must be',
      'JWKS_URL, JWT_ISSUER, JWT_AUDIENCE must be set',
    ])
      expect(error.message).to.contain(name);
    expect(error.message).to.not.match(/70000|loud-value|hunter2|short-secret|not-a-key/);
    expect(error.message).to.not.contain('\n');
  });

  for (const name of ['JWKS_URL', 'JWT_AUDIENCE', 'SERVICE_SECRET', 'MASTER_KEY'] as const)
    it(`refuses to start without ${name} outside local mode`, () => {
      const error = fault({ ...remote, [name]: undefined, ...(name === 'JWKS_URL' ? { JWT_ISSUER: undefined } : {}) });
      expect(error.code).to.equal('ERR_CONFIG_UNSAFE');
      expect(error.message).to.contain(name);
    });

  it('refuses local mode on an address that others can reach', () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.5', 'localhost.evil.example'])
      expect(fault({ ...local, HOST: host }).code, host).to.equal('ERR_CONFIG_UNSAFE');
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) expect(loadConfig({ ...local, HOST: host }).host).to.equal(host);
  });

  it('refuses keys that come without TLS from another machine', () => {
    for (const url of ['http://id.example/keys', 'http://127.0.0.1.evil.example/keys', 'ftp://id.example', 'https://u:p@id.example/k'])
      expect(fault({ ...remote, JWKS_URL: url }).message, url).to.contain('JWKS_URL must be an https:// URL');
    expect(loadConfig({ ...remote, JWKS_URL: 'http://127.0.0.1:4199/jwks' }).auth.issuers).to.have.length(1);
  });

  it('refuses symmetric and absent signatures as algorithms', () => {
    for (const list of ['HS256', 'none', 'ES256,none', 'es256'])
      expect(fault({ ...remote, JWT_ALGORITHMS: list }).message, list).to.contain('JWT_ALGORITHMS');
    expect(loadConfig({ ...remote, JWT_ALGORITHMS: 'PS256, ES384' }).auth.issuers[0]?.algorithms).to.deep.equal(['PS256', 'ES384']);
  });

  it('refuses a public address without the names under which it is reached', () => {
    expect(fault({ ...remote, HOST: '0.0.0.0' }).message).to.contain('PUBLIC_URL or ALLOWED_HOSTS');
    expect(loadConfig({ ...remote, HOST: '0.0.0.0', PUBLIC_URL: 'https://memory.example' }).allowedHosts).to.include('memory.example');
  });

  it('refuses unlimited rates outside local mode', () => {
    expect(fault({ ...remote, RATE_LIMIT_PROFILE: 'bench' }).code).to.equal('ERR_CONFIG_UNSAFE');
    expect(loadConfig({ ...local, RATE_LIMIT_PROFILE: 'bench' }).rateLimitProfile).to.equal('bench');
  });

  it('reads secrets from files, without the closing line break', () => {
    const config = loadConfig({
      ...remote,
      SERVICE_SECRET: undefined,
      SERVICE_SECRET_FILE: file('secret', `${SECRET}\n`),
      ELASTICSEARCH_API_KEY_FILE: file('es', 'abc'),
    });
    expect(config.serviceSecret).to.equal(SECRET);
    expect(config.elasticsearch.apiKey).to.equal('abc');
  });

  it('refuses a secret file that is absent, empty or doubled by a variable, without naming its path', () => {
    const { SERVICE_SECRET: _, ...rest } = remote;
    for (const path of [join(dir, 'absent'), file('empty', '\n'), file('large', 'x'.repeat(20_000))]) {
      const error = fault({ ...rest, SERVICE_SECRET_FILE: path });
      expect(error.message).to.contain('SERVICE_SECRET_FILE must name a readable');
      expect(error.message).to.not.contain(dir);
    }
    expect(fault({ ...remote, SERVICE_SECRET_FILE: file('s', SECRET) }).message).to.contain('must not both be set');
  });

  it('takes a master key in hexadecimal, base64 and base64url as the same key', () => {
    const bytes = Buffer.from(KEY, 'base64');
    for (const text of [bytes.toString('hex'), KEY, bytes.toString('base64url')])
      expect(loadConfig({ ...remote, MASTER_KEY: text }).masterKeyBase64).to.equal(KEY);
    expect(fault({ ...remote, MASTER_KEY: '0'.repeat(64) }).message).to.contain('MASTER_KEY');
  });

  describe('with an issuers file', () => {
    const yaml = (tenants: readonly [string, string]): string =>
      `version: 1\nissuers:\n${tenants
        .map(
          (t, i) =>
            `  - issuer: https://id${i}.example\n    audience: https://m.example\n    jwks_url: https://id${i}.example/keys\n    tenants: [${t}]\n`,
        )
        .join('')}`;
    const base = { HOME: '/home/x', SERVICE_SECRET: SECRET, MASTER_KEY: KEY };

    it('takes several issuers, each with its own tenants', () => {
      const { issuers } = loadConfig({ ...base, JWT_ISSUERS_FILE: file('two.yaml', yaml(['acme', 'globex'])), REQUIRE_TYP: 'on' }).auth;
      expect(issuers.map((i) => [i.issuer, i.tenants, i.requireTyp])).to.deep.equal([
        ['https://id0.example', ['acme'], true],
        ['https://id1.example', ['globex'], true],
      ]);
    });

    it('refuses two issuers that may sign for one tenant', () => {
      expect(fault({ ...base, JWT_ISSUERS_FILE: file('same.yaml', yaml(['acme', 'acme'])) }).message).to.contain('named by two issuers');
    });

    it('refuses a second issuer beside the local one unless it names tenants', () => {
      const both = { ...remote, ...local };
      expect(fault(both).message).to.contain('JWT_TENANTS');
      expect(fault({ ...both, JWT_TENANTS: 'acme,local' }).message).to.contain('named by two issuers');
      expect(loadConfig({ ...both, JWT_TENANTS: 'acme' }).auth.localIssuer?.tenants).to.deep.equal(['local']);
    });

    it('names file and pointer of a fault in it', () => {
      const path = file('bad.yaml', 'version: 1\nissuers:\n  - issuer: "a|b"\n    audience: x\n    jwks_url: http://id.example\n');
      const error = fault({ ...base, JWT_ISSUERS_FILE: path });
      expect(error.message).to.contain('bad.yaml /issuers/0/issuer must be').and.to.contain('/issuers/0/jwks_url must be');
    });
  });

  describe('with an issuers file, more of it', () => {
    const base = { HOME: '/home/x', SERVICE_SECRET: SECRET, MASTER_KEY: KEY };
    const head = 'version: 1\nissuers:\n  - issuer: https://id.example\n    audience: https://m.example\n';
    const KEYS = '{"keys":[{"kty":"EC","crv":"P-256","x":"x","y":"y"}]}';

    it('takes every part of a row, and a keys file from the folder of the issuers file', () => {
      const keys = file('keys.json', KEYS);
      const rest =
        '    keys_file: keys.json\n    algorithms: [ES384]\n    require_typ: true\n    max_token_age_seconds: 3600\n' +
        '    clock_tolerance_seconds: 0\n    keys_max_age_seconds: 60\n    claims: { tenant: org, roles: /realm_access/roles }\n    tenants: [acme]\n';
      expect(loadConfig({ ...base, JWT_ISSUERS_FILE: file('full.yaml', head + rest) }).auth.issuers).to.deep.equal([
        {
          issuer: 'https://id.example',
          audience: 'https://m.example',
          keys: { file: keys },
          keysMaxAgeSeconds: 60,
          algorithms: ['ES384'],
          requireTyp: true,
          maxTokenAgeSeconds: 3_600,
          clockToleranceSeconds: 0,
          claims: { tenant: 'org', roles: '/realm_access/roles' },
          tenants: ['acme'],
        },
      ]);
    });

    it('refuses rows without keys, with both kinds, with a private or no key, with an unknown claim or a symmetric algorithm', () => {
      file('private.json', '{"keys":[{"kty":"EC","crv":"P-256","x":"x","y":"y","d":"d"}]}');
      file('oct.json', '{"keys":[{"kty":"oct","k":"k"}]}');
      file('good.json', KEYS);
      for (const [row, message] of [
        ['', 'must name one of jwks_url and keys_file'],
        ['    keys_file: good.json\n    jwks_url: https://id.example/keys\n', 'must name one of jwks_url and keys_file'],
        ['    keys_file: private.json\n', 'must not hold a private key'],
        ['    keys_file: oct.json\n', 'must be EC, RSA or OKP'],
        ['    keys_file: absent.json\n', 'absent.json cannot be read'],
        ['    keys_file: good.json\n    claims: { iss: other }\n', '/claims'],
        ['    keys_file: good.json\n    claims: { tenant: "/a//b" }\n', '/claims/tenant must be'],
        ['    keys_file: good.json\n    algorithms: [HS256]\n', '/algorithms/0'],
      ] as const)
        expect(fault({ ...base, JWT_ISSUERS_FILE: file('bad-row.yaml', head + row) }).message, row).to.contain(message);
    });

    it('reads issuers.yaml of the policies folder, which may name none, and never beside the short form', () => {
      const text = `${head}    jwks_url: https://id.example/keys\n`;
      const dir = dirname(file('issuers.yaml', text));
      expect(loadConfig({ ...base, POLICIES_DIR: dir }).auth.issuers.map(({ issuer }) => issuer)).to.deep.equal(['https://id.example']);
      expect(fault({ ...remote, POLICIES_DIR: dir }).message).to.contain('JWKS_URL must not be set together with issuers in issuers.yaml');
      file('issuers.yaml', 'version: 1\nissuers: []\n');
      expect(loadConfig({ ...remote, POLICIES_DIR: dir }).auth.issuers).to.have.length(1);
      expect(fault({ ...base, POLICIES_DIR: dir }).message).to.contain('must be set (or issuers in issuers.yaml)');
      expect(fault({ ...base, JWT_ISSUERS_FILE: join(dir, 'issuers.yaml') }).message).to.contain('at least one issuer');
    });
  });

  it('looks for revocations in Redis only where there is one', () => {
    expect(fault({ ...remote, REVOCATIONS_REDIS: 'on' }).message).to.contain('REDIS_URL must be set');
    expect(loadConfig({ ...remote, REVOCATIONS_REDIS: 'on', REDIS_URL: 'redis://127.0.0.1' }).auth.revocations.inRedis).to.equal(true);
    expect(loadConfig({ ...remote, REVOCATIONS_FILE: '/etc/revoked.yaml' }).auth.revocations).to.deep.include({
      file: '/etc/revoked.yaml',
      fileRequired: true,
    });
  });

  it('describes every variable, and each default is valid for its own schema', () => {
    for (const { name, description } of CONFIG_VARIABLES) expect(description, name).to.match(/^[A-Z].{10,}\.$/);
    expect(new Set(CONFIG_VARIABLES.map((v) => v.name)).size).to.equal(CONFIG_VARIABLES.length);
    expect(() => loadConfig(local)).to.not.throw();
    expect(CONFIG_VARIABLES.filter((v) => v.secret).map((v) => v.name)).to.include.members(['SERVICE_SECRET', 'MASTER_KEY', 'REDIS_URL']);
  });

  it('asks for Node 20.19 or newer', () => {
    for (const old of ['18.20.0', '20.18.9', '20.9.0']) expect(() => assertNodeVersion(old)).to.throw(`Node ${old} is too old`);
    for (const fine of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) expect(() => assertNodeVersion(fine)).to.not.throw();
  });
});
