import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { Provider } from '@nestjs/common';
import type pg from 'pg';
import {
  AccountsService,
  PASSWORD_COST,
  type PasswordCost,
  type Role,
  UsersService,
} from '../../src/accounts/index.js';
import { ApiKeysService } from '../../src/api-keys/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { Clock } from '../../src/core/clock.js';
import { MemoryRateLimiter, RateLimiter } from '../../src/core/rate-limit/index.js';
import { readConfig } from '../../src/core/config/index.js';
import { serveDashboard } from '../../src/app/dashboard.js';
import { setupOpenApi } from '../../src/app/openapi/setup.js';
import { openRuntime, type Runtime, type RuntimeOverrides } from '../../src/app/runtime.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { eventFaults } from './event-schemas.js';
import { GROUP, TEST_ENCRYPTION_KEY } from './process.js';
import { deliveredBodies } from './receiver.js';
import { waitFor } from './wait.js';

/** Time that a test moves instead of waiting. */
export class TestClock extends Clock {
  override offsetMs = 0;
  readonly #timers = new Set<{ readonly dueAt: number; readonly work: () => void }>();
  #standsAt: number | null = null;

  override now(): Date {
    return this.#standsAt === null ? super.now() : new Date(this.#standsAt + this.offsetMs);
  }

  /** From here on only `advance` moves it, however long what is measured takes; until `go`. */
  stand(): this {
    this.#standsAt ??= Date.now();
    return this;
  }

  go(): void {
    this.#standsAt = null;
  }

  /** Moves the clock, and runs periodic tasks that became due. */
  advance(seconds: number): void {
    this.offsetMs += seconds * 1000;
    const now = this.now().getTime();
    for (const timer of this.#timers) if (timer.dueAt <= now) timer.work();
  }

  /** As setTimeout, but `advance` brings it forward. */
  readonly timer = (work: () => void, ms: number): (() => void) => {
    const cancel = (): void => {
      clearTimeout(handle);
      this.#timers.delete(timer);
    };
    const run = (): void => {
      cancel();
      work();
    };
    const handle = setTimeout(run, ms);
    const timer = { dueAt: this.now().getTime() + ms, work: run };
    this.#timers.add(timer);
    return cancel;
  };
}

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  readonly text: string;
}

export interface Merchant {
  readonly accountId: string;
  readonly testKey: string;
  readonly liveKey: string;
  readonly ownerId: string;
  readonly ownerEmail: string;
}

/** Somebody who has logged in. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly token: string;
}

/** Password of every user that the tests make */
export const PASSWORD = 'correct horse battery';

/** The least that argon2 accepts: the specs make hundreds of users. Specs that time logins use the real cost. */
const CHEAP_PASSWORDS: Provider = {
  provide: PASSWORD_COST,
  useValue: { memoryCost: 1024, timeCost: 2, parallelism: 1 } satisfies PasswordCost,
};

/** Rate limits whose time is the test's clock. */
function limitsOf(clock: TestClock): Provider {
  return { provide: RateLimiter, useFactory: () => new MemoryRateLimiter({ now: () => clock.now().getTime() }) };
}

const STILL_LIMITS: Provider = {
  provide: RateLimiter,
  useFactory: () => new MemoryRateLimiter({ now: () => 0 }),
};

let counter = 0;

function newEmail(who: string): string {
  return `${who}-${randomBytes(6).toString('hex')}@example.com`;
}

interface StartOptions {
  readonly env?: Record<string, string>;
  readonly database?: TestDatabase;
  readonly overrides?: RuntimeOverrides;
  readonly clock?: TestClock;
  /** Rate limits give nothing back with time, so that counts do not depend on the speed of the machine. */
  readonly stillLimits?: boolean;
  /** Rate limits follow the test's clock. */
  readonly clockLimits?: boolean;
}

/** The whole application on a port of its own, on a database of its own. */
export class TestService {
  private constructor(
    readonly runtime: Runtime,
    readonly database: TestDatabase,
    readonly clock: TestClock,
    readonly url: string,
    private readonly dataDir: string,
    private readonly ownsDatabase: boolean,
  ) {}

  /** Started before all tests that it is declared beside, and stopped after them: only hooks and tests may use it. */
  static forSpec(options?: StartOptions): TestService {
    // A single object from the beginning, so that it is a constant; it becomes the started service.
    const service = Object.create(TestService.prototype) as TestService;
    beforeAll(async () => void Object.assign(service, await TestService.start(options)));
    afterAll(() => service.stop());
    return service;
  }

  static async start(options: StartOptions = {}): Promise<TestService> {
    const database = options.database ?? (await createTestDatabase());
    const dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
    const clock = options.clock ?? new TestClock();
    const config = readConfig({
      ALLOW_INSECURE: 'true',
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      DATABASE_URL: database.url,
      DATABASE_MIGRATION_URL: database.ownerUrl,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: '0',
      PUBLIC_BASE_URL: 'https://pay.example.com',
      LOG_LEVEL: 'silent',
      RATE_LIMIT: 'off',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...GROUP,
      ...options.env,
    });
    const redis = options.env?.['REDIS_URL'] !== undefined;
    const runtime = await openRuntime(
      config,
      { redis },
      {
        clock,
        timer: clock.timer,
        providers: [
          CHEAP_PASSWORDS,
          ...(options.stillLimits === true ? [STILL_LIMITS] : []),
          ...(options.clockLimits === true ? [limitsOf(clock)] : []),
        ],
        ...options.overrides,
      },
    );
    setupOpenApi(runtime.app, config.publicBaseUrl);
    serveDashboard(runtime.app, 'dist/dashboard');
    await runtime.app.listen(0, '127.0.0.1');
    const url = await runtime.app.getUrl();
    return new TestService(runtime, database, clock, url, dataDir, options.database === undefined);
  }

  get<T>(token: abstract new (...args: never[]) => T): T {
    return this.runtime.app.get(token);
  }

  async merchant(settings: Record<string, string> = {}): Promise<Merchant> {
    const email = newEmail('owner');
    const { accountId, userId } = await this.get(AccountsService).create(
      { name: 'Padaria São João', email, password: PASSWORD, settings },
      SYSTEM,
    );
    if (userId === null) throw new Error('The owner was made with a password');
    const keys = this.get(ApiKeysService);
    const test = await keys.issue(accountId, { mode: 'test', label: null }, SYSTEM);
    const live = await keys.issue(accountId, { mode: 'live', label: null }, SYSTEM);
    return { accountId, testKey: test.apiKey, liveKey: live.apiKey, ownerId: userId, ownerEmail: email };
  }

  /** A new member of the account, logged in. */
  async member(accountId: string, role: Role): Promise<Person> {
    const email = newEmail(role.toLowerCase());
    const { userId } = await this.get(AccountsService).addMember(
      accountId,
      { email, password: PASSWORD, role },
      SYSTEM,
    );
    return { userId, email, token: await this.login(email) };
  }

  async operator(): Promise<Person> {
    const email = newEmail('operator');
    const { userId } = await this.get(UsersService).createOperator({ email, password: PASSWORD }, SYSTEM);
    return { userId, email, token: await this.login(email) };
  }

  /** @returns the newest mail to this address, as a file, once it is sent */
  async mailTo(recipient: string): Promise<string> {
    let id: string | undefined;
    await waitFor(`the mail to ${recipient}`, async () => {
      const [mail] = await this.sql<{ id: string; status: string }>(
        'SELECT id, status FROM emails WHERE recipient = $1 ORDER BY id DESC LIMIT 1',
        [recipient],
      );
      id = mail?.id;
      return mail?.status === 'sent';
    });
    return readFileSync(join(this.dataDir, 'mail', `${String(id)}.eml`), 'utf8');
  }

  /** @returns the token of the newest mail to this address */
  async mailedToken(recipient: string): Promise<string> {
    // Long lines are broken by a sign of equality at their end.
    const mail = (await this.mailTo(recipient)).replaceAll('=\r\n', '');
    const token = /^Token: (\S+)\r$/m.exec(mail)?.[1];
    if (token === undefined) throw new Error(`The mail to ${recipient} has no token`);
    return token;
  }

  /** @returns the token */
  async login(email: string, password = PASSWORD): Promise<string> {
    const answer = await this.call<{ access_token: string }>('POST', '/v1/auth/login', { body: { email, password } });
    if (answer.status !== 200) throw new Error(`Login of ${email} was answered ${answer.status}`);
    return answer.body.access_token;
  }

  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options: {
      key?: string;
      token?: string;
      body?: unknown;
      rawBody?: string | Buffer;
      headers?: Record<string, string>;
    } = {},
  ): Promise<Answer<T>> {
    const hasBody = options.body !== undefined || options.rawBody !== undefined;
    const response = await fetch(`${this.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(options.key === undefined ? {} : { apikey: options.key }),
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...options.headers,
      },
      ...(hasBody ? { body: options.rawBody ?? JSON.stringify(options.body) } : {}),
    });
    // A stream would deliver for a minute.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream) await response.body?.cancel();
    const text = isStream ? '' : await response.text();
    const isJson = text !== '' && (response.headers.get('content-type')?.includes('json') ?? false);
    return { status: response.status, headers: response.headers, text, body: (isJson ? JSON.parse(text) : {}) as T };
  }

  createCharge<T = ChargeAnswer>(
    key: string,
    body: Record<string, unknown> = {},
    idempotencyKey = `test-key-${++counter}-${randomBytes(4).toString('hex')}`,
  ): Promise<Answer<T>> {
    return this.call<T>('POST', '/v1/charges', {
      key,
      body: { amount: 1990, payment_method: 'pix', ...body },
      headers: { 'Idempotency-Key': idempotencyKey },
    });
  }

  simulate(
    key: string,
    chargeId: string,
    body: Record<string, unknown>,
  ): Promise<Answer<{ object: string; event: string; charge: ChargeAnswer }>> {
    return this.call('POST', `/v1/sandbox/charges/${chargeId}/simulate`, { key, body });
  }

  /** A charge of an account with `payer_lock` whose payer the bank did not report: it waits for an operator. */
  async heldCharge(key: string, body: Record<string, unknown> = {}): Promise<{ chargeId: string; reviewId: string }> {
    const { body: charge } = await this.createCharge(key, {
      customer: { name: 'Maria da Silva' },
      expected_payer_tax_id: '52998224725',
      ...body,
    });
    const paid = await this.simulate(key, charge.id, { event: 'pay', payer_document: null });
    if (paid.body.charge.status !== 'processing') throw new Error(`The charge is not held: ${paid.text}`);
    const [row] = await this.sql<{ id: string }>(
      `SELECT id FROM settlements WHERE transaction_id = $1 AND outcome = 'review'`,
      [charge.id.slice(3)],
    );
    return { chargeId: charge.id, reviewId: row?.id ?? '' };
  }

  getCharge(key: string, id: string): Promise<Answer<ChargeAnswer>> {
    return this.call<ChargeAnswer>('GET', `/v1/charges/${id}`, { key });
  }

  /** Rows of any table, for what no route shows. */
  async sql<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.database.pool.query<R>(text, values)).rows;
  }

  /** Every row of every table, as text. Partitions are read by their tables: an old one may be dropped meanwhile. */
  async rows(): Promise<StoredRow[]> {
    const tables = await this.sql<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    if (tables.length < 20) throw new Error(`There are only ${String(tables.length)} tables`);
    const rows = await Promise.all(
      tables.map(({ name }) => this.sql<StoredRow>(`SELECT '${name}' AS "table", t::text AS text FROM ${name} t`)),
    );
    return rows.flat();
  }

  /** @throws Error if a delivered webhook is not as the OpenAPI document shows it */
  async stop(): Promise<void> {
    // Specs of the queue deliver rows of their own, which are no events.
    const events = deliveredBodies.splice(0).filter((body) => 'type' in body || 'event' in body);
    const faults = eventFaults(this.runtime.app, events);
    await this.runtime.close();
    rmSync(this.dataDir, { recursive: true, force: true });
    if (this.ownsDatabase) await this.database.drop();
    if (faults.length > 0) throw new Error(`Webhooks that differ from the document: ${faults.join('; ')}`);
  }
}

export interface StoredRow {
  table: string;
  text: string;
}

export interface ChargeAnswer extends Record<string, unknown> {
  id: string;
  status: string;
  amount: number;
  pix: { br_code: string; qr_code_url: string; expires_at: string; txid?: string };
  customer: Record<string, string>;
  metadata: Record<string, unknown> & { failure?: Record<string, unknown> };
  settlement: { end_to_end_id?: string };
  checkout_url: string;
  created_at: string;
}
