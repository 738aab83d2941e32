import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CONFIG_VARIABLES } from '../../src/config.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');

interface ComposeService {
  readonly restart?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[]; readonly start_period?: string; readonly retries?: number };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly extra_hosts?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly stop_grace_period?: string;
}
const { services, volumes } = parse(compose) as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const service = (name: string): ComposeService => {
  const found = services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
};
const seconds = (text: string | undefined): number => Number(/^(\d+)s$/.exec(text ?? '')?.[1]);

describe('docker-compose.yml', () => {
  it('runs Elasticsearch, Redis and the service', () => {
    expect(Object.keys(services)).to.have.members(['elasticsearch', 'redis', 'hindsight-es']);
  });

  for (const [name, one] of Object.entries(services))
    describe(name, () => {
      it('comes back by itself, in UTC', () => {
        expect(one.restart).to.equal('unless-stopped');
        expect(one.environment['TZ']).to.equal('UTC');
      });

      it('tells its health, with time to start', () => {
        expect(one.healthcheck?.test).to.have.length.above(1);
        expect(seconds(one.healthcheck?.start_period)).to.be.at.least(10);
        expect(one.healthcheck?.retries).to.be.at.least(3);
      });

      it('keeps its data in a volume with a name', () => {
        const names = (one.volumes ?? []).map((volume) => volume.split(':')[0]);
        expect(names).to.have.length(1);
        expect(Object.keys(volumes)).to.include.members(names);
      });
    });

  it('starts the service when the others are healthy', () => {
    expect(service('hindsight-es').depends_on).to.deep.equal({
      elasticsearch: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    });
  });

  it('publishes the service alone, on loopback', () => {
    expect(Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`))).to.deep.equal([
      'hindsight-es 127.0.0.1:8420:8420',
    ]);
  });

  it('demands every password and key, and holds none', () => {
    const secrets = ['ELASTIC_PASSWORD', 'REDIS_PASSWORD', 'SERVICE_SECRET', 'MASTER_KEY', 'JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'];
    for (const name of secrets) {
      const uses = compose.match(new RegExp(`\\$\\{${name}(?![A-Z_])[^}]*\\}`, 'g')) ?? [];
      expect(uses, name).to.have.length.above(0);
      for (const use of uses) expect(use).to.equal(`\${${name}:?set ${name} in .env}`);
    }
    for (const { environment } of Object.values(services))
      for (const [name, value] of Object.entries(environment))
        if (/PASSWORD|SECRET|KEY/.test(name)) expect(value, name).to.match(/^\$\{[A-Z_]+:[?-][^}]*\}$/);
  });

  it('reaches models on the host', () => {
    expect(service('hindsight-es').extra_hosts).to.deep.equal(['host.docker.internal:host-gateway']);
  });

  it('lets the service write to its data and to /tmp alone, with no rights to gain', () => {
    const { read_only: readOnly, tmpfs, volumes: own, cap_drop: dropped, security_opt: options, privileged } = service('hindsight-es');
    expect(readOnly).to.equal(true);
    expect(tmpfs).to.deep.equal(['/tmp']);
    expect(own).to.deep.equal(['service-data:/var/lib/hindsight-es']);
    expect(dropped).to.deep.equal(['ALL']);
    expect(options).to.deep.equal(['no-new-privileges:true']);
    expect(privileged).to.equal(undefined);
  });

  it('gives the service time to end', () => {
    expect(seconds(service('hindsight-es').stop_grace_period)).to.be.at.least(45);
  });

  it('sets only variables that the service knows', () => {
    const known = new Set([...CONFIG_VARIABLES.map(({ name }) => name), 'TZ']);
    expect(Object.keys(service('hindsight-es').environment).filter((name) => !known.has(name))).to.deep.equal([]);
  });
});

describe('Dockerfile', () => {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const stages = text.split(/^FROM /m).slice(1);
  const [build = '', final = ''] = stages;
  /** Lines of an instruction, joined where they go on. */
  const instructions = (stage: string, name: string): string[] =>
    stage
      .replace(/\\\n\s*/g, ' ')
      .split('\n')
      .filter((line) => line.startsWith(`${name} `))
      .map((line) => line.slice(name.length + 1));

  it('builds in one slim stage and ships another, without the tools of the first', () => {
    expect(stages).to.have.length(2);
    for (const stage of stages) expect(stage).to.match(/^node:22-bookworm-slim/);
    expect(instructions(final, 'RUN').join()).to.not.match(/apt-get|npm |maven|openjdk/);
  });

  it('fetches the models while it builds', () => {
    const fetch = instructions(build, 'RUN').find((line) => line.includes('models.mjs'));
    const [script = '', target = ''] = /node (\S+) (\S+)/.exec(fetch ?? '')?.slice(1) ?? [];
    expect(existsSync(join(ROOT, script)), script).to.equal(true);
    expect(instructions(final, 'COPY')).to.include(`--from=build ${target} ${target}`);
    expect(final).to.include(`HINDSIGHT_CACHE_DIR=${target}`);
  });

  it('runs as a user without rights, who owns its data directory alone', () => {
    expect(instructions(final, 'USER')).to.deep.equal(['node']);
    expect(instructions(final, 'VOLUME')).to.deep.equal(['/var/lib/hindsight-es']);
    expect(instructions(final, 'RUN')).to.deep.equal(['install -d -o node -g node -m 0700 /var/lib/hindsight-es']);
    expect(instructions(final, 'COPY').filter((line) => line.includes('--chown'))).to.deep.equal([]);
  });

  it('hands its arguments to the program, so that `docker run -i IMAGE mcp` is a stdio server', () => {
    expect(instructions(final, 'ENTRYPOINT').map((line) => JSON.parse(line) as unknown)).to.deep.equal([['node', '/app/dist/main.js']]);
    expect(instructions(final, 'CMD').map((line) => JSON.parse(line) as unknown)).to.deep.equal([['serve']]);
    expect(instructions(final, 'COPY')).to.include.members(['--from=build /app/dist dist', 'mappings mappings', 'policies policies']);
  });

  it('has a health check, and takes no secret in', () => {
    expect(instructions(final, 'HEALTHCHECK').join()).to.contain('/readyz').and.contain('--start-period=30s');
    expect(text).to.not.match(/SECRET|PASSWORD|_KEY=/);
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    expect(ignored).to.include.members(['.git', '.env', 'node_modules']);
  });
});
