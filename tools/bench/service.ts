import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Cleanup } from '../harness/cleanup.js';
import { ownerUrl } from '../harness/local-servers.js';
import type { ServiceProcess } from '../harness/service-process.js';
import type { HttpLoad } from './http-load.js';
import { postgresSeconds, processorSeconds } from './machine.js';
import type { Merchant } from './merchants.js';
import { newCharge } from './requests.js';
import { drive, type Operation } from './stats.js';
import type { Processors, System } from './turns.js';

/** The root of this build. */
export const HERE = join(import.meta.dirname, '../..');

/** Merchants: the first has a busy wallet, a hundred share the rest, and the last receives webhooks. */
export const MERCHANTS = 102;
/** Charges that wait to be paid when a round begins. */
export const STOCK = 1_000;
const STOCKING_CONNECTIONS = 16;
const RELAY_LIMIT_MS = 60_000;
const ARRIVAL_LIMIT_MS = 30_000;

/** An unpaid charge. */
export interface OpenCharge {
  readonly id: string;
  readonly txid: string;
  readonly merchant: Merchant;
}

/** A build's service on a database of its own, with merchants that the build's own code has made. */
export class Service implements System {
  readonly #arrived = new Map<string, () => void>();
  #hasReceiver = false;

  private constructor(
    readonly process: ServiceProcess,
    readonly databaseUrl: string,
    readonly database: pg.Client,
    readonly postgresVersion: string,
    private readonly postmaster: number,
    readonly merchants: readonly Merchant[],
    /** Login of the demo account's owner. */
    private readonly login: { readonly email: string; readonly password: string },
    private readonly cleanup: Cleanup,
  ) {}

  /** @param build the `dist` of a built checkout */
  static async start(build: string, directory: string, cleanup: Cleanup): Promise<Service> {
    const { ServiceProcess } = await load<typeof import('../harness/service-process.js')>(
      build,
      'tools/harness/service-process.js',
    );
    const dataDir = mkdtempSync(join(directory, 'side-'));
    return Service.of(await ServiceProcess.start(dataDir, cleanup), dataDir, build, cleanup);
  }

  /** Fills the database of a process that was just started. */
  static async of(process: ServiceProcess, dataDir: string, build: string, cleanup: Cleanup): Promise<Service> {
    const { makeMerchants } = await load<typeof import('./merchants.js')>(build, 'tools/bench/merchants.js');
    const url = ownerUrl(dataDir);
    const database = await connect(url, cleanup);
    const { rows } = await database.query<{ version: string; pid: number }>(
      `SELECT current_setting('server_version') AS version,
         split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer AS pid`,
    );
    const { version, pid } = rows[0] ?? { version: 'unknown', pid: 0 };
    const merchants = await makeMerchants(url, MERCHANTS);
    const login = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Service['login'];
    return new Service(process, url, database, version, pid, merchants, login, cleanup);
  }

  get url(): string {
    return this.process.url;
  }

  processors(): Processors {
    return { node: processorSeconds(this.process.pid), postgres: postgresSeconds(this.postmaster) };
  }

  /** Waits until all events are relayed: the rest of a round must not overlap the round of another side. */
  async settle(): Promise<void> {
    const deadline = performance.now() + RELAY_LIMIT_MS;
    for (;;) {
      const { rows } = await this.database.query<{ pending: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM events WHERE status = 'pending') AS pending`,
      );
      if (rows[0]?.pending !== true) return;
      if (performance.now() > deadline) throw new Error('The relay does not catch up');
      await delay(5);
    }
  }

  /** @returns a bearer token */
  async logIn(): Promise<string> {
    const { email, password } = this.login;
    const answer = await this.#post('/v1/auth/login', {}, { email, password }, 200);
    return (answer as { access_token: string }).access_token;
  }

  /** Starts a receiver of the merchant's `charge.paid` webhooks, unless it runs. */
  async receiveWebhooks({ apiKey }: Merchant): Promise<void> {
    if (this.#hasReceiver) return;
    this.#hasReceiver = true;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(200).end();
        const id = /"ch_([0-9a-f-]{36})"/.exec(Buffer.concat(chunks).toString('utf8'))?.[1] ?? '';
        this.#arrived.get(id)?.();
      });
    });
    // Under load the service may be late with its next request: the receiver must not close its connection.
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.cleanup.add(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
    await this.#post('/v1/webhooks/endpoints', { apikey: apiKey }, { url, events: ['charge.paid'] }, 201);
  }

  /** Runs `pay` and waits for the charge's webhook. @returns null when it arrived, otherwise the reason */
  async untilWebhook({ id }: OpenCharge, pay: Operation): Promise<string | null> {
    const limit = new AbortController();
    const arrived = new Promise<null>((resolve) => this.#arrived.set(id, () => resolve(null)));
    try {
      const refusal = await pay();
      const late = delay(ARRIVAL_LIMIT_MS, 'no webhook came', { signal: limit.signal }).catch(() => null);
      return refusal ?? (await Promise.race([arrived, late]));
    } finally {
      limit.abort();
      this.#arrived.delete(id);
    }
  }

  async #post(path: string, headers: Record<string, string>, body: object, expected: number): Promise<unknown> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const answer = await fetch(this.url + path, { ...init, body: JSON.stringify(body) });
    if (answer.status !== expected) throw new Error(`POST ${path}: ${await answer.text()}`);
    return answer.json();
  }
}

function load<T>(build: string, path: string): Promise<T> {
  return import(pathToFileURL(join(build, path)).href) as Promise<T>;
}

/** A plain client; it ends with the run. */
export async function connect(databaseUrl: string, cleanup: Cleanup): Promise<pg.Client> {
  const config: pg.ClientConfig & { pipeline: boolean } = { connectionString: databaseUrl, pipeline: true };
  const client = new pg.Client(config);
  // A server that is stopped during a run disconnects its clients; without a listener that would end the process.
  client.on('error', () => undefined);
  await client.connect();
  cleanup.add(() => client.end());
  return client;
}

/** Creates a charge with its own Idempotency-Key; only 201 counts. */
export function createCharge(load: HttpLoad, worker: number, { apiKey }: Merchant): Operation {
  return () =>
    load.send(worker, 'POST', '/v1/charges', { apikey: apiKey, 'idempotency-key': randomUUID() }, newCharge(), 201);
}

/**
 * Open charges of these merchants in a database.
 * @param atLeast number of charges; missing ones are created
 * @param create creates a charge of a merchant
 */
export async function openCharges(
  database: pg.Client,
  merchants: readonly Merchant[],
  atLeast: number,
  create: (worker: number, merchant: Merchant) => Operation,
): Promise<OpenCharge[]> {
  const byAccount = new Map(merchants.map((merchant) => [merchant.accountId, merchant]));
  const read = async (): Promise<OpenCharge[]> => {
    const { rows } = await database.query<{ id: string; txid: string; account_id: string }>(
      `SELECT id, txid, account_id FROM transactions
       WHERE account_id = ANY ($1) AND status = 'WAITING_PAYMENT' AND expires_at > now() + interval '10 minutes'
       ORDER BY id DESC`,
      [[...byAccount.keys()]],
    );
    return rows.flatMap(({ id, txid, account_id }) => {
      const merchant = byAccount.get(account_id);
      return merchant ? [{ id, txid, merchant }] : [];
    });
  };
  const charges = await read();
  let left = atLeast - charges.length;
  if (left <= 0) return charges;
  const { firstRefusal } = await drive(STOCKING_CONNECTIONS, Number.POSITIVE_INFINITY, (worker) => {
    const merchant = merchants[left % merchants.length];
    return merchant && left-- > 0 ? create(worker, merchant) : null;
  });
  if (firstRefusal !== null) throw new Error(`Not every charge was created: ${firstRefusal}`);
  return read();
}

/** A fast service that loses cents is worthless: checks that every balance is the sum of its lines. */
export async function expectCoherent(...databases: readonly pg.Client[]): Promise<void> {
  for (const database of databases) {
    const { rows } = await database.query(
      `SELECT current_database() AS database, bucket, b.amount AS balance, l.lines FROM balances b FULL JOIN (
         SELECT account_id, mode, currency, bucket, sum(amount) AS lines FROM journal_lines GROUP BY 1, 2, 3, 4) l
       USING (account_id, mode, currency, bucket) WHERE b.amount IS DISTINCT FROM l.lines LIMIT 3`,
    );
    if (rows.length > 0) throw new Error(`Balances are not the sum of their lines: ${JSON.stringify(rows)}`);
  }
}
