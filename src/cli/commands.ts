import type { ParseArgsConfig } from 'node:util';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccountsService, type Role } from '../accounts/index.js';
import { ApiKeysService } from '../api-keys/index.js';

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Values = Record<string, unknown>;

interface Command {
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  run(app: NestFastifyApplication, values: Values, positionals: string[]): Promise<unknown>;
}

const TEXT = { type: 'string' } as const;
const ROLES: readonly string[] = ['OWNER', 'ADMIN', 'MEMBER'];

function need(values: Values, ...names: string[]): string[] {
  const missing = names.filter((name) => typeof values[name] !== 'string');
  if (missing.length > 0) throw new UsageError(`Missing ${missing.map((name) => `--${name}`).join(', ')}.`);
  return names.map((name) => values[name] as string);
}

function accountIdOf(positionals: string[]): string {
  const [id = ''] = positionals;
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) {
    throw new UsageError('Name the account by its id, as `account create` printed it.');
  }
  return id;
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
      const { accountId, userId } = await app.get(AccountsService).create({ name, email, password, settings });
      return { account_id: accountId, user_id: userId };
    },
  },
  'account set': {
    usage:
      'account set <account_id> key=value …   (name, contact_email, city, fee_bps, fee_fixed, release_days, payer_lock, default_expires_in)',
    options: {},
    async run(app, _values, positionals) {
      const accountId = accountIdOf(positionals);
      const pairs = positionals.slice(1).map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) throw new UsageError(`"${pair}" is not of the form key=value.`);
        return [pair.slice(0, at), pair.slice(at + 1)] as const;
      });
      if (pairs.length === 0) throw new UsageError('Nothing to set: give at least one key=value.');
      const account = await app.get(AccountsService).set(accountId, Object.fromEntries(pairs));
      return {
        account_id: account.id,
        name: account.name,
        contact_email: account.contactEmail,
        city: account.city,
        fee_bps: account.feeBps,
        fee_fixed: account.feeFixed,
        release_days: account.releaseDays,
        payer_lock: account.payerLock,
        default_expires_in: account.defaultExpiresIn,
      };
    },
  },
  'member add': {
    usage: 'member add <account_id> --email E --password P --role OWNER|ADMIN|MEMBER',
    options: { email: TEXT, password: TEXT, role: TEXT },
    async run(app, values, positionals) {
      const accountId = accountIdOf(positionals);
      const [email = '', password = '', role = ''] = need(values, 'email', 'password', 'role');
      if (!ROLES.includes(role)) throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`);
      const { userId } = await app.get(AccountsService).addMember(accountId, { email, password, role: role as Role });
      return { account_id: accountId, user_id: userId, role };
    },
  },
  'operator create': {
    usage: 'operator create --email E --password P',
    options: { email: TEXT, password: TEXT },
    async run(app, values) {
      const [email = '', password = ''] = need(values, 'email', 'password');
      const { userId } = await app.get(AccountsService).createOperator({ email, password });
      return { user_id: userId };
    },
  },
  'key issue': {
    usage: 'key issue <account_id> [--test] [--label L]',
    options: { test: { type: 'boolean' }, label: TEXT },
    run(app, values, positionals) {
      return app.get(ApiKeysService).issue(accountIdOf(positionals), {
        mode: values['test'] === true ? 'test' : 'live',
        label: typeof values['label'] === 'string' ? values['label'] : null,
      });
    },
  },
};
