import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it, expect } from '@jest/globals';
import { Ajv } from 'ajv';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { MIGRATIONS } from '../migrations/index.js';
import { readConfig } from '../src/core/config/config.js';
import { excessivePowers, migrate } from '../src/core/database/index.js';
import { commandOf } from '../tools/harness/local-servers.js';
import { freePort } from '../tools/harness/free-port.js';
import { runCli } from './support/cli.js';
import { createEmptyDatabase } from './support/database.js';
import { itWith, pathOf } from './support/needs.js';
import { waitFor } from './support/wait.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const dockerfile = read('docker/Dockerfile');
const composeText = read('docker/compose.yaml');

const require = createRequire(import.meta.url);
// The declarations of dclint import without extensions, which a NodeNext compiler cannot follow.
const { DCLinter } = require('dclint') as {
  DCLinter: new (config: { rules: Record<string, 0 | 1 | 2>; quiet: boolean; debug: boolean; exclude: string[] }) => {
    lintFiles(paths: string[], recursive: boolean): { messages: { rule: string }[] }[];
  };
};

const SECRET = /SECRET|PASSWORD|TOKEN|_KEY|CREDENTIAL/;

interface Stage {
  name: string | null;
  image: string;
  instructions: Instruction[];
}

function stages(text: string): Stage[] {
  const found: Stage[] = [];
  const file = DockerfileParser.parse(text);
  const froms = file.getFROMs();
  for (const instruction of file.getInstructions()) {
    const from = froms.find((f) => f.getRange().start.line === instruction.getRange().start.line);
    if (from) found.push({ name: from.getBuildStage(), image: from.getImage() ?? '', instructions: [] });
    else found.at(-1)?.instructions.push(instruction);
  }
  return found;
}

/** The last value an instruction has in a stage, or in the stages it is built from; that is what the image gets. */
function lastOf(all: Stage[], stage: Stage | undefined, keyword: string): Instruction | undefined {
  if (!stage) return undefined;
  const own = stage.instructions.filter((i) => i.getKeyword() === keyword).at(-1);
  return (
    own ??
    lastOf(
      all,
      all.slice(0, all.indexOf(stage)).findLast((s) => s.name === stage.image),
      keyword,
    )
  );
}

function environmentOf(all: Stage[], stage: Stage | undefined): Record<string, string> {
  if (!stage) return {};
  const parent = all.slice(0, all.indexOf(stage)).findLast((s) => s.name === stage.image);
  const env = environmentOf(all, parent);
  const text = stage.instructions.map((i) => i.getTextContent()).join('\n');
  for (const e of DockerfileParser.parse(`FROM scratch\n${text}`).getENVs()) {
    for (const property of e.getProperties()) env[property.getName()] = property.getValue() ?? '';
  }
  return env;
}

function execForm(instruction: Instruction | undefined): string[] | undefined {
  const array = /\[.*\]\s*$/s.exec(instruction?.getArgumentsContent() ?? '')?.[0];
  try {
    return array === undefined ? undefined : (JSON.parse(array) as string[]);
  } catch {
    return undefined;
  }
}

/** Lists the faults of a Dockerfile, one short line each. */
function dockerfileProblems(text: string): string[] {
  const problems = validate(text).map(
    ({ message }) => `syntax: ${typeof message === 'string' ? message : message.value}`,
  );
  const all = stages(text);
  const final = all.at(-1);
  const names = all.map((s) => s.name);
  if (all.length < 2) problems.push('one stage only');
  for (const { image } of all) {
    if (!names.includes(image) && !/:\d+\.\d+\.\d+(-[a-z]+)*$|@sha256:[0-9a-f]{64}$/.test(image)) {
      problems.push(`base image not pinned: ${image}`);
    }
  }
  for (const { instructions } of all) {
    for (const i of instructions) {
      const content = i.getArgumentsContent() ?? '';
      const keyword = i.getKeyword();
      if (keyword === 'ADD') problems.push('ADD');
      if (keyword === 'RUN' && /npm (i|install)\b/.test(content)) problems.push('npm install ignores the lock');
      if ((keyword === 'ENV' || keyword === 'ARG') && SECRET.test(content)) problems.push(`secret in ${keyword}`);
    }
  }
  if (final?.instructions.some((i) => i.getKeyword() === 'COPY' && / \.\/? /.test(` ${i.getArgumentsContent()}`))) {
    problems.push('the whole context in the last stage');
  }
  const user = lastOf(all, final, 'USER')?.getArgumentsContent()?.split(':')[0] ?? 'root';
  if (!/^[1-9]\d*$/.test(user)) problems.push(`runs as ${user}`);
  const health = execForm(lastOf(all, final, 'HEALTHCHECK'));
  if (health?.[0] !== 'node') problems.push('no HEALTHCHECK by node');
  if (
    execForm(lastOf(all, final, 'CMD'))?.join(' ') !==
    'node --max-old-space-size=512 --max-semi-space-size=8 dist/bundle/main.js'
  )
    problems.push('CMD not in exec form');
  if (!lastOf(all, final, 'STOPSIGNAL')) problems.push('no STOPSIGNAL');
  return problems;
}

interface Service {
  image: string;
  command?: string | string[];
  entrypoint?: string | string[];
  environment: Record<string, string>;
  logging?: object;
  networks?: string[];
  restart?: string;
  ports?: string[];
  volumes?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  cap_drop?: string[];
  read_only?: boolean;
  security_opt?: string[];
  mem_limit?: string;
  pids_limit?: number;
  profiles?: string[];
}
interface Compose {
  services: Record<string, Service>;
  volumes: object;
}

/** Substitutes ${NAME}, ${NAME:-default}, ${NAME:?message} and $$ in every string, as Compose does after parsing. */
function interpolate<T>(node: T, env: Record<string, string>): T {
  if (typeof node === 'string') {
    return node.replace(
      /\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g,
      (all: string, name?: string, kind?: string, rest?: string) => {
        if (all === '$$') return '$';
        const value = env[name ?? ''] ?? '';
        if (value === '' && kind === '?') throw new Error(`${name ?? ''}: ${rest ?? ''}`);
        return value === '' && kind === '-' ? (rest ?? '') : value;
      },
    ) as T;
  }
  if (Array.isArray(node)) return node.map((item: unknown) => interpolate(item, env)) as T;
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([k, v]: [string, unknown]) => [k, interpolate(v, env)])) as T;
}

/** As `openssl rand -hex` makes them, the same in each run. */
const made = (what: string, length: number): string => createHash('sha256').update(what).digest('hex').slice(0, length);

const required: Record<string, string> = {
  REDIS_PASSWORD: made('queue', 48),
  POSTGRES_PASSWORD: made('owner', 48),
  POSTGRES_SERVICE_PASSWORD: made('service', 48),
  JWT_SECRET: made('tokens', 64),
  ENCRYPTION_KEY: made('encryption', 64),
  PUBLIC_BASE_URL: 'https://pay.example.com',
  SMTP_URL: 'smtps://u:p@mail.example',
};
const load = (text: string, env = required): Compose => interpolate(parse(text, { merge: true }) as Compose, env);
const compose = load(composeText);

/** Every setting that the service reads. */
const settings = [...read('src/core/config/config.ts').matchAll(/^\s+([A-Z][A-Z0-9_]{2,}):/gm)].map(
  ([, name = '']) => name,
);
/** Settings with a value of their own in the image or for each service. */
const FIXED = ['NODE_ENV', 'HOST', 'PORT', 'DATA_DIR', 'ROLE', 'DATABASE_URL', 'DATABASE_MIGRATION_URL', 'REDIS_URL'];

function schemaProblems(document: object): string[] {
  // The package carries compose-spec's own schema; its $schema says https, which names no schema that ajv knows.
  const path = join(dirname(require.resolve('dclint/package.json')), 'schemas/compose.schema.json');
  const { $schema: _, ...schema } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const check = new Ajv({ strict: false, allErrors: true }).compile(schema);
  return check(document) ? [] : (check.errors ?? []).map((e) => `${e.instancePath} ${e.message ?? ''}`);
}

describe('docker/Dockerfile', () => {
  it('follows every rule', () => {
    expect(dockerfileProblems(dockerfile)).toEqual([]);
  });

  const broken: [string, (text: string) => string, RegExp][] = [
    ['an unknown instruction', (t) => `${t}\nCOPPY a b\n`, /syntax/],
    ['one stage only', (t) => t.slice(0, t.indexOf('FROM base AS build')), /one stage only/],
    ['latest', (t) => t.replace(/node:\S+/, 'node:latest'), /not pinned/],
    ['a floating major', (t) => t.replace(/node:\S+/, 'node:24-trixie-slim'), /not pinned/],
    ['ADD', (t) => t.replace('COPY . .', 'ADD . .'), /^ADD$/],
    ['npm install', (t) => t.replace('npm ci', 'npm install'), /ignores the lock/],
    ['a secret as ENV', (t) => t.replace('PORT=3000', 'JWT_SECRET=x'), /secret in ENV/],
    ['a secret as ARG', (t) => t.replace('WORKDIR', 'ARG NPM_TOKEN\nWORKDIR'), /secret in ARG/],
    ['sources in the image', (t) => t.replace('COPY package.json ./', 'COPY . .'), /whole context/],
    ['root, by name', (t) => t.replace(/USER .*/, 'USER root'), /runs as root/],
    ['root, by leaving USER out', (t) => t.replace(/USER .*/, ''), /runs as root/],
    ['curl', (t) => t.replace(/CMD \["node", "docker.*/, 'CMD curl -f localhost'), /no HEALTHCHECK/],
    ['CMD in a shell', (t) => t.replace(/CMD \["node", "--max-old.*/, 'CMD node dist/bundle/main.js'), /exec form/],
    ['no stop signal', (t) => t.replace(/STOPSIGNAL .*/, ''), /STOPSIGNAL/],
  ];
  it.each(broken)('breaks a rule with %s', (_name, mutate, problem) => {
    const changed = mutate(dockerfile);
    expect(changed).not.toBe(dockerfile);
    expect(dockerfileProblems(changed)).toContainEqual(expect.stringMatching(problem));
  });

  it('has the command line as `recebe`, and no npm', () => {
    const copied = stages(dockerfile)
      .at(-1)
      ?.instructions.map((each) => each.getTextContent());
    expect(copied).toContain('COPY --chmod=755 docker/recebe.sh /usr/local/bin/recebe');
    const context = read('.dockerignore').split('\n');
    for (const path of ['docker/recebe.sh', 'dashboard', 'tools/scripts/build.mjs', 'tools/scripts/bundle.mjs'])
      expect(context).toContain(`!${path}`);
    expect(composeText).toContain('exec api recebe account create');
    expect(composeText).not.toContain('npm run');
    // As in the image, but for where the files lie.
    const script = read('docker/recebe.sh');
    expect(script).toContain('exec node /app/dist/bundle/cli/main.js');
    const run = (...args: string[]): string =>
      execFileSync('sh', ['-c', script.replace(/\/app(\S*)/, `"${root}$1"`), 'recebe', ...args], { encoding: 'utf8' });
    expect(run('--version').trim()).toBe((JSON.parse(read('package.json')) as { version: string }).version);
    expect(run('account', 'create', '--help')).toContain('--password-file');
  });

  it('receives through .dockerignore only the files that it names', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    expect(lines.filter((line) => line.startsWith('!')).join(' ')).not.toMatch(/\.env|\.data|\.git|npmrc|\*\*/);
    expect(lines).toEqual(expect.arrayContaining(['!src', '!migrations', '!docker/healthcheck.mjs', '**/.env*']));
  });
});

describe('docker/healthcheck.mjs', () => {
  async function exitCode(listener: RequestListener): Promise<number> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const PORT = String((server.address() as AddressInfo).port);
    try {
      return await new Promise<number>((resolve) => {
        const child = execFile(process.execPath, [join(root, 'docker/healthcheck.mjs')], { env: { PORT } }, () =>
          resolve(child.exitCode ?? -1),
        );
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it('accepts 200 of /health/live', async () => {
    expect(await exitCode((req, res) => res.writeHead(req.url === '/health/live' ? 200 : 404).end())).toBe(0);
  });

  it.each([404, 500, 503, 301])('fails on %i', async (status) => {
    expect(await exitCode((_req, res) => res.writeHead(status, { location: '/health/live' }).end())).toBe(1);
  });

  it('fails on a connection that is dropped', async () => {
    expect(await exitCode((req) => req.socket.destroy())).toBe(1);
  });

  it('fails on a service that accepts and never answers', async () => {
    expect(await exitCode(() => undefined)).toBe(1);
  });
});

describe('docker/compose.yaml', () => {
  const own = ['api', 'worker'] as const;
  const all = ['migrate', 'api', 'worker', 'postgres', 'redis', 'mail'] as const;
  const stateful = ['postgres', 'redis'] as const;
  const service = (name: string): Service => {
    const found = compose.services[name];
    if (!found) throw new Error(`no service ${name}`);
    return found;
  };

  it('fits the schema of the Compose Specification, which refuses a misspelt key', () => {
    expect(schemaProblems(compose)).toEqual([]);
    expect(schemaProblems(load(composeText.replace('depends_on:', 'depend_on:')))).not.toEqual([]);
    expect(schemaProblems(load(composeText.replace('service_healthy', 'healthy')))).not.toEqual([]);
  });

  it('has no finding of the linter, which reports a port open to the world', () => {
    // Off: rules of order, which would part related keys; and build with image, since two services share one image.
    const off = ['service-keys-order', 'services-alphabetical-order', 'top-level-properties-order'];
    const alsoOff = ['service-dependencies-alphabetical-order', 'no-build-and-image'];
    const rules = Object.fromEntries([...off, ...alsoOff].map((name) => [name, 0] as const));
    const directory = mkdtempSync(join(tmpdir(), 'compose-'));
    const findings = (text: string): string[] => {
      // With values in place: the linter does not look behind ${…}.
      writeFileSync(join(directory, 'compose.yaml'), interpolate(text, required));
      const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] });
      return linter.lintFiles([directory], false).flatMap((r) => r.messages.map((m) => m.rule));
    };
    try {
      expect(findings(composeText)).toEqual([]);
      expect(findings(composeText.replace('${PUBLISH_ADDRESS:-127.0.0.1}:', ''))).toEqual([
        'no-unbound-port-interfaces',
      ]);
      expect(findings(composeText.replace('postgres:18.6-trixie', 'postgres'))).toEqual([
        'service-image-require-explicit-tag',
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('names exactly the services that run', () => {
    expect(Object.keys(compose.services).sort()).toEqual([...all].sort());
    expect(composeText).not.toMatch(/^version:/m);
  });

  it.each(Object.keys(required))('refuses to start without %s', (name) => {
    expect(() => load(composeText, { ...required, [name]: '' })).toThrow(`${name}: set it to`);
  });

  it('documents every variable it reads, and gives no secret a value', () => {
    const example = read('docker/.env.example').match(/^\w+=.*$/gm) ?? [];
    const used = new Set([...composeText.matchAll(/\$\{(\w+)/g)].map((m) => m[1] ?? ''));
    expect(example.map((line) => line.replace(/=.*/, '')).sort()).toEqual([...used].sort());
    expect(example.filter((line) => SECRET.test(line.replace(/=.*/, '')) && !line.endsWith('='))).toEqual([]);
  });

  it.each(own)('gives %s only settings that the service knows, enough for production', (name) => {
    const all = stages(dockerfile);
    const image = Object.entries(environmentOf(all, all.at(-1))).filter(([key]) => !key.startsWith('NPM_CONFIG_'));
    const environment = { ...Object.fromEntries(image), ...service(name).environment };
    expect(settings.length).toBeGreaterThan(10);
    expect(Object.keys(environment).filter((key) => !settings.includes(key))).toEqual([]);
    expect(readConfig(environment)).toMatchObject({
      production: true,
      role: name,
      host: '0.0.0.0',
      port: 3000,
      databaseUrl: `postgres://recebe_service:${required['POSTGRES_SERVICE_PASSWORD'] ?? ''}@postgres:5432/recebe`,
      databaseMigrationUrl: undefined,
      redisUrl: `redis://:${required['REDIS_PASSWORD'] ?? ''}@redis:6379`,
    });
  });

  it('documents every setting, and no other', () => {
    const documented = new Set(
      [...read('docs/configuration.md').matchAll(/^\|.*$/gm)]
        .flatMap(([row]) => [...row.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+|ROLE|CLUSTER|PORT|HOST)`/g)])
        .map(([, name = '']) => name),
    );
    expect([...documented].sort()).toEqual([...settings].sort());
  });

  it.each([...own, 'migrate'] as const)('passes every setting without a fixed value to %s', (name) => {
    const handed = settings.filter((setting) => {
      const { services } = load(composeText, { ...required, [setting]: 'from outside' });
      return services[name]?.environment[setting] === 'from outside';
    });
    expect(handed.sort()).toEqual(settings.filter((setting) => !FIXED.includes(setting)).sort());
  });

  it('gives the owner of the database to nobody but the service that migrates and ends', () => {
    const owner = required['POSTGRES_PASSWORD'] ?? '';
    expect(all.filter((name) => JSON.stringify(service(name)).includes(owner))).toEqual(['migrate', 'postgres']);
    const { command, restart, networks, healthcheck, environment, depends_on } = service('migrate');
    expect({ command, restart, networks, healthcheck }).toEqual({
      command: ['recebe', 'migrate'],
      restart: 'on-failure:3',
      networks: ['inside'],
      healthcheck: { disable: true },
    });
    expect(depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(readConfig({ NODE_ENV: 'production', ...environment })).toMatchObject({
      databaseUrl: `postgres://recebe_service:${required['POSTGRES_SERVICE_PASSWORD'] ?? ''}@postgres:5432/recebe`,
      databaseMigrationUrl: `postgres://recebe:${owner}@postgres:5432/recebe`,
    });
  });

  it.each(all)('bounds the log of %s', (name) => {
    expect(service(name).logging).toEqual({ driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } });
  });

  it.each(all)('has no secret among the arguments of a process of %s', (name) => {
    const { command = [], entrypoint = [], healthcheck } = service(name);
    const args = [command, entrypoint, healthcheck?.test ?? []].flat().join(' ');
    expect(Object.entries(required).filter(([key, value]) => SECRET.test(key) && args.includes(value))).toEqual([]);
  });

  itWith('redis')('starts Redis with its password, which its command line does not show', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'compose-'));
    const port = String(await freePort());
    const script = (name: string, text: string): void =>
      writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    script('docker-entrypoint.sh', 'exec "$@"');
    script('valkey-server', `exec ${pathOf('redis')} "$@" --port ${port} --dir ${directory}`);
    const [file = '', ...args] = service('redis').command as string[];
    const { REDISCLI_AUTH = '' } = service('redis').environment;
    const env = { ...process.env, REDISCLI_AUTH, PATH: `${directory}:${process.env['PATH'] ?? ''}` };
    const server = spawn(file, args, { env, stdio: 'ignore' });
    const redis = new Redis({ port: Number(port), password: REDISCLI_AUTH, retryStrategy: () => 50 });
    redis.on('error', () => undefined);
    try {
      await waitFor('the server', () => redis.status === 'ready');
      expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
      expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
      expect(commandOf(server.pid ?? 0)).not.toContain(REDISCLI_AUTH);
      const stranger = new Redis({ port: Number(port), lazyConnect: true, retryStrategy: () => null });
      await expect(stranger.ping()).rejects.toThrow('NOAUTH');
      stranger.disconnect();
    } finally {
      redis.disconnect();
      server.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  });

  itWith('psql')(
    'creates an owner who is no superuser and can still migrate',
    async () => {
      const database = await createEmptyDatabase();
      const { pathname } = new URL(database.ownerUrl);
      const names = { recebe: `owner_${pathname.slice(1)}`, postgres: `admin_${pathname.slice(1)}` };
      const service = `service_${pathname.slice(1)}`;
      const roleUrl = (user: string, password: string): string => {
        const url = new URL(database.ownerUrl);
        [url.username, url.password] = [user, password];
        return url.href;
      };
      const env = { ...process.env, POSTGRES_PASSWORD: required['POSTGRES_PASSWORD'] };
      const roles = read('docker/roles.sql')
        .replaceAll('DATABASE recebe', `DATABASE ${pathname.slice(1)}`)
        .replaceAll(
          /(ROLE|TO) (recebe|postgres)\b/g,
          (_all, word: string, name: 'recebe' | 'postgres') => `${word} ${names[name]}`,
        );
      await database.pool.query(`CREATE ROLE ${names.postgres} LOGIN PASSWORD 'x'`);
      try {
        execFileSync(pathOf('psql'), ['-v', 'ON_ERROR_STOP=1', '-X', '-q', '-f', '-', database.ownerUrl], {
          env,
          input: roles,
        });
        const serviceUrl = roleUrl(service, required['POSTGRES_SERVICE_PASSWORD'] ?? '');
        const { code, stdout } = await runCli(['migrate'], {
          DATABASE_URL: serviceUrl,
          DATABASE_MIGRATION_URL: roleUrl(names.recebe, env.POSTGRES_PASSWORD ?? ''),
        });
        expect(code).toBe(0);
        expect((JSON.parse(stdout) as { applied: string[] }).applied).toHaveLength(MIGRATIONS.length);
        const { rows } = await database.pool.query(
          `SELECT rolname, rolsuper, rolbypassrls, rolpassword IS NULL AS "hasNone" FROM pg_authid
         WHERE rolname = ANY ($1) ORDER BY rolname`,
          [[names.recebe, names.postgres]],
        );
        expect(rows).toEqual([
          { rolname: names.postgres, rolsuper: false, rolbypassrls: false, hasNone: true },
          { rolname: names.recebe, rolsuper: false, rolbypassrls: false, hasNone: false },
        ]);
        expect(await excessivePowers(database.pool, service)).toEqual([]);
        // Processes that start later migrate nothing, and do so without the owner.
        expect(await migrate(serviceUrl, MIGRATIONS, serviceUrl)).toEqual([]);
      } finally {
        await database.pool.query(`DROP OWNED BY ${service}`).catch(() => undefined);
        await database.drop();
      }
    },
    60_000,
  );

  it.each(own)('starts %s after the migrations and the healthy databases', (name) => {
    expect(service(name).depends_on).toEqual({
      migrate: { condition: 'service_completed_successfully' },
      postgres: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    });
  });

  it.each(stateful)('keeps %s pinned, healthy, durable and unpublished', (name) => {
    const { image, healthcheck, ports, volumes } = service(name);
    expect(image).toMatch(/:\d+[\d.]*-[a-z]+$/);
    expect(healthcheck).toBeDefined();
    expect(ports).toBeUndefined();
    expect(Object.keys(compose.volumes)).toContain(volumes?.[0]?.split(':')[0]);
  });

  it.each(all)('gives %s no right and no space that it does not need', (name) => {
    const { cap_drop, read_only, security_opt } = service(name);
    expect({ cap_drop, read_only, security_opt }).toEqual({
      cap_drop: ['ALL'],
      read_only: true,
      security_opt: ['no-new-privileges:true'],
    });
  });

  it.each(all)('bounds the memory and the processes of %s', (name) => {
    expect(service(name).mem_limit).toMatch(/^\d+[gm]$/);
    expect(service(name).pids_limit).toBeGreaterThan(50);
  });

  it('mounts PostgreSQL 18 where its image keeps the data', () => {
    expect(service('postgres').volumes).toEqual([
      'postgres:/var/lib/postgresql',
      './roles.sql:/docker-entrypoint-initdb.d/roles.sql:ro',
    ]);
  });

  it.each(own)(
    'sends the mail of %s to the named server, and to the pinned catcher only in the mail profile',
    (name) => {
      expect(readConfig(service(name).environment).mail.smtpUrl).toBe('smtps://u:p@mail.example');
      expect(service('mail').image).toMatch(/:v\d+\.\d+\.\d+$/);
      expect(service('mail').profiles).toEqual(['mail']);
    },
  );

  it('publishes the API and the caught mail on loopback by default', () => {
    expect(service('api').ports).toEqual(['127.0.0.1:3000:3000']);
    expect(service('mail').ports).toEqual(['127.0.0.1:8025:8025']);
    expect(service('worker').ports).toBeUndefined();
  });
});
