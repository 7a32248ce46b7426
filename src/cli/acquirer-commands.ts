import { readFileSync } from 'node:fs';
import { CLI } from '../audit/index.js';
import { type Configuration, type LiveConnection, LiveAcquirersService } from '../live-acquirers/index.js';
import { accountIdOf, accountOption, type Command, need, TEXT, UsageError, type Values } from './command.js';

const FILES = ['client-secret-file', 'pfx', 'cert', 'key-file', 'passphrase-file', 'ca'] as const;

/** The files that were named. @throws UsageError naming all that cannot be read */
function readFiles(values: Values): Partial<Record<(typeof FILES)[number], Buffer>> {
  const problems: string[] = [];
  const files: Partial<Record<(typeof FILES)[number], Buffer>> = {};
  for (const name of FILES) {
    const path = values[name];
    if (typeof path !== 'string') continue;
    try {
      files[name] = readFileSync(path);
    } catch (error) {
      problems.push(`--${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return files;
}

/** A secret from a file, without the line break that editors put behind it. */
function secretOf(file: Buffer | undefined): string | null {
  return file === undefined ? null : file.toString('utf8').replace(/\r?\n$/, '');
}

/** `name=value …` of `--set`. */
function pairsOf(pairs: unknown): Record<string, string> {
  const texts = Array.isArray(pairs) ? (pairs as string[]) : [];
  return Object.fromEntries(
    texts.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError('--set takes name=value.');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function configurationOf(values: Values): Configuration {
  const [account = '', psp = '', pixKey = '', clientId = ''] = need(values, 'account', 'psp', 'key', 'client-id');
  const files = readFiles(values);
  return {
    accountId: accountIdOf([account]),
    psp,
    pixKey,
    clientId,
    clientSecret: secretOf(files['client-secret-file']) ?? process.env['RECEBE_CLIENT_SECRET'] ?? null,
    certificate: {
      pfx: files.pfx ?? null,
      cert: files.cert ?? null,
      key: files['key-file'] ?? null,
      passphrase: secretOf(files['passphrase-file']),
    },
    ca: files.ca?.toString('utf8') ?? null,
    baseUrl: textOf(values['base-url']),
    tokenUrl: textOf(values['token-url']),
    variables: pairsOf(values['set']),
  };
}

function connectionLine(connection: LiveConnection): Record<string, unknown> {
  const { id, accountId, profile, pixKey, live, version, baseUrl, certificate, webhookRegisteredAt } = connection;
  return {
    id,
    account_id: accountId,
    psp: profile,
    key: pixKey,
    live,
    base_url: baseUrl,
    certificate_expires_at: certificate?.expiresAt.toISOString() ?? null,
    webhook_registered_at: webhookRegisteredAt?.toISOString() ?? null,
    version,
    updated_at: connection.updatedAt.toISOString(),
  };
}

const MARKS = new Map<boolean | 'warning', string>([
  [true, 'ok'],
  ['warning', 'WARNING'],
  [false, 'FAILED'],
]);

/** An account's live acquirer. Secrets come from files or the environment: arguments are seen by everybody on the machine. */
export const ACQUIRER_COMMANDS: Readonly<Record<string, Command>> = {
  'acquirer configure': {
    usage:
      'acquirer configure --account A --psp P --key K --client-id I [--client-secret-file F] [--pfx F | --cert F --key-file F]\n' +
      '    [--passphrase-file F] [--ca F] [--base-url U] [--token-url U] [--set name=value …]\n' +
      '    (live charges of the account go there from now on; the secret may be in RECEBE_CLIENT_SECRET instead)',
    options: {
      account: TEXT,
      psp: TEXT,
      key: TEXT,
      'client-id': TEXT,
      'client-secret-file': TEXT,
      pfx: TEXT,
      cert: TEXT,
      'key-file': TEXT,
      'passphrase-file': TEXT,
      ca: TEXT,
      'base-url': TEXT,
      'token-url': TEXT,
      set: { type: 'string', multiple: true },
    },
    async run(app, values) {
      const input = configurationOf(values);
      const configured = await app.get(LiveAcquirersService).configure(input, CLI);
      const { certificate } = configured;
      return {
        id: configured.id,
        account_id: input.accountId,
        acquirer: configured.acquirer,
        psp: configured.psp,
        key: configured.pixKey,
        renewed: configured.renewed,
        replaced: configured.replaced,
        certificate: certificate && {
          subject: certificate.subject,
          expires_at: certificate.expiresAt.toISOString(),
        },
        callback_url: configured.callbackUrlHint,
        next: `npm run --silent cli -- acquirer check --account ${input.accountId} --register-webhook`,
      };
    },
  },
  'acquirer check': {
    usage:
      'acquirer check --account A [--register-webhook]\n' +
      '    (tries it out with a charge that is taken back; steps on stderr as they happen; exit code 1 when one fails)',
    options: { account: TEXT, 'register-webhook': { type: 'boolean' } },
    async run(app, values) {
      const [account = ''] = need(values, 'account');
      const accountId = accountIdOf([account]);
      const steps: Record<string, unknown>[] = [];
      const registerWebhook = values['register-webhook'] === true;
      for await (const finding of app.get(LiveAcquirersService).check(accountId, { registerWebhook })) {
        const { step, ok, detail, remedy } = finding;
        process.stderr.write(
          `${MARKS.get(ok)?.padEnd(8)} ${step}: ${detail}\n${remedy === null ? '' : `         ${remedy}\n`}`,
        );
        steps.push({ step, ok, detail, remedy });
      }
      const passed = steps.every(({ ok }) => ok !== false);
      if (!passed) process.exitCode = 1;
      return { account_id: accountId, passed, steps };
    },
  },
  'acquirer disconnect': {
    usage: 'acquirer disconnect --account A   (no new live charges; what was made is settled and refunded as before)',
    options: { account: TEXT },
    async run(app, values) {
      const [account = ''] = need(values, 'account');
      const accountId = accountIdOf([account]);
      const { id, acquirer, psp, pixKey } = await app.get(LiveAcquirersService).disconnect(accountId, CLI);
      return { id, account_id: accountId, acquirer, psp, key: pixKey, disconnected: true };
    },
  },
  'acquirer list': {
    usage: 'acquirer list [--account A]   (connections to PSPs, without their secrets)',
    options: { account: TEXT },
    async run(app, values) {
      const connections = await app.get(LiveAcquirersService).list(accountOption(values));
      return { connections: connections.map(connectionLine) };
    },
  },
};
