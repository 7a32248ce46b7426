import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { expectLedgerCoherent } from '../support/coherence.js';
import { Processes, type ServiceProcess, withDatabase } from '../support/process.js';
import { trial } from '../support/scale.js';
import { waitFor } from '../support/wait.js';
import { Random } from '../../tools/harness/random.js';

/** Each test ends with the wait for the lease of what was on its way at the kill (30 s). */
jest.setTimeout(600_000);

const AMOUNT = 1_000;
const CLIENTS = 6;
/** Payments of each client, with two refunds requested for each. */
const PAYMENTS = trial(10, 5);
/** An advisory lock that stands for the moment of the crash: whoever comes to it waits there to be killed. */
const HERE = 4711;

/** Where the process dies, by the amount of the refund. */
const MOMENTS = [
  { amount: 1, moment: 'before the intent is written', on: 'UPDATE ON refunds', when: `OLD.status = 'PENDING'` },
  { amount: 2, moment: 'between the intent and the call', on: 'INSERT ON sandbox_returns', when: 'true' },
  { amount: 3, moment: 'between the call and its record', on: 'UPDATE ON refunds', when: `OLD.status = 'IN_PROGRESS'` },
];

interface Refund {
  id: string;
  amount: number;
  status: string;
}

/** Returns the same id for the same name, as a repeated request has. */
function endToEndIdOf(name: string): string {
  return `E00000000202611211530${createHash('sha256').update(name).digest('hex').slice(0, 11)}`;
}

describe('kill -9 during refunds', () => {
  const processes = new Processes();
  const path = processes.pathWithoutRedis();

  let dataDir: string;
  let service: ServiceProcess;
  let key: string;

  beforeAll(async () => {
    dataDir = processes.dataDir();
    await start();
    key = service.demo().test_api_key;
  });
  afterAll(() => processes.cleanUp());

  async function start(): Promise<void> {
    service = await processes.start(dataDir, { RATE_LIMIT: 'off', PATH: path });
  }

  /** Repeats a POST until it is answered as it should be: a client whose server comes and goes. */
  function insist<T>(status: number, route: string, body: object, headers: Record<string, string> = {}): Promise<T> {
    return waitFor(
      `an answer to POST ${route}`,
      async () => {
        const response = await fetch(`${service.url}${route}`, {
          method: 'POST',
          headers: { apikey: key, 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }).catch(() => null);
        const text = await response?.text().catch(() => null);
        if (!response || text == null) return null;
        if (response.status === status) return JSON.parse(text) as T;
        if (response.status === 503 || /idempotency_key_in_use|payment_not_refundable/.test(text)) return null;
        throw new Error(`POST ${route} was answered ${response.status}: ${text}`);
      },
      60_000,
    );
  }

  /** A paid charge. @returns the id of its payment */
  async function paid(name: string): Promise<string> {
    const body = { amount: AMOUNT, payment_method: 'pix' };
    const charge = await insist<{ id: string }>(201, '/v1/charges', body, { 'Idempotency-Key': `charge-${name}` });
    const pay = { event: 'pay', end_to_end_id: endToEndIdOf(name) };
    await insist(200, `/v1/sandbox/charges/${charge.id}/simulate`, pay);
    return charge.id.replace(/^ch_/, '');
  }

  const refund = (id: string, amount: number): Promise<Refund> =>
    insist(201, `/v1/payments/${id}/refund`, { idempotencyKey: `refund-${id}-${amount}`, amount });

  /** Waits until everything has ended, and checks that the sandbox bank has sent back each refund once. */
  async function settled(client: pg.Client, url: string, expected: readonly Refund[]): Promise<void> {
    await waitFor(
      'every refund to end',
      async () => {
        const { rows } = await client.query(`SELECT 1 FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS')`);
        return rows.length === 0;
      },
      90_000,
    );
    await expectLedgerCoherent(url);
    const { rows } = await client.query<{ id: string; amount: string; status: string; returns: string }>(
      `SELECT r.id, r.amount, r.status, count(b.*) AS returns FROM refunds r
       LEFT JOIN sandbox_returns b ON b.end_to_end_id = r.payment_reference AND b.amount = r.amount
       WHERE r.id = ANY ($1) GROUP BY r.id ORDER BY r.id`,
      [expected.map(({ id }) => id)],
    );
    expect(rows.map((row) => ({ ...row, amount: Number(row.amount), returns: Number(row.returns) }))).toEqual(
      [...expected]
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ id, amount }) => ({ id, amount, status: 'REFUNDED', returns: 1 })),
    );
  }

  async function connected<T>(work: (client: pg.Client, url: string) => Promise<T>): Promise<T> {
    return withDatabase(dataDir, async (url) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return await work(client, url);
      } finally {
        await client.end();
      }
    });
  }

  it(`loses no refund at each of its moments: ${MOMENTS.map(({ moment }) => moment).join(', ')}`, async () => {
    const refunds = await connected(async (client) => {
      const payments = await Promise.all(MOMENTS.map(({ amount }) => paid(`moment-${amount}`)));
      await client.query(`CREATE FUNCTION spec_wait() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock(${HERE}); RETURN NEW; END $$`);
      for (const { amount, on, when } of MOMENTS) {
        await client.query(`CREATE TRIGGER spec_wait_${amount} BEFORE ${on} FOR EACH ROW
          WHEN (NEW.amount = ${amount} AND ${when}) EXECUTE FUNCTION spec_wait()`);
      }
      await client.query('SELECT pg_advisory_lock($1)', [HERE]);
      const asked = await Promise.all(MOMENTS.map(({ amount }, index) => refund(payments[index] ?? '', amount)));
      const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${HERE} AND NOT granted`;
      await waitFor('all of them to be at their moment', async () => {
        return (await client.query(waiting)).rows.length === MOMENTS.length;
      });
      await service.kill('SIGKILL');

      const state = await client.query(
        `SELECT r.amount::int, r.status, count(b.*)::int AS returns FROM refunds r
         LEFT JOIN sandbox_returns b ON b.end_to_end_id = r.payment_reference GROUP BY r.id ORDER BY r.amount`,
      );
      expect(state.rows).toEqual([
        { amount: 1, status: 'PENDING', returns: 0 },
        { amount: 2, status: 'IN_PROGRESS', returns: 0 },
        { amount: 3, status: 'IN_PROGRESS', returns: 1 },
      ]);

      // Statements that the dead process had sent ahead must not be written later.
      await client.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) w`);
      await client.query('SELECT pg_advisory_unlock($1)', [HERE]);
      for (const { amount, on } of MOMENTS) await client.query(`DROP TRIGGER spec_wait_${amount} ${on.slice(7)}`);
      await client.query('DROP FUNCTION spec_wait()');
      return asked;
    });
    // The next owner ends the PostgreSQL that the killed one has left behind, and starts its own.
    await start();
    await connected((client, url) => settled(client, url, refunds));
  });

  it('loses no refund and pays none twice at random moments under load', async () => {
    const { seed } = Random.seeded();
    const random = new Random(seed);
    const refunds: Refund[] = [];
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let n = 0; n < PAYMENTS; n++) {
        const id = await paid(`load-${client}-${n}`);
        // Every second request is sent twice at once, as impatient clients do.
        for (const amount of [random.between(1, 400), random.between(401, 600)]) {
          const twins = await Promise.all(
            n % 2 === 0 ? [refund(id, amount), refund(id, amount)] : [refund(id, amount)],
          );
          expect(new Set(twins.map((twin) => twin.id)).size).toBe(1);
          refunds.push(...twins.slice(0, 1));
        }
      }
    });
    let done = false;
    const killer = (async () => {
      for (let kill = 0; kill < trial(4, 2); kill++) {
        const next = (kill + 1) * 24;
        await waitFor('some refunds', () => done || refunds.length >= next - random.between(0, 20), 120_000);
        await delay(random.between(0, 30));
        await service.kill('SIGKILL');
        await start();
      }
    })();
    try {
      await Promise.all([...clients, killer.then(() => (done = true))]);
      expect(refunds).toHaveLength(CLIENTS * PAYMENTS * 2);
      await connected((client, url) => settled(client, url, refunds));
    } catch (error) {
      throw new Error(`STRESS_SEED=${seed}`, { cause: error });
    } finally {
      done = true;
    }
  });
});
