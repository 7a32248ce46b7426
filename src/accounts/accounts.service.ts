import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { type ApiError, forbidden, invalidRequest, notFound, type Violation } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Account, AccountEntity } from './account.entity.js';
import type { Role } from './role.js';
import { type AccountChanges, type AccountFilter, AccountsRepository } from './accounts.repository.js';
import { checkEmail, normalizeEmail } from './email-address.js';
import { MembersService } from './members.service.js';
import { Passwords } from './passwords.service.js';
import { PersonMails } from './person-mails.service.js';
import { isName, parseSettings, readSettings, type SettingValues } from './settings.js';
import { unlessEmailTaken } from './users.service.js';

/** The refusal of a request that would begin something new. */
export function accountSuspended(): ApiError {
  return forbidden(
    'This account is suspended, and its API keys with it. Ask the operator of the service.',
    'account_suspended',
  );
}

/** Largest number of characters of a setting's value in the audit trail. */
const LONGEST_SHOWN = 256;

/** Called in the transaction that changes settings of an account; throws to refuse the change. */
type SettingsListener = (tx: Tx, before: AccountEntity, after: AccountEntity, actor: Actor) => Promise<void>;

/** Merchants and their settings. */
@Injectable()
export class AccountsService {
  readonly #settingsListeners: SettingsListener[] = [];

  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsRepository,
    private readonly members: MembersService,
    private readonly passwords: Passwords,
    private readonly mails: PersonMails,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Registers an owner of settings that need more than a check of their values. */
  whenSettingsChange(listener: SettingsListener): void {
    this.#settingsListeners.push(listener);
  }

  /** @throws ApiError 404 */
  async get(id: string, tx?: Tx): Promise<Account> {
    const account = await this.accounts.find(id, tx);
    if (!account) throw notFound('account');
    return account;
  }

  /** An account with all details, for operators. @throws ApiError 404 */
  async details(id: string): Promise<AccountEntity> {
    const account = await this.accounts.findDetails(id);
    if (!account) throw notFound('account');
    return account;
  }

  /** Accounts for operators, newest first. */
  async list(filter: AccountFilter): Promise<AccountEntity[]> {
    return this.accounts.list(filter);
  }

  /** Returns whether the document, without punctuation, is on the account's block list. */
  async blocksDocument(id: string, document: string, tx?: Tx): Promise<boolean> {
    return this.accounts.blocksDocument(id, document, tx);
  }

  async noneYet(): Promise<boolean> {
    return this.accounts.isEmpty();
  }

  /**
   * Makes an account and invites its first OWNER.
   * @param input.password if known, as for the demo: the OWNER is made at once, without an invitation
   * @param input.settings `key=value` texts by key, as the CLI takes them
   * @param input.values settings as JSON values instead
   * @throws ApiError 400 with every violation; 422 for a payout schedule, as the account has no destination yet
   */
  async create(
    input: {
      name: string;
      email: string;
      password?: string;
      settings?: Record<string, string>;
      values?: SettingValues;
    },
    actor: Actor,
  ): Promise<{ accountId: string; userId: string | null }> {
    const settings = input.values ? readSettings(input.values) : parseSettings(input.settings ?? {});
    const name = input.name.trim();
    const email = normalizeEmail(input.email);
    const violations: Violation[] = [
      ...checkEmail(email),
      ...(input.password === undefined ? [] : await this.passwords.check(input.password, { email, name })),
      ...settings.violations,
    ];
    if (!isName(name, 120)) {
      violations.push({ param: 'name', code: 'invalid', message: 'must have 1 to 120 characters on one line' });
    }
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = input.password === undefined ? null : await this.passwords.hash(input.password);
    const now = this.clock.now();
    const accountId = newId(now);
    const userId = await unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        this.accounts.insert(tx, { id: accountId, name, contactEmail: email, createdAt: now });
        const owner = { accountId, email, name, role: 'OWNER' } as const;
        const ownerId = passwordHash === null ? null : await this.members.admit(tx, { ...owner, passwordHash });
        const before = await this.lock(tx, accountId);
        const account = { ...before, ...settings.changes };
        this.accounts.update(tx, account);
        await this.#settingsChanged(tx, before, account, actor);
        this.audit.record(tx, actor, 'account.created', accountId, { data: { owner_id: ownerId } });
        if (ownerId === null) this.members.send(tx, { id: accountId, name }, { email, name, role: 'OWNER' }, actor);
        return ownerId;
      }),
    );
    return { accountId, userId };
  }

  /**
   * @throws ApiError 400 for an unknown key or a bad value; 404 for an unknown account; 422 for a payout schedule
   *   without a saved destination
   */
  async set(accountId: string, settings: Record<string, string>, actor: Actor): Promise<void> {
    const parsed = parseSettings(settings);
    if (parsed.violations.length > 0) throw invalidRequest(parsed.violations);
    await this.change(accountId, parsed.changes, actor);
  }

  /** Changes settings given as JSON values. */
  async setValues(accountId: string, values: SettingValues, actor: Actor): Promise<void> {
    const read = readSettings(values);
    if (read.violations.length > 0) throw invalidRequest(read.violations);
    await this.change(accountId, read.changes, actor);
  }

  /** @throws ApiError 404 for an unknown account */
  async change(accountId: string, changes: AccountChanges, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      const before = await this.lock(tx, accountId);
      const account = { ...before, ...changes };
      this.accounts.update(tx, account);
      const changed = changedSettings(before, changes);
      if (Object.keys(changed).length > 0) {
        this.audit.record(tx, actor, 'account.settings_changed', accountId, { data: { changes: changed } });
      }
      await this.#settingsChanged(tx, before, account, actor);
      if (account.contactEmail !== before.contactEmail) this.mails.contactChanged(tx, before);
    });
  }

  /** Locks the account until the end of `tx`. @throws ApiError 404 */
  async lock(tx: Tx, id: string): Promise<AccountEntity> {
    const account = await this.accounts.lock(tx, id);
    if (!account) throw notFound('account');
    return account;
  }

  async #settingsChanged(tx: Tx, before: AccountEntity, after: AccountEntity, actor: Actor): Promise<void> {
    for (const listener of this.#settingsListeners) await listener(tx, before, after, actor);
  }

  /** Records that the first bank days up to `after` are over. The caller holds the account's lock. */
  setMonthlyClosingAfter(tx: Tx, id: string, after: Date): void {
    this.accounts.setMonthlyClosingAfter(tx, id, after);
  }

  /** Records that the occurrences of the payout schedule up to `after` are over. The caller holds the account's lock. */
  setPayoutScheduleAfter(tx: Tx, id: string, after: Date): void {
    this.accounts.setPayoutScheduleAfter(tx, id, after);
  }

  /**
   * Records a changed schedule: its occurrences begin after `after`. The caller holds the account's lock.
   * @param by the member who changed it; null: no member
   */
  beginPayoutSchedule(tx: Tx, id: string, after: Date, by: string | null): void {
    this.accounts.beginPayoutSchedule(tx, id, after, by);
  }

  /** @param acquirer its name, null: none; used for charges made after the commit */
  setLiveAcquirer(tx: Tx, id: string, acquirer: string | null): void {
    this.accounts.setLiveAcquirer(tx, id, acquirer);
  }

  /** Adds a member who can log in at once. @throws ApiError 400 with every violation, 404 for an unknown account */
  async addMember(
    accountId: string,
    input: { email: string; password: string; role: Role },
    actor: Actor,
  ): Promise<{ userId: string }> {
    const email = normalizeEmail(input.email);
    const violations = [...checkEmail(email), ...(await this.passwords.check(input.password, { email }))];
    if (violations.length > 0) throw invalidRequest(violations);
    await this.get(accountId);
    const passwordHash = await this.passwords.hash(input.password);
    const userId = await unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        const id = await this.members.admit(tx, { accountId, email, name: email, passwordHash, role: input.role });
        this.audit.record(tx, actor, 'member.added', accountId, { data: { user_id: id, role: input.role } });
        return id;
      }),
    );
    return { userId };
  }
}

/**
 * Lists changes by the public names of the settings. For a list it shows only the length: it may hold customers'
 * documents. For a picture it shows a short mark, since the whole would stay for years.
 */
function changedSettings(
  before: AccountEntity,
  changes: AccountChanges,
): Record<string, { from: unknown; to: unknown }> {
  const shown = (value: unknown): unknown => {
    if (Array.isArray(value)) return `${value.length} entries`;
    if (typeof value !== 'string' || value.length <= LONGEST_SHOWN) return value;
    return `${value.length} characters, SHA-256 ${createHash('sha256').update(value).digest('hex')}`;
  };
  return Object.fromEntries(
    (Object.keys(changes) as (keyof AccountChanges)[])
      .filter((key) => !isDeepStrictEqual(before[key], changes[key]))
      .map((key) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        { from: shown(before[key]), to: shown(changes[key]) },
      ]),
  );
}
