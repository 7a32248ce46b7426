import { Argument, type Command } from 'commander';
import {
  type AccountEntity,
  AccountsService,
  type InvitationEntity,
  type Member,
  MembersService,
  PasswordChanges,
  type Role,
  SecondFactor,
  SETTINGS,
  settingsBody,
  UsersService,
} from '../accounts/index.js';
import { type ApiKey, apiKeyDetails, ApiKeysService } from '../api-keys/index.js';
import { CLI } from '../audit/index.js';
import { accountArgument, instant, pairs, required, uuid } from './command.js';
import { customerCommands } from './customer-commands.js';
import { readPassword, takesPassword } from './passwords.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

const ROLES: readonly Role[] = ['OWNER', 'ADMIN', 'MEMBER'];
const PAGE = 100;

interface Login {
  readonly email: string;
  readonly passwordFile?: string;
}

function accountLine(account: AccountEntity): Record<string, unknown> {
  return { account_id: account.id, ...settingsBody(account) };
}

function invitationLine(invitation: InvitationEntity): Record<string, unknown> {
  return {
    invitation_id: invitation.id,
    email: invitation.email,
    name: invitation.name,
    role: invitation.role,
    status: 'invited',
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  };
}

function memberLine(member: Member): Record<string, unknown> {
  return {
    user_id: member.userId,
    email: member.email,
    name: member.name,
    role: member.role,
    status: 'active',
    created_at: member.createdAt.toISOString(),
  };
}

/** All fields of GET /v1/api-keys/{id}, with the contract's names. */
function keyLine(key: ApiKey): Record<string, unknown> {
  const { id, createdAt, ...details } = apiKeyDetails(key);
  return { key_id: id, ...details, created_at: createdAt };
}

async function allAccounts(accounts: AccountsService): Promise<AccountEntity[]> {
  const all: AccountEntity[] = [];
  for (;;) {
    const before = all.at(-1)?.id ?? null;
    const page = await accounts.list({ before, createdFrom: null, createdTo: null, limit: PAGE, query: null });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

export function accountCommands(program: Command, shell: Shell): void {
  const group = program.command('account').description('merchants and their settings');
  takesPassword(
    group
      .command('create')
      .description('make an account; its owner is invited')
      .addOption(required('--name <name>', 'of the merchant, which payers see'))
      .addOption(required('--email <email>', "the owner's, who logs in with it"))
      .option('--fee-bps <n>', "the service's fee in basis points")
      .option('--fee-fixed <n>', 'and in cents')
      .option('--release-days <n>', 'calendar days until money is spendable'),
  ).action(async (options: Login & { name: string; feeBps?: string; feeFixed?: string; releaseDays?: string }) => {
    const { name, email, feeBps: fee_bps, feeFixed: fee_fixed, releaseDays: release_days } = options;
    const given = Object.entries({ fee_bps, fee_fixed, release_days });
    const settings = Object.fromEntries(given.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
    const password =
      options.passwordFile === undefined ? {} : { password: await readPassword(options.passwordFile, shell) };
    await run(shell, async ({ app }) => {
      const made = await app.get(AccountsService).create({ name, email, settings, ...password }, CLI);
      return { account_id: made.accountId, user_id: made.userId, ...(made.userId === null ? { invited: email } : {}) };
    });
  });
  group
    .command('set')
    .description('change settings')
    .addArgument(accountArgument())
    .addArgument(new Argument('<key=value...>', Object.keys(SETTINGS).join(', ')).argParser(pairs))
    .action(async (accountId: string, settings: Record<string, string>) => {
      await run(shell, async ({ app }) => {
        const accounts = app.get(AccountsService);
        await accounts.set(accountId, settings, CLI);
        return accountLine(await accounts.details(accountId));
      });
    });
  group
    .command('list')
    .description('all accounts with their settings, newest first')
    .action(async () => {
      await run(shell, async ({ app }) => ({
        accounts: (await allAccounts(app.get(AccountsService))).map(accountLine),
      }));
    });
  customerCommands(group, shell);
}

export function memberCommands(program: Command, shell: Shell): void {
  const group = program.command('member').description('people of an account');
  takesPassword(
    group
      .command('add')
      .description('add somebody who can log in at once')
      .addArgument(accountArgument())
      .addOption(required('--email <email>', 'with which they log in'))
      .addOption(required('--role <role>', 'what they may').choices(ROLES)),
  ).action(async (accountId: string, { email, passwordFile, role }: Login & { role: Role }) => {
    const password = await readPassword(passwordFile, shell);
    await run(shell, async ({ app }) => {
      const { userId } = await app.get(AccountsService).addMember(accountId, { email, password, role }, CLI);
      return { account_id: accountId, user_id: userId, role };
    });
  });
  group
    .command('list')
    .description('the members of an account')
    .addArgument(accountArgument())
    .action(async (accountId: string) => {
      await run(shell, async ({ app }) => {
        await app.get(AccountsService).get(accountId);
        const members = await app.get(MembersService).list(accountId);
        const invitations = await app.get(MembersService).invitations(accountId);
        return {
          account_id: accountId,
          members: [...members.map(memberLine), ...invitations.map(invitationLine)],
        };
      });
    });
}

export function operatorCommands(program: Command, shell: Shell): void {
  const group = program.command('operator').description('staff of the platform');
  takesPassword(
    group
      .command('create')
      .description('make an operator')
      .addOption(required('--email <email>', 'with which they log in')),
  ).action(async ({ email, passwordFile }: Login) => {
    const password = await readPassword(passwordFile, shell);
    await run(shell, async ({ app }) => {
      const { userId } = await app.get(UsersService).createOperator({ email, password }, CLI);
      return { user_id: userId };
    });
  });
  group
    .command('remove')
    .description("end an operator's access and logins")
    .addOption(required('--email <email>', "the operator's"))
    .action(async ({ email }: Login) => {
      await run(shell, async ({ app }) => {
        const { userId } = await app.get(UsersService).removeOperator(email, CLI);
        return { user_id: userId, removed: true };
      });
    });
}

export function userCommands(program: Command, shell: Shell): void {
  const group = program.command('user').description('members and operators alike');
  takesPassword(
    group
      .command('password')
      .description('give somebody a new password, which ends their logins')
      .addOption(required('--email <email>', 'with which they log in')),
  ).action(async ({ email, passwordFile }: Login) => {
    const password = await readPassword(passwordFile, shell);
    await run(shell, async ({ app }) => {
      const { userId } = await app.get(PasswordChanges).change({ email, password }, CLI);
      return { user_id: userId };
    });
  });
  group
    .command('reset-totp')
    .description('remove the second factor of somebody who has lost it, which ends their logins')
    .addOption(required('--email <email>', 'with which they log in'))
    .action(async ({ email }: Login) => {
      await run(shell, async ({ app }) => {
        const { userId } = await app.get(SecondFactor).reset(email, CLI);
        return { user_id: userId, totp: false };
      });
    });
}

export function keyCommands(program: Command, shell: Shell): void {
  const group = program.command('key').description('API keys');
  group
    .command('issue')
    .description('issue an API key, which is shown this once, as POST /v1/api-keys answers with it')
    .addArgument(accountArgument())
    .option('--test', 'one for the sandbox')
    .option('--label <label>', 'by which people know it')
    .option('--expires-at <date>', 'when it ends by itself: a day in São Paulo, or an instant with its zone', instant)
    .option('--allow-ip <network...>', 'addresses and networks (CIDR) that it works from')
    .action(
      async (accountId: string, options: { test?: true; label?: string; expiresAt?: Date; allowIp?: string[] }) => {
        const { test, label = null, expiresAt = null, allowIp: allowedIps = [] } = options;
        const mode = test ? 'test' : 'live';
        await run(shell, ({ app }) =>
          app.get(ApiKeysService).issue(accountId, { mode, label, expiresAt, allowedIps }, CLI),
        );
      },
    );
  group
    .command('list')
    .description('the keys of an account that work, newest first')
    .addArgument(accountArgument())
    .action(async (accountId: string) => {
      await run(shell, async ({ app }) => {
        await app.get(AccountsService).get(accountId);
        return { account_id: accountId, keys: (await app.get(ApiKeysService).list(accountId)).map(keyLine) };
      });
    });
  group
    .command('revoke')
    .description('end a key, at once and for ever')
    .addArgument(
      new Argument('<key_id>').argParser((text: string) =>
        uuid(text, 'Name the key by its id: `id` of `key issue`, `key_id` of `key list`.'),
      ),
    )
    .action(async (keyId: string) => {
      await run(shell, async ({ app }) => {
        const { accountId } = await app.get(ApiKeysService).revoke(null, keyId, CLI);
        return { account_id: accountId, key_id: keyId, revoked: true };
      });
    });
}
