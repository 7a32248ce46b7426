import { AccountsService, type Role, type SettingName, SETTINGS, UsersService } from '../accounts/index.js';
import { ApiKeysService } from '../api-keys/index.js';
import { CLI } from '../audit/index.js';
import { isDay, saoPauloDay } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { ReconciliationService } from '../reconciliation/index.js';
import { type FigureDifference, FiguresService } from '../transactions/index.js';
import { ACQUIRER_COMMANDS } from './acquirer-commands.js';
import { accountIdOf, accountOption, type Command, need, TEXT, UsageError } from './command.js';
import { exitCodeOf, failuresOf, reconciliationBody, summaryOf } from './reconciliation.js';

const ROLES: readonly string[] = ['OWNER', 'ADMIN', 'MEMBER'];

/** @throws UsageError for what is no day of the calendar, and for one that has not begun: of it everything would agree */
function dayOf(text: string, now: Date): string {
  if (!isDay(text)) throw new UsageError('--day must be a day: YYYY-MM-DD.');
  const today = saoPauloDay(now);
  if (text > today) throw new UsageError(`--day ${text} is in the future: in São Paulo it is ${today}.`);
  return text;
}

function differenceLine(difference: FigureDifference): Record<string, unknown> {
  const { accountId, mode, kind, bucket, currency, key, count, amount, actualCount, actualAmount } = difference;
  return {
    account_id: accountId,
    mode,
    kind,
    from: bucket.toISOString(),
    currency,
    key,
    kept: { count, amount },
    actual: { count: actualCount, amount: actualAmount },
  };
}

/** Decisions §1, row CLI. Names and shapes are fixed: scripts rely on them. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  'account create': {
    usage: 'account create --name N --email E --password P [--fee-bps n] [--fee-fixed n] [--release-days n]',
    options: { name: TEXT, email: TEXT, password: TEXT, 'fee-bps': TEXT, 'fee-fixed': TEXT, 'release-days': TEXT },
    async run(app, values) {
      const [name = '', email = '', password = ''] = need(values, 'name', 'email', 'password');
      const settings = Object.fromEntries(
        ['fee-bps', 'fee-fixed', 'release-days']
          .filter((key) => typeof values[key] === 'string')
          .map((key) => [key, values[key] as string]),
      );
      const { accountId, userId } = await app.get(AccountsService).create({ name, email, password, settings }, CLI);
      return { account_id: accountId, user_id: userId };
    },
  },
  'account set': {
    usage: `account set <account_id> key=value …   (${Object.keys(SETTINGS).join(', ')})`,
    options: {},
    async run(app, _values, positionals) {
      const accountId = accountIdOf(positionals);
      const pairs = positionals.slice(1).map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) throw new UsageError(`"${pair}" is not of the form key=value.`);
        return [pair.slice(0, at), pair.slice(at + 1)] as const;
      });
      if (pairs.length === 0) throw new UsageError('Nothing to set: give at least one key=value.');
      const accounts = app.get(AccountsService);
      await accounts.set(accountId, Object.fromEntries(pairs), CLI);
      const account = await accounts.details(accountId);
      return {
        account_id: account.id,
        name: account.name,
        contact_email: account.contactEmail,
        city: account.city,
        fee_bps: account.feeBps,
        fee_fixed: account.feeFixed,
        pix_out_fee: account.pixOutFee,
        release_days: account.releaseDays,
        payer_lock: account.payerLock,
        default_expires_in: account.defaultExpiresIn,
        med_outcome_notifications: account.medOutcomeNotifications,
        fraud_mode: account.fraudMode,
        fraud_velocity: account.fraudVelocity,
        fraud_max_amount: account.fraudMaxAmount,
        fraud_blocked_documents: account.fraudBlockedDocuments,
      } satisfies Record<'account_id' | SettingName, unknown>; // a setting that is forgotten here does not compile
    },
  },
  'member add': {
    usage: 'member add <account_id> --email E --password P --role OWNER|ADMIN|MEMBER',
    options: { email: TEXT, password: TEXT, role: TEXT },
    async run(app, values, positionals) {
      const accountId = accountIdOf(positionals);
      const [email = '', password = '', role = ''] = need(values, 'email', 'password', 'role');
      if (!ROLES.includes(role)) throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`);
      const input = { email, password, role: role as Role };
      const { userId } = await app.get(AccountsService).addMember(accountId, input, CLI);
      return { account_id: accountId, user_id: userId, role };
    },
  },
  'operator create': {
    usage: 'operator create --email E --password P',
    options: { email: TEXT, password: TEXT },
    async run(app, values) {
      const [email = '', password = ''] = need(values, 'email', 'password');
      const { userId } = await app.get(UsersService).createOperator({ email, password }, CLI);
      return { user_id: userId };
    },
  },
  'operator remove': {
    usage: 'operator remove --email E   (ends their logins)',
    options: { email: TEXT },
    async run(app, values) {
      const [email = ''] = need(values, 'email');
      const { userId } = await app.get(UsersService).removeOperator(email, CLI);
      return { user_id: userId, removed: true };
    },
  },
  'user password': {
    usage: 'user password --email E --password P   (for members and operators; ends their logins)',
    options: { email: TEXT, password: TEXT },
    async run(app, values) {
      const [email = '', password = ''] = need(values, 'email', 'password');
      const { userId } = await app.get(UsersService).changePassword({ email, password }, CLI);
      return { user_id: userId };
    },
  },
  'figures check': {
    usage: 'figures check [--account A]   (statistics against the transactions; exit code 1 when they differ)',
    options: { account: TEXT },
    async run(app, values) {
      const differences = await app.get(FiguresService).check(accountOption(values));
      if (differences.length > 0) process.exitCode = 1;
      return { differences: differences.map(differenceLine) };
    },
  },
  'figures rebuild': {
    usage: 'figures rebuild [--account A]   (makes the statistics anew from the transactions; prints what was wrong)',
    options: { account: TEXT },
    async run(app, values) {
      const differences = await app.get(FiguresService).rebuild(accountOption(values));
      return { rebuilt: true, differences: differences.map(differenceLine) };
    },
  },
  reconcile: {
    usage:
      "reconcile --account A --day YYYY-MM-DD   (the acquirer's list of a day in São Paulo against our books;\n" +
      '    exit code 1 when they differ, 3 when they do not but a list could not be read)',
    options: { account: TEXT, day: TEXT },
    async run(app, values) {
      const [account = '', day = ''] = need(values, 'account', 'day');
      const accountId = accountIdOf([account]);
      const result = await app.get(ReconciliationService).compare(accountId, dayOf(day, app.get(Clock).now()));
      const lines = [...summaryOf(day, result), ...failuresOf(day, result)];
      // Beside the JSON, for people: what is wrong, and nothing when nothing is.
      if (lines.length > 0) process.stderr.write(`${lines.join('\n')}\n`);
      process.exitCode = exitCodeOf(result);
      return { account_id: accountId, day, ...reconciliationBody(result) };
    },
  },
  'key issue': {
    usage: 'key issue <account_id> [--test] [--label L]',
    options: { test: { type: 'boolean' }, label: TEXT },
    run(app, values, positionals) {
      const options = {
        mode: values['test'] === true ? ('test' as const) : ('live' as const),
        label: typeof values['label'] === 'string' ? values['label'] : null,
      };
      return app.get(ApiKeysService).issue(accountIdOf(positionals), options, CLI);
    },
  },
  ...ACQUIRER_COMMANDS,
};
