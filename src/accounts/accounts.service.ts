import { Injectable } from '@nestjs/common';
import argon2 from 'argon2';
import { isEmail } from 'class-validator';
import { Clock } from '../core/clock.js';
import { Database, uniqueViolation } from '../core/database/index.js';
import { badRequest, invalidRequest, notFound, type Violation } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import { type Account, type AccountChanges, AccountsRepository, type Role } from './accounts.repository.js';
import { parseSettings } from './settings.js';

/** Merchants, their members and settings; platform staff. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 */
  async get(id: string): Promise<Account> {
    const account = await this.accounts.find(id);
    if (!account) throw notFound('account');
    return account;
  }

  async noneYet(): Promise<boolean> {
    return this.accounts.isEmpty();
  }

  /**
   * Makes an account with its first OWNER.
   * @param settings `key=value` texts by key, as the CLI takes them
   * @throws ApiError 400 with every violation
   */
  async create(input: {
    name: string;
    email: string;
    password: string;
    settings?: Record<string, string>;
  }): Promise<{ accountId: string; userId: string }> {
    const settings = parseSettings(input.settings ?? {});
    const name = input.name.trim();
    const violations: Violation[] = [...checkCredentials(input), ...settings.violations];
    if (name === '' || name.length > 120) {
      violations.push({ param: 'name', code: 'invalid', message: 'must have 1 to 120 characters' });
    }
    if (violations.length > 0) throw invalidRequest(violations);
    const user = await this.#newUser({ ...input, name, operator: false });
    const now = this.clock.now();
    const accountId = newId(now);
    await this.#unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        this.accounts.insert(tx, { id: accountId, name, contactEmail: user.email, createdAt: now });
        this.accounts.insertUser(tx, user);
        this.accounts.insertMember(tx, { accountId, userId: user.id, role: 'OWNER', createdAt: now });
        await this.accounts.update(tx, accountId, settings.changes);
      }),
    );
    return { accountId, userId: user.id };
  }

  /** @throws ApiError 400 for an unknown key or a bad value, 404 for an unknown account */
  async set(accountId: string, settings: Record<string, string>): Promise<Account> {
    const parsed = parseSettings(settings);
    if (parsed.violations.length > 0) throw invalidRequest(parsed.violations);
    return this.change(accountId, parsed.changes);
  }

  async change(accountId: string, changes: AccountChanges): Promise<Account> {
    const account = await this.database.transaction((tx) => this.accounts.update(tx, accountId, changes));
    if (!account) throw notFound('account');
    return account;
  }

  /** Adds a member with a login of its own. */
  async addMember(
    accountId: string,
    input: { email: string; password: string; role: Role },
  ): Promise<{ userId: string }> {
    const violations = checkCredentials(input);
    if (violations.length > 0) throw invalidRequest(violations);
    await this.get(accountId);
    const user = await this.#newUser({ ...input, name: input.email, operator: false });
    await this.#unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        this.accounts.insertUser(tx, user);
        this.accounts.insertMember(tx, { accountId, userId: user.id, role: input.role, createdAt: user.createdAt });
      }),
    );
    return { userId: user.id };
  }

  /** Platform staff: a user without an account (decisions §5.2). */
  async createOperator(input: { email: string; password: string }): Promise<{ userId: string }> {
    const violations = checkCredentials(input);
    if (violations.length > 0) throw invalidRequest(violations);
    const user = await this.#newUser({ ...input, name: input.email, operator: true });
    await this.#unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        this.accounts.insertUser(tx, user);
      }),
    );
    return { userId: user.id };
  }

  async #newUser(input: { email: string; password: string; name: string; operator: boolean }): Promise<{
    id: string;
    email: string;
    name: string;
    passwordHash: string;
    operator: boolean;
    createdAt: Date;
  }> {
    const createdAt = this.clock.now();
    return {
      id: newId(createdAt),
      email: input.email.trim().toLowerCase(),
      name: input.name,
      passwordHash: await argon2.hash(input.password, { type: argon2.argon2id }),
      operator: input.operator,
      createdAt,
    };
  }

  async #unlessEmailTaken<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (uniqueViolation(error) === 'users_email_key') {
        throw badRequest('invalid_request', 'A user with this e-mail exists already.', 'email');
      }
      throw error;
    }
  }
}

function checkCredentials(input: { email: string; password: string }): Violation[] {
  const violations: Violation[] = [];
  // .local and the like are allowed: the demo owner has such an address.
  if (!isEmail(input.email.trim(), { require_tld: false })) {
    violations.push({ param: 'email', code: 'invalid', message: 'must be an e-mail address' });
  }
  if (input.password.length < 10) {
    violations.push({ param: 'password', code: 'too_short', message: 'must have at least 10 characters' });
  }
  return violations;
}
