import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM } from '../../src/audit/index.js';
import pg from 'pg';
import { Clock } from '../../src/core/clock.js';
import { Draft } from '../../src/core/errors/index.js';
import { newId } from '../../src/core/ids.js';
import { createDataSource, Database, read } from '../../src/core/database/index.js';
import { DeliveryQueue } from '../../src/webhooks/sending/delivery-queue.service.js';
import {
  type ClaimedDelivery,
  DeliveryQueueRepository,
  type Outcome,
} from '../../src/webhooks/sending/delivery-queue.repository.js';
import { EndpointsService } from '../../src/webhooks/index.js';
import { OutcomesService } from '../../src/webhooks/sending/outcomes.service.js';
import { TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

interface DeliveryRow extends Record<string, unknown> {
  id: string;
  status: string;
  attempts: number;
  next_attempt_at: Date | null;
  last_error: string | null;
}

interface EndpointRow extends Record<string, unknown> {
  status: string;
  failures: number;
  failing_since: Date | null;
  paused_until: Date | null;
}

const TIMEOUT_SECONDS = 15;

/** Two processes on one database, without workers of their own: only the spec claims deliveries. */
describe('the queue of deliveries', () => {
  let service: TestService;
  let other: TestService;
  let queues: DeliveryQueue[];
  let outcomes: OutcomesService;
  let accountId: string;

  beforeAll(async () => {
    service = await TestService.start({ env: { ROLE: 'api', WEBHOOK_RETRY_SCHEDULE: '10,10,10' } });
    other = await TestService.start({ env: { ROLE: 'api' }, database: service.database });
    queues = [service.get(DeliveryQueue), other.get(DeliveryQueue)];
    outcomes = service.get(OutcomesService);
  });
  afterAll(async () => {
    await other.stop();
    await service.stop();
  });
  beforeEach(async () => {
    await service.sql(
      'TRUNCATE webhook_attempts, webhook_deliveries, webhook_endpoints, webhook_default_secrets, emails',
    );
    ({ accountId } = await service.merchant({ contact_email: 'contact@example.com' }));
    service.clock.offsetMs = other.clock.offsetMs = 0;
  });

  const ago = (seconds: number): Date => new Date(service.clock.now().getTime() - seconds * 1000);
  const advance = (seconds: number): void => {
    service.clock.advance(seconds);
    other.clock.advance(seconds);
  };

  async function endpoint(values: Record<string, unknown> = {}): Promise<string> {
    const id = newId(service.clock.now());
    const row = {
      id,
      account_id: accountId,
      mode: 'test',
      url: 'http://receiver.example/',
      events: ['*'],
      secret_sealed: Buffer.from('sealed'),
      status: 'ACTIVE',
      created_at: ago(0),
      updated_at: ago(0),
      ...values,
    };
    const columns = Object.keys(row);
    await service.sql(
      `INSERT INTO webhook_endpoints (${columns.join()}) VALUES (${columns.map((_, n) => `$${n + 1}`).join()})`,
      Object.values(row),
    );
    return id;
  }

  /** Makes deliveries due a second apart, the last one at `dueAt`. @returns their ids in that order */
  async function deliveries(
    endpointId: string,
    count: number,
    values: { attempts?: number; manual?: boolean; dueAt?: Date; status?: string; maxAttempts?: number } = {},
  ): Promise<string[]> {
    const { attempts = 0, manual = false, dueAt = ago(0), status = 'PENDING', maxAttempts = 4 } = values;
    const ids = Array.from({ length: count }, () => newId(service.clock.now()));
    await service.sql(
      `WITH made AS (
         INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
         SELECT gen_random_uuid(), $2, 'test', gen_random_uuid(), 'charge.paid', $4, '{}', ARRAY[id]
         FROM unnest($1::uuid[]) AS d (id) RETURNING id, delivery_ids)
       INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, message_id, event_type, subject_id, manual,
         status, attempts, max_attempts, next_attempt_at, created_at, updated_at)
       SELECT d.id, $2, 'test', $3, m.id, 'charge.paid', gen_random_uuid(), $4, $5, $6, $7,
         $8::timestamptz - make_interval(secs => $9 - number), $8, $8
       FROM unnest($1::uuid[]) WITH ORDINALITY AS d (id, number) JOIN made m ON m.delivery_ids = ARRAY[d.id]`,
      [ids, accountId, endpointId, manual, status, attempts, maxAttempts, dueAt, count],
    );
    return ids;
  }

  const rows = (): Promise<DeliveryRow[]> => service.sql<DeliveryRow>('SELECT * FROM webhook_deliveries ORDER BY id');
  const row = async (id: string): Promise<DeliveryRow | undefined> => (await rows()).find((found) => found.id === id);
  const health = async (id: string): Promise<EndpointRow | undefined> =>
    (await service.sql<EndpointRow>('SELECT * FROM webhook_endpoints WHERE id = $1', [id]))[0];

  async function claim(endpointId: string, allowance: number, worker = 0): Promise<ClaimedDelivery[]> {
    return (await queues[worker]?.claim([{ endpointId, allowance }])) ?? [];
  }
  /** Looks for waiting endpoints and cancels deliveries of inactive ones, as a worker does. */
  async function look(worker = 0): Promise<string[]> {
    const { waiting = [], inactive = [] } = (await queues[worker]?.look()) ?? {};
    await queues[worker]?.cancel(inactive);
    return waiting.map(({ endpointId }) => endpointId);
  }

  function outcome(delivery: ClaimedDelivery, statusCode: number | null, over: Partial<Outcome> = {}): Outcome {
    const now = service.clock.now();
    const error = statusCode === 200 ? null : statusCode === null ? 'connection refused' : `HTTP ${statusCode}`;
    return {
      delivery,
      attempt: { startedAt: now, durationMs: 7, statusCode, error, responseBody: null, isSigned: true },
      status: statusCode === 200 ? 'DELIVERED' : statusCode === 410 ? 'FAILED' : 'PENDING',
      nextAttemptAt: statusCode === 200 || statusCode === 410 ? null : new Date(now.getTime() + 10_000),
      endedAt: now,
      ...over,
    };
  }

  describe('claims', () => {
    it('are disjoint between workers, count the attempt and carry a lease', async () => {
      const endpoints = await Promise.all([endpoint(), endpoint(), endpoint()]);
      for (const id of endpoints) await deliveries(id, 60);
      const asks = endpoints.map((endpointId) => ({ endpointId, allowance: 7 }));
      const claimed: ClaimedDelivery[] = [];
      // Several claims at once in each process, more than a dispatcher ever makes.
      await Promise.all(
        [0, 1, 0, 1, 0, 1].map(async (worker) => {
          for (;;) {
            const got = (await queues[worker]?.claim(asks)) ?? [];
            claimed.push(...got);
            if ((await rows()).every(({ status }) => status === 'PROCESSING')) return;
          }
        }),
      );
      expect(claimed).toHaveLength(180);
      expect(new Set(claimed.map(({ id }) => id)).size).toBe(180);
      const lease = service.clock.now().getTime() + TIMEOUT_SECONDS * 1000;
      for (const { attempts, next_attempt_at } of await rows()) {
        expect(attempts).toBe(1);
        // Longer than any attempt, with time to record it.
        expect(next_attempt_at?.getTime()).toBeGreaterThan(lease + 10_000);
      }
    });

    it('take the oldest deliveries up to the limit, and none that is not due', async () => {
      const id = await endpoint();
      const [first, second, third] = await deliveries(id, 3);
      await deliveries(id, 5, { dueAt: ago(-60) });
      expect((await claim(id, 2)).map((delivery) => delivery.id).sort()).toEqual([first, second].sort());
      expect((await claim(id, 5)).map((delivery) => delivery.id)).toEqual([third]);
      expect(await claim(id, 5)).toEqual([]);
      expect(await look()).toEqual([]);
    });

    it('return the data that the sender needs, with the account’s default secret for a transaction’s own URL', async () => {
      const until = ago(-3600);
      const id = await endpoint({
        secret_sealed: Buffer.from('new'),
        previous_secret_sealed: Buffer.from('old'),
        previous_secret_until: until,
      });
      const direct = await endpoint({ kind: 'direct', secret_sealed: Buffer.from(''), url: 'http://direct.example/' });
      await service.sql(
        `INSERT INTO webhook_default_secrets VALUES ($1, 'test', 'd-new', 'd-old', $2, $2, $2), ($1, 'live', 'wrong', NULL, NULL, $2, $2)`,
        [accountId, until],
      );
      await deliveries(id, 1);
      await deliveries(direct, 1);
      expect(await claim(id, 1)).toMatchObject([
        {
          eventType: 'charge.paid',
          payload: '{}',
          attempts: 1,
          maxAttempts: 4,
          endpoint: {
            id,
            accountId,
            mode: 'test',
            url: 'http://receiver.example/',
            kind: 'registered',
            secretSealed: Buffer.from('new'),
            previousSecretSealed: Buffer.from('old'),
            previousSecretUntil: until,
          },
        },
      ]);
      expect(await claim(direct, 1)).toMatchObject([
        {
          endpoint: {
            kind: 'direct',
            secretSealed: Buffer.from('d-new'),
            previousSecretSealed: Buffer.from('d-old'),
            previousSecretUntil: until,
          },
        },
      ]);
    });

    it('alternate between new and failed deliveries, each oldest first, so that neither blocks the other', async () => {
      const id = await endpoint();
      const again = await deliveries(id, 40, { attempts: 2, dueAt: ago(600) });
      const byHand = await deliveries(id, 40, { manual: true, dueAt: ago(300) });
      const fresh = await deliveries(id, 40);
      const got = (await claim(id, 10)).map((delivery) => delivery.id);
      expect(got.filter((found) => fresh.includes(found)).sort()).toEqual(fresh.slice(0, 5).sort());
      expect(got.filter((found) => again.includes(found)).sort()).toEqual(again.slice(0, 5).sort());
      expect(got.filter((found) => byHand.includes(found))).toEqual([]);
      // With room for one delivery its line is drawn: forty draws reach both.
      const ones = new Set<boolean>();
      for (let n = 0; n < 40; n++) for (const delivery of await claim(id, 1)) ones.add(fresh.includes(delivery.id));
      expect(ones.size).toBe(2);
      // If one line has too few deliveries, the other line gets the rest of the places.
      const rest = (await claim(id, 200)).map((delivery) => delivery.id);
      expect(new Set([...got, ...rest]).size).toBe(10 + rest.length);
      expect(rest).toHaveLength(120 - 10 - 40);
    });

    it('skip a paused endpoint; after the pause all processes send one probe, and then none for a while', async () => {
      const id = await endpoint({ failures: 7, failing_since: ago(60), paused_until: ago(-30) });
      await deliveries(id, 20);
      expect([await look(0), await look(1)]).toEqual([[], []]);
      expect([await claim(id, 8, 0), await claim(id, 8, 1)]).toEqual([[], []]);
      expect((await rows()).map(({ status, attempts }) => ({ status, attempts }))).toEqual(
        Array.from({ length: 20 }, () => ({ status: 'PENDING', attempts: 0 })),
      );
      advance(31);
      expect([await look(0), await look(1)]).toEqual([[id], [id]]);
      const probes = await Promise.all([0, 1, 0, 1].map((worker) => claim(id, 8, worker)));
      expect(probes.flat()).toHaveLength(1);
      expect([await look(0), await claim(id, 8, 1)]).toEqual([[], []]);
      // The probing process is gone: another one probes, and no sooner than an attempt could have ended.
      advance(TIMEOUT_SECONDS);
      expect(await claim(id, 8, 1)).toEqual([]);
      advance(6);
      expect(await claim(id, 8, 1)).toHaveLength(1);
    });

    it('skip an INACTIVE endpoint, whose waiting deliveries the next poll cancels, due or not', async () => {
      const id = await endpoint({ status: 'INACTIVE' });
      const well = await endpoint();
      await deliveries(id, 3);
      await deliveries(id, 2, { attempts: 1, dueAt: ago(-3600) });
      const [held] = await deliveries(id, 1, { status: 'PROCESSING', attempts: 1, dueAt: ago(-30) });
      await deliveries(well, 1);
      expect(await claim(id, 8)).toEqual([]);
      expect(await look()).toEqual([well]);
      const ofIt = (await rows()).filter((found) => found['endpoint_id'] === id);
      expect(ofIt.filter(({ status }) => status === 'CANCELLED')).toHaveLength(5);
      expect(ofIt.find((found) => found.id === held)).toMatchObject({ status: 'PROCESSING' });
      expect(ofIt[0]).toMatchObject({ next_attempt_at: null, last_error: 'the endpoint is inactive' });
    });

    it('cancel deliveries of an INACTIVE endpoint in steps, even when none is due', async () => {
      const id = await endpoint({ status: 'INACTIVE' });
      await deliveries(id, 2_500, { attempts: 1, dueAt: ago(-36_000) });
      await look();
      expect(new Set((await rows()).map(({ status }) => status))).toEqual(new Set(['CANCELLED']));
    });

    it('can be handed back without a trace', async () => {
      const id = await endpoint();
      const due = { fresh: ago(7), again: ago(8) };
      const [fresh] = await deliveries(id, 1, { dueAt: due.fresh });
      const [again] = await deliveries(id, 1, { attempts: 2, dueAt: due.again });
      const claimed = await claim(id, 2);
      await queues[0]?.handBack(claimed);
      // Each keeps its place in its line.
      expect(await row(fresh ?? '')).toMatchObject({ status: 'PENDING', attempts: 0, next_attempt_at: due.fresh });
      expect(await row(again ?? '')).toMatchObject({ status: 'PENDING', attempts: 2, next_attempt_at: due.again });
      expect(await claim(id, 2, 1)).toHaveLength(2);
    });

    it('cannot be handed back by a worker whose lease has run out', async () => {
      const id = await endpoint();
      const [delivery] = await deliveries(id, 1);
      const late = await claim(id, 1);
      await service.sql(`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 second'`);
      await look();
      await queues[0]?.handBack(late);
      expect(await row(delivery ?? '')).toMatchObject({ status: 'PENDING', attempts: 1 });
      expect(await claim(id, 1, 1)).toHaveLength(1);
      await queues[0]?.handBack(late);
      expect(await row(delivery ?? '')).toMatchObject({ status: 'PROCESSING', attempts: 2 });
    });
  });

  describe('a poll', () => {
    it('gives back deliveries of a dead worker, and fails one that kills its workers', async () => {
      const id = await endpoint();
      const [lost] = await deliveries(id, 1, { status: 'PROCESSING', attempts: 2, dueAt: ago(1) });
      const [last] = await deliveries(id, 1, { status: 'PROCESSING', attempts: 4, dueAt: ago(1) });
      const [deadly] = await deliveries(id, 1, { status: 'PROCESSING', attempts: 5, dueAt: ago(1) });
      const [held] = await deliveries(id, 1, { status: 'PROCESSING', attempts: 1, dueAt: ago(-1) });
      expect(await look()).toEqual([id]);
      const interrupted = 'the attempt was interrupted; its outcome is not known';
      expect(await row(lost ?? '')).toMatchObject({ status: 'PENDING', attempts: 2, last_error: interrupted });
      expect(await row(last ?? '')).toMatchObject({ status: 'PENDING', attempts: 4 });
      expect(await row(deadly ?? '')).toMatchObject({ status: 'FAILED', attempts: 5, next_attempt_at: null });
      expect(await row(held ?? '')).toMatchObject({ status: 'PROCESSING' });
    });

    it('uses the clock of the database, so that a worker with a wrong clock takes nothing from others', async () => {
      class WrongClock extends Clock {
        override now(): Date {
          return new Date(super.now().getTime() + 120_000);
        }
      }
      const clock = new WrongClock();
      const ahead = await TestService.start({
        env: { ROLE: 'api' },
        database: service.database,
        overrides: { clock },
      });
      queues.push(ahead.get(DeliveryQueue));
      const [mine, its] = [await endpoint(), await endpoint()];
      await deliveries(mine, 1);
      await deliveries(its, 1);
      expect(await claim(mine, 1)).toHaveLength(1);
      expect(await claim(its, 1, 2)).toHaveLength(1);
      await look(2);
      expect((await rows()).map(({ status }) => status)).toEqual(['PROCESSING', 'PROCESSING']);
      // A delivery that the worker never ends comes back in time.
      advance(TIMEOUT_SECONDS + 16);
      await look();
      expect((await rows()).map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
      queues.pop();
      await ahead.stop();
    });

    it('reports how long the oldest delivery has waited', async () => {
      expect((await queues[0]?.look())?.lagMs).toBe(0);
      await deliveries(await endpoint(), 3, { dueAt: ago(40) });
      await deliveries(await endpoint({ failures: 9, paused_until: ago(-60) }), 1, { dueAt: ago(4000) });
      const lag = (await queues[0]?.look())?.lagMs ?? 0;
      expect(lag).toBeGreaterThanOrEqual(42_000);
      expect(lag).toBeLessThan(60_000);
    });

    it('covers any number of endpoints in steps, new and failed deliveries, without missing one', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 23; n++) {
        const id = await endpoint();
        if (n % 3 !== 1) await deliveries(id, 2);
        if (n % 3 !== 2) await deliveries(id, 2, { attempts: 1, dueAt: n % 6 === 0 ? ago(-60) : ago(0) });
        if (n % 3 !== 1 || n % 6 !== 0) ids.push(id);
      }
      const repository = service.get(DeliveryQueueRepository);
      const found: string[] = [];
      let steps = 0;
      for (let after: string | null = '00000000-0000-0000-0000-000000000000'; after !== null; steps++) {
        const from: string = after;
        const step = await service
          .get(Database)
          .transaction((tx) => repository.waiting(tx, service.clock.now(), from, 4));
        found.push(...step.endpoints.map(({ endpointId }) => endpointId));
        after = step.next;
      }
      expect([...new Set(found)].sort()).toEqual(ids.sort());
      expect(steps).toBeGreaterThan(4);
      expect(steps).toBeLessThan(20);
    });
  });

  it('reads few rows however much waits, with plans from when the table was empty', async () => {
    // Statistics of an empty table would be trusted until the next ones, a minute later.
    await service.sql('ALTER TABLE webhook_deliveries SET (autovacuum_enabled = off)');
    // Uses one connection, since it owns its prepared statements and plans.
    const source = createDataSource({ url: service.database.url, pool: 1 });
    await source.initialize();
    const repository = new DeliveryQueueRepository();
    const touched = read(
      'spec.rows_read',
      `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables
       WHERE relname = 'webhook_deliveries'`,
    );
    /** Looks, claims and records. @returns rows of the table that were touched, and the claimed deliveries */
    const work = async (ids: string[]): Promise<{ rows: number; claimed: number }> =>
      new Database(source).transaction(async (tx) => {
        const now = service.clock.now();
        repository.byIndex(tx);
        repository.release(tx, now, 0, 100, true);
        await repository.waiting(tx, now, '00000000-0000-0000-0000-000000000000', 100);
        const from = { fresh: 0, again: 0 };
        const asks = ids.map((endpointId) => ({ endpointId, allowance: 4, from }));
        const claimed = await repository.claim(tx, asks, { now, leaseMs: 0, probedUntil: now }, false);
        repository.finish(
          tx,
          claimed.map((delivery) => outcome(delivery, 200)),
        );
        const [counts] = await tx.query<{ rows: number }>(touched, []);
        return { rows: counts?.rows ?? Number.NaN, claimed: claimed.length };
      });
    const ids = [await endpoint(), await endpoint()];
    const [big = '', small = ''] = ids;
    for (let n = 0; n < 8; n++) expect(await work(ids)).toEqual({ rows: 0, claimed: 0 });
    await deliveries(big, 20_000);
    await deliveries(big, 20_000, { attempts: 3 });
    await deliveries(small, 1);
    for (let n = 0; n < 5; n++) {
      const done = await work(ids);
      expect(done.claimed).toBe(n === 0 ? 5 : 4);
      expect(done.rows).toBeGreaterThan(5);
      expect(done.rows).toBeLessThan(400); // of 40 000
    }
    await source.destroy();
  });

  describe('deliveries below the position of a claim', () => {
    /** Hands a delivery back, as another worker does. */
    const handedBack = async (id: string, attempts = 0): Promise<string> =>
      (await deliveries(id, 1, { attempts, dueAt: ago(120) }))[0] ?? '';

    it('are found within seconds by later claims, even behind deliveries of others and after a pause', async () => {
      const endpoints = await Promise.all(Array.from({ length: 12 }, () => endpoint()));
      const paused = await endpoint();
      for (const id of endpoints) {
        await deliveries(id, 1, { attempts: 1 });
        expect(await claim(id, 5)).toHaveLength(1);
      }
      await deliveries(paused, 1);
      expect(await claim(paused, 5)).toHaveLength(1);
      const late = await Promise.all(endpoints.map((id) => handedBack(id, 1)));
      for (const id of endpoints) await deliveries(id, 60);
      await handedBack(paused);
      expect(await claim(paused, 5)).toEqual([]);
      await delay(5_100);

      // The first line is drawn: within twenty claims of one each, both have their turn.
      for (const [index, id] of endpoints.entries()) {
        let claims = 0;
        for (let found = false; !found; claims++) {
          expect(claims).toBeLessThan(20);
          found = (await claim(id, 1)).some((delivery) => delivery.id === late[index]);
        }
      }
      const until = new Date(service.clock.now().getTime() + 60_000);
      await service.sql('UPDATE webhook_endpoints SET paused_until = $2 WHERE id = $1', [paused, until]);
      expect(await claim(paused, 5)).toEqual([]);
      await service.sql('UPDATE webhook_endpoints SET paused_until = NULL WHERE id = $1', [paused]);
      expect(await claim(paused, 5)).toHaveLength(1);
    });
  });

  describe('outcomes', () => {
    async function claimed(endpointId: string, count = 1): Promise<ClaimedDelivery[]> {
      await deliveries(endpointId, count);
      return claim(endpointId, count);
    }

    it('are written with their attempts, even when written twice', async () => {
      const id = await endpoint();
      const [good, bad] = await claimed(id, 2);
      if (!good || !bad) throw new Error('unreachable');
      const batch = [outcome(good, 200), outcome(bad, 500)];
      await outcomes.write(batch);
      await outcomes.write(batch);
      expect(await row(good.id)).toMatchObject({
        status: 'DELIVERED',
        attempts: 1,
        last_status_code: 200,
        last_error: null,
        next_attempt_at: null,
        delivered_at: batch[0]?.endedAt,
      });
      expect(await row(bad.id)).toMatchObject({
        status: 'PENDING',
        attempts: 1,
        last_status_code: 500,
        last_error: 'HTTP 500',
        next_attempt_at: batch[1]?.nextAttemptAt,
        delivered_at: null,
      });
      const attempts = await service.sql(
        'SELECT delivery_id, number, account_id, duration_ms, status_code, error FROM webhook_attempts ORDER BY status_code',
      );
      expect(attempts).toEqual([
        { delivery_id: good.id, number: 1, account_id: accountId, duration_ms: 7, status_code: 200, error: null },
        { delivery_id: bad.id, number: 1, account_id: accountId, duration_ms: 7, status_code: 500, error: 'HTTP 500' },
      ]);
    });

    it('are ignored from a worker whose lease has run out', async () => {
      const id = await endpoint();
      const [late] = await claimed(id);
      advance(60);
      await look();
      const [again] = await claim(id, 1, 1);
      if (!late || !again) throw new Error('unreachable');
      expect(again.attempts).toBe(2);
      await outcomes.write([outcome(late, 500, { status: 'FAILED', nextAttemptAt: null })]);
      expect(await row(late.id)).toMatchObject({ status: 'PROCESSING', attempts: 2 });
      await other.get(OutcomesService).write([outcome(again, 200)]);
      await outcomes.write([outcome(late, 500, { status: 'FAILED', nextAttemptAt: null })]);
      expect(await row(late.id)).toMatchObject({ status: 'DELIVERED', attempts: 2 });
      expect(await service.sql('SELECT number, status_code FROM webhook_attempts ORDER BY number')).toEqual([
        { number: 1, status_code: 500 },
        { number: 2, status_code: 200 },
      ]);
    });

    it('count a success of an endpoint that was switched off, and cancel its retries', async () => {
      const id = await endpoint();
      const [good, bad] = await claimed(id, 2);
      if (!good || !bad) throw new Error('unreachable');
      await service.sql(`UPDATE webhook_endpoints SET status = 'INACTIVE' WHERE id = $1`, [id]);
      await outcomes.write([outcome(good, 200), outcome(bad, 500)]);
      expect(await row(good.id)).toMatchObject({ status: 'DELIVERED' });
      expect(await row(bad.id)).toMatchObject({ status: 'CANCELLED', next_attempt_at: null, last_error: 'HTTP 500' });
      expect(await health(id)).toMatchObject({ failures: 0, paused_until: null });
    });

    it('open the circuit breaker, and close it', async () => {
      const id = await endpoint();
      const [one, two, ...more] = await claimed(id, 8);
      if (!one || !two) throw new Error('unreachable');
      await outcomes.write(more.map((delivery) => outcome(delivery, 503)));
      const open = await health(id);
      expect(open).toMatchObject({ failures: 6 });
      expect(open?.failing_since).not.toBeNull();
      const pause = ((open?.paused_until?.getTime() ?? 0) - (open?.failing_since?.getTime() ?? 0)) / 1000;
      expect(pause).toBeGreaterThan(3);
      expect(pause).toBeLessThan(7);
      await outcomes.write([outcome(one, 200)]);
      expect(await health(id)).toMatchObject({ failures: 0, failing_since: null, paused_until: null });
      await outcomes.write([outcome(two, 404)]);
      expect(await health(id)).toMatchObject({ failures: 1, paused_until: null });
    });

    it('count all failures of batches that workers write at once, in any order', async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, () => endpoint()));
      const all: ClaimedDelivery[] = [];
      for (const id of ids) all.push(...(await claimed(id, 12)));
      const batches = Array.from({ length: 12 }, (_, n) => {
        const batch = ids.flatMap((id) => all.filter(({ endpoint: { id: of } }) => of === id).slice(n, n + 1));
        return n % 2 === 0 ? batch : batch.reverse();
      });
      await Promise.all(
        batches.map((batch, n) =>
          (n % 3 === 0 ? other.get(OutcomesService) : outcomes).write(batch.map((delivery) => outcome(delivery, null))),
        ),
      );
      for (const id of ids) expect(await health(id)).toMatchObject({ failures: 12 });
      expect((await rows()).every(({ status, attempts }) => status === 'PENDING' && attempts === 1)).toBe(true);
    });

    it('do not count for an address that was changed meanwhile, or without a signature', async () => {
      const moved = await endpoint();
      const [old] = await claimed(moved);
      await service.sql(`UPDATE webhook_endpoints SET url = 'http://new.example/' WHERE id = $1`, [moved]);
      const unsigned = await endpoint();
      const [silent] = await claimed(unsigned);
      if (!old || !silent) throw new Error('unreachable');
      const lost = outcome(silent, null);
      await outcomes.write([outcome(old, 410), { ...lost, attempt: { ...lost.attempt, isSigned: false } }]);
      expect(await health(moved)).toMatchObject({ status: 'ACTIVE', failures: 0 });
      expect(await row(old.id)).toMatchObject({ status: 'FAILED' });
      expect(await health(unsigned)).toMatchObject({ status: 'ACTIVE', failures: 0 });
      expect(await row(silent.id)).toMatchObject({ status: 'PENDING', attempts: 1 });
    });

    it('with 410 switch the endpoint off and cancel its deliveries; for a transaction’s own URL only that one ends', async () => {
      const id = await endpoint();
      const direct = await endpoint({ kind: 'direct', url: 'http://direct.example/' });
      for (const each of [id, direct]) {
        const [gone] = await claimed(each);
        await deliveries(each, 3);
        if (gone) await outcomes.write([outcome(gone, 410)]);
        expect(await row(gone?.id ?? '')).toMatchObject({ status: 'FAILED', last_status_code: 410 });
      }
      expect(await health(id)).toMatchObject({ status: 'INACTIVE' });
      expect(await health(direct)).toMatchObject({ status: 'ACTIVE' });
      await look();
      const waiting = (await rows()).filter(({ attempts }) => attempts === 0);
      expect(waiting.filter((found) => found['endpoint_id'] === id).map(({ status }) => status)).toEqual(
        Array.from({ length: 3 }, () => 'CANCELLED'),
      );
      expect(waiting.filter((found) => found['endpoint_id'] === direct).map(({ status }) => status)).toEqual(
        Array.from({ length: 3 }, () => 'PENDING'),
      );
    });

    it('cause no deadlock while a merchant switches endpoints off, on and over', async () => {
      const ids = await Promise.all(Array.from({ length: 4 }, () => endpoint()));
      const work = ids.flatMap((id, n) => [
        (async () => {
          for (let round = 0; round < 6; round++) {
            await deliveries(id, 10);
            const got = (await queues[n % 2]?.claim(ids.map((endpointId) => ({ endpointId, allowance: 4 })))) ?? [];
            await (n % 2 === 0 ? outcomes : other.get(OutcomesService)).write(
              got.map((delivery, at) => outcome(delivery, at % 2 === 0 ? 200 : 500)),
            );
          }
        })(),
        (async () => {
          for (let round = 0; round < 6; round++) {
            for (const status of ['INACTIVE', 'ACTIVE'] as const) {
              await service
                .get(EndpointsService)
                .update({ accountId, mode: 'test' }, id, new Draft({ status }), SYSTEM);
              await look(round % 2);
            }
          }
        })(),
      ]);
      await Promise.all(work);
      const statuses = new Set((await rows()).map(({ status }) => status));
      expect(statuses.has('PROCESSING')).toBe(false);
    });
  });

  describe('during a long cancellation of an endpoint’s deliveries', () => {
    const LOCK = 4711;
    let holder: pg.Client;

    beforeEach(async () => {
      holder = new pg.Client({ connectionString: service.database.ownerUrl });
      await holder.connect();
      await holder.query(`
        CREATE FUNCTION spec_wait() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN PERFORM pg_advisory_xact_lock_shared(${LOCK}); RETURN NEW; END $$;
        CREATE TRIGGER spec_wait BEFORE UPDATE ON webhook_deliveries FOR EACH ROW
          WHEN (OLD.status = 'PENDING' AND NEW.status = 'CANCELLED') EXECUTE FUNCTION spec_wait();
        SELECT pg_advisory_lock(${LOCK})`);
    });
    afterEach(async () => {
      await holder.query(`DROP FUNCTION spec_wait CASCADE`);
      await holder.end();
    });
    const release = (): Promise<unknown> => holder.query(`SELECT pg_advisory_unlock(${LOCK})`);
    const isWaiting = async (): Promise<boolean> =>
      (await service.sql(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${LOCK} AND NOT granted`))
        .length > 0;

    /** Makes a backlog of one endpoint, with one delivery of it and one of a good endpoint under way. */
    async function underWay(): Promise<{ id: string; bad: ClaimedDelivery; good: ClaimedDelivery; other: string }> {
      const [id, other] = [await endpoint(), await endpoint()];
      await deliveries(id, 35);
      await deliveries(other, 2);
      const [[bad], [good]] = [await claim(id, 1), await claim(other, 1)];
      if (!bad || !good) throw new Error('unreachable');
      return { id, bad, good, other };
    }
    const waiting = async (id: string): Promise<string[]> =>
      (await rows()).filter((found) => found['endpoint_id'] === id && found.attempts === 0).map(({ status }) => status);
    const all = (status: string): string[] => Array.from({ length: 34 }, () => status);

    it('a 410 is recorded with the outcomes of others, and polls go on', async () => {
      const { id, bad, good, other: healthy } = await underWay();
      await outcomes.write([outcome(bad, 410), outcome(good, 200)]);
      expect(await health(id)).toMatchObject({ status: 'INACTIVE' });
      expect([await row(bad.id), await row(good.id)]).toMatchObject([{ status: 'FAILED' }, { status: 'DELIVERED' }]);
      const { waiting: found, inactive } = (await queues[0]?.look()) ?? {};
      expect([found?.map(({ endpointId }) => endpointId), inactive]).toEqual([[healthy], [id]]);
      const cancelled = queues[0]?.cancel([id]);
      await waitFor('the cancelling', isWaiting);
      expect(await queues[1]?.look()).toMatchObject({ inactive: [id] });
      expect(await waiting(id)).toEqual(all('PENDING'));
      await release();
      await cancelled;
      expect(await waiting(id)).toEqual(all('CANCELLED'));
    });

    it('an endpoint without success for five days is switched off without waiting', async () => {
      const { id, bad, good } = await underWay();
      await service.sql('UPDATE webhook_endpoints SET failures = 19, failing_since = $2 WHERE id = $1', [
        id,
        ago(6 * 24 * 3600),
      ]);
      await outcomes.write([outcome(bad, 500), outcome(good, 200)]);
      expect(await health(id)).toMatchObject({ status: 'INACTIVE' });
      expect(await service.sql('SELECT status FROM emails')).toHaveLength(1);
      expect(await row(good.id)).toMatchObject({ status: 'DELIVERED' });
      await release();
    });

    it.each(['PATCH', 'DELETE'])('the outcomes of the endpoint are recorded at once after a %s', async (method) => {
      const { id, bad, good } = await underWay();
      const scope = { accountId, mode: 'test' } as const;
      const endpoints = service.get(EndpointsService);
      const answer =
        method === 'PATCH'
          ? endpoints.update(scope, id, new Draft({ status: 'INACTIVE' }), SYSTEM)
          : endpoints.remove(scope, id, SYSTEM);
      await waitFor('the cancelling', isWaiting);
      await outcomes.write([outcome(bad, 500), outcome(good, 200)]);
      expect([await row(bad.id), await row(good.id)]).toMatchObject([{ status: 'CANCELLED' }, { status: 'DELIVERED' }]);
      expect(await waiting(id)).toEqual(all('PENDING'));
      await release();
      await answer;
      expect(await waiting(id)).toEqual(all('CANCELLED'));
    });
  });

  describe('an endpoint without a success for five days', () => {
    const FIVE_DAYS = 5 * 24 * 3600;

    async function hopeless(values: Record<string, unknown> = {}): Promise<{ id: string; held: ClaimedDelivery[] }> {
      const id = await endpoint({ url: 'https://shop.example/hook?a=<b>&c', ...values });
      await deliveries(id, 3);
      const held = await claim(id, 2);
      await service.sql('UPDATE webhook_endpoints SET failures = 19, failing_since = $2 WHERE id = $1', [
        id,
        ago(FIVE_DAYS),
      ]);
      return { id, held };
    }
    const mails = (): Promise<Record<string, string>[]> => service.sql('SELECT * FROM emails ORDER BY id');

    it('is switched off at its twentieth failure, with one mail, though two workers find it at once', async () => {
      const { id, held } = await hopeless();
      await Promise.all(
        held.map((delivery, n) => (n === 0 ? outcomes : other.get(OutcomesService)).write([outcome(delivery, 500)])),
      );
      expect(await health(id)).toMatchObject({ status: 'INACTIVE' });
      await look();
      expect((await rows()).map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
      const [mail, ...more] = await mails();
      expect(more).toEqual([]);
      expect(mail).toMatchObject({ recipient: 'contact@example.com', account_id: accountId, status: 'pending' });
      const since = ago(FIVE_DAYS).toISOString().slice(0, 13).replace('T', ' ');
      for (const text of ['https://shop.example/hook?a=<b>&c', 'HTTP 500', since, `/v1/webhooks/endpoints/wh_${id}`]) {
        // In Portuguese and in English.
        expect(mail?.['text_body']?.split(text).length).toBeGreaterThanOrEqual(3);
      }
      expect(mail?.['text_body']).toMatch(/PATCH .*\{"status": "ACTIVE"\}/);
      expect(mail?.['text_body']).toMatch(/POST .*\/recover /);
      expect(mail?.['html_body']).not.toContain('<b>');
      expect(mail?.['html_body']).toContain('https://shop.example/hook?a=&lt;b&gt;&amp;c');
    });

    it('stays on after a success, and always for the address of a single transaction', async () => {
      const { id, held } = await hopeless();
      const [one, two] = held;
      if (!one || !two) throw new Error('unreachable');
      await outcomes.write([outcome(one, 200), outcome(two, 500)]);
      expect(await health(id)).toMatchObject({ status: 'ACTIVE', failures: 1 });
      const direct = await hopeless({ kind: 'direct' });
      await outcomes.write(direct.held.map((delivery) => outcome(delivery, 500)));
      expect(await health(direct.id)).toMatchObject({ status: 'ACTIVE', failures: 21 });
      expect(await mails()).toEqual([]);
    });

    it('stays on when a late worker finds that it works again', async () => {
      const { id } = await hopeless();
      await service.sql('UPDATE webhook_endpoints SET failures = 3 WHERE id = $1', [id]);
      const [last] = await claim(id, 1);
      if (last) await outcomes.write([outcome(last, 500)]);
      expect(await health(id)).toMatchObject({ status: 'ACTIVE', failures: 4 });
      expect(await mails()).toEqual([]);
    });
  });
});
