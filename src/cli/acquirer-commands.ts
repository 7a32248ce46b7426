import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CLI } from '../audit/index.js';
import {
  callbackUrlHint,
  type Configuration,
  FEE_OPERATIONS,
  type FeeSchedule,
  findProfile,
  type LiveConnection,
  LiveAcquirersService,
} from '../acquirers/index.js';
import { isDay } from '../brazil/index.js';
import { accountId, cents, connectionId, pairs, required, UsageError } from './command.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

const FILES = {
  clientSecretFile: '--client-secret-file',
  pfx: '--pfx',
  cert: '--cert',
  keyFile: '--key-file',
  passphraseFile: '--passphrase-file',
  ca: '--ca',
} as const;
type Files<T> = { -readonly [K in keyof typeof FILES]?: T };

interface Options extends Readonly<Files<string>> {
  readonly account: string;
  readonly psp: string;
  readonly key: string;
  readonly clientId: string;
  readonly baseUrl?: string;
  readonly tokenUrl?: string;
  readonly homologation?: true;
  readonly set?: Record<string, string>;
}

/** The files that were named. @throws UsageError naming all that cannot be read */
function readFiles(paths: Readonly<Files<string>>): Files<Buffer> {
  const problems: string[] = [];
  const files: Files<Buffer> = {};
  for (const name of Object.keys(FILES) as (keyof typeof FILES)[]) {
    const path = paths[name];
    if (path === undefined) continue;
    try {
      files[name] = readFileSync(path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      problems.push(`${FILES[name]}: ${path} cannot be read (${code})`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return files;
}

/** A secret from a file, without the byte-order mark and the line break that editors add. */
function secretOf(file: Buffer | undefined): string | null {
  return file === undefined ? null : file.toString('utf8').replace(/^\ufeff|\r?\n$/g, '');
}

/** @throws UsageError when the addresses of the PSP's homologation are requested but unknown */
function addressesOf({ psp, baseUrl, tokenUrl, homologation }: Options): Pick<Configuration, 'baseUrl' | 'tokenUrl'> {
  const profile = homologation && findProfile(psp);
  const addresses = {
    baseUrl: baseUrl ?? profile?.baseUrl.homologation.value ?? null,
    tokenUrl: tokenUrl ?? profile?.tokenUrl.homologation.value ?? null,
  };
  if (homologation && (addresses.baseUrl === null || addresses.tokenUrl === null)) {
    throw new UsageError(
      `The addresses of the homologation of "${psp}" are not all known: name them with --base-url and --token-url.`,
    );
  }
  return addresses;
}

function configurationOf(options: Options, shell: Shell): Configuration {
  const files = readFiles(options);
  return {
    accountId: options.account,
    psp: options.psp,
    pixKey: options.key,
    clientId: options.clientId,
    clientSecret: secretOf(files.clientSecretFile) ?? shell.env['RECEBE_CLIENT_SECRET'] ?? null,
    certificate: {
      pfx: files.pfx ?? null,
      cert: files.cert ?? null,
      key: files.keyFile ?? null,
      passphrase: secretOf(files.passphraseFile),
    },
    ca: files.ca?.toString('utf8') ?? null,
    ...addressesOf(options),
    variables: options.set ?? {},
  };
}

function connectionLine(connection: LiveConnection): Record<string, unknown> {
  const { id, accountId, profile, pixKey, live, version, baseUrl, certificate, webhookRegisteredAt } = connection;
  return {
    connection_id: id,
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

function feeLine({ operation, validFrom, bps, fixed, minimum, maximum }: FeeSchedule): Record<string, unknown> {
  return { operation, valid_from: validFrom, bps, fixed, minimum, maximum };
}

/** @throws InvalidArgumentError */
function day(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('It must be a day: YYYY-MM-DD.');
  return text;
}

/** @throws InvalidArgumentError */
function basisPoints(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 10_000) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 0 to 10000: 99 is 0.99 %.');
}

interface FeeOptions extends Pick<FeeSchedule, 'operation' | 'minimum'> {
  readonly account: string;
  readonly bps?: number;
  readonly fixed?: number;
  readonly connection?: string;
  readonly from: string;
  readonly maximum?: number;
}

function feeCommands(group: Command, shell: Shell): void {
  const fees = group.command('fees').description('what a PSP charges, which API Pix does not tell');
  fees
    .command('set')
    .description('have fees of an operation entered so from a day in São Paulo on')
    .addOption(required('--account <account_id>', 'whose').argParser(accountId))
    .option('--connection <id>', 'which, as `acquirer list` prints it; where the account has several', connectionId)
    .addOption(
      required(
        '--operation <name>',
        'PIX: one that comes in; devolution: one that goes back; payout: one that is sent',
      ).choices(FEE_OPERATIONS),
    )
    .addOption(required('--from <day>', 'YYYY-MM-DD; the first one from today, others from tomorrow').argParser(day))
    .addOption(new Option('--bps <number>', 'basis points of the amount; this or --fixed').argParser(basisPoints))
    .addOption(new Option('--fixed <cents>', 'on top').argParser(cents))
    .addOption(new Option('--minimum <cents>', 'at least').argParser(cents).default(0))
    .option('--maximum <cents>', 'at most', cents)
    .action(async ({ account, connection, from, bps, fixed, maximum, ...rest }: FeeOptions) => {
      if (bps === undefined && fixed === undefined) {
        throw new UsageError('Name the price with --bps, --fixed or both; --fixed 0 for none.');
      }
      if (maximum !== undefined && maximum < rest.minimum) throw new UsageError('--maximum is less than --minimum.');
      const fee = { ...rest, bps: bps ?? 0, fixed: fixed ?? 0, validFrom: from, maximum: maximum ?? null };
      await run(shell, async ({ app }) => {
        const { id, psp } = await app.get(LiveAcquirersService).setFee(account, connection ?? null, fee, CLI);
        return { id, account_id: account, psp, ...feeLine(fee) };
      });
    });
  fees
    .command('list')
    .description('of each connection; of two of one operation and day the later one holds')
    .option('--account <account_id>', 'of one account only', accountId)
    .action(async ({ account }: { account?: string }) => {
      await run(shell, async ({ app }) => {
        const connections = await app.get(LiveAcquirersService).list(account ?? null);
        return {
          connections: connections.map(({ id, accountId, profile, pixKey, fees }) => ({
            ...{ id, account_id: accountId, psp: profile, key: pixKey, fees: fees.map(feeLine) },
          })),
        };
      });
    });
}

const MARKS = new Map<boolean | 'warning' | 'skipped', string>([
  [true, 'ok'],
  ['warning', 'WARNING'],
  [false, 'FAILED'],
  ['skipped', 'skipped'],
]);

/** An account's live acquirer. Secrets come from files or the environment: arguments are seen by everybody on the machine. */
export function acquirerCommands(program: Command, shell: Shell): void {
  const group = program.command('acquirer').description("an account's connection to its PSP, for live charges");
  group
    .command('configure')
    .description('send live charges of the account to a PSP from now on, or renew what it is reached with')
    .addOption(required('--account <account_id>', 'whose').argParser(accountId))
    .addOption(required('--psp <name>', 'efi, bb, itau, sicredi, sicoob, bradesco, inter, santander or standard'))
    .addOption(required('--key <pix_key>', 'the Pix key that receives'))
    .addOption(required('--client-id <id>', 'as the PSP has given it'))
    .option('--client-secret-file <file>', 'or the secret itself in RECEBE_CLIENT_SECRET')
    .option('--pfx <file>', 'certificate and key in one file')
    .option('--cert <file>', 'or the certificate, alone or in a bundle (PEM or DER)')
    .option('--key-file <file>', 'and its key (PEM or DER)')
    .option('--passphrase-file <file>', 'of the PFX')
    .option('--ca <file>', 'an authority that is not publicly trusted')
    .option('--homologation', "the PSP's test environment, where its addresses are known")
    .option('--base-url <url>', 'for `standard`, or in place of the address that is known')
    .option('--token-url <url>', 'the same for tokens')
    .option('--set <name=value>', 'what this PSP needs besides; may be repeated', pairs)
    .action(async (options: Options) => {
      const input = configurationOf(options, shell);
      await run(shell, async ({ app, baseUrl }) => {
        const configured = await app.get(LiveAcquirersService).configure(input, CLI);
        const { certificate } = configured;
        return {
          connection_id: configured.id,
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
          callback_url: baseUrl && callbackUrlHint(baseUrl, configured.id),
          next: `npm run --silent cli -- acquirer check --account ${input.accountId} --register-webhook`,
        };
      });
    });
  group
    .command('check')
    .description(
      'try it out, with a charge that is taken back, and call the address for callbacks; where the PSP can send ' +
        'money, whether this client may; steps on stderr as they happen; exit code 1 when one fails',
    )
    .addOption(required('--account <account_id>', 'whose').argParser(accountId))
    .option('--register-webhook', 'have the PSP call back here, where it calls nobody yet')
    .option('--replace-webhook', 'and also in place of another address')
    .action(async (options: { account: string; registerWebhook?: true; replaceWebhook?: true }) => {
      const { account, registerWebhook, replaceWebhook } = options;
      const registration = replaceWebhook ? 'replace' : registerWebhook ? 'missing' : 'never';
      await run(shell, async ({ app, baseUrl }) => {
        const steps: Record<string, unknown>[] = [];
        for await (const finding of app.get(LiveAcquirersService).check(account, { baseUrl, registration })) {
          const { step, ok, detail, remedy } = finding;
          shell.stderr.write(
            `${MARKS.get(ok)?.padEnd(8)} ${step}: ${detail}\n${remedy === null ? '' : `         ${remedy}\n`}`,
          );
          steps.push({ step, ok, detail, remedy });
        }
        const passed = steps.every(({ ok }) => ok === true || ok === 'warning');
        if (!passed) shell.exitCode = 1;
        return { account_id: account, passed, steps };
      });
    });
  group
    .command('disconnect')
    .description('no new live charges; what was made is settled and refunded as before')
    .addOption(required('--account <account_id>', 'whose').argParser(accountId))
    .action(async ({ account }: { account: string }) => {
      await run(shell, async ({ app }) => {
        const { id, acquirer, psp, pixKey } = await app.get(LiveAcquirersService).disconnect(account, CLI);
        return { connection_id: id, account_id: account, acquirer, psp, key: pixKey, disconnected: true };
      });
    });
  group
    .command('rotate-callback')
    .description(
      'another secret for the address that the PSP calls; the one before works until the new one is registered',
    )
    .addOption(required('--account <account_id>', 'whose').argParser(accountId))
    .action(async ({ account }: { account: string }) => {
      await run(shell, async ({ app, baseUrl }) => {
        const { id, psp, pixKey } = await app.get(LiveAcquirersService).rotateCallback(account, CLI);
        return {
          connection_id: id,
          account_id: account,
          psp,
          key: pixKey,
          callback_url: baseUrl && callbackUrlHint(baseUrl, id),
          next: `npm run --silent cli -- acquirer check --account ${account} --replace-webhook`,
        };
      });
    });
  group
    .command('list')
    .description('connections to PSPs, without their secrets')
    .option('--account <account_id>', 'of one account only', accountId)
    .action(async ({ account }: { account?: string }) => {
      await run(shell, async ({ app }) => {
        const connections = await app.get(LiveAcquirersService).list(account ?? null);
        return { connections: connections.map(connectionLine) };
      });
    });
  feeCommands(group, shell);
}
