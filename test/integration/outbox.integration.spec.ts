import { afterAll, beforeEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/core/clock.js';
import { readConfig } from '../../src/core/config/index.js';
import { type Database, type Reader, statement, type Tx } from '../../src/core/database/index.js';
import { InProcessJobQueue } from '../../src/core/queue/in-process-job-queue.js';
import { Poller } from '../../src/core/queue/index.js';
import {
  type DomainEvent,
  type EventConsumer,
  OutboxRepository,
  OutboxService,
  Relay,
} from '../../src/outbox/index.js';
import { transactionEvent } from '../../src/transactions/transaction.events.js';
import { aTransaction } from '../support/a-transaction.js';
import { barrier, SILENT, TestSchema } from '../support/schema.js';
import { TestClock } from '../support/service.js';

const CONSUME = statement('spec.consume', 'INSERT INTO consumed (relay, event_id) SELECT $1, unnest($2::uuid[])');
const raw = (text: string): ReturnType<typeof statement> => statement('', text);

/** Writes down who consumed what, in the relay's transaction as the real consumer does. */
class Recorder implements EventConsumer {
  calls = 0;
  committed = 0;

  constructor(
    private readonly name: string,
    private readonly before: (events: readonly DomainEvent[]) => Promise<void> | void = () => undefined,
  ) {}

  async consume(tx: Tx, events: readonly DomainEvent[]): Promise<() => void> {
    this.calls++;
    tx.defer(CONSUME, [this.name, events.map((event) => event.id)]);
    await this.before(events);
    return () => {
      this.committed += events.length;
    };
  }
}

describe('the outbox', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;
  let clock: TestClock;
  const config = readConfig({ DATABASE_URL: 'postgres://unused/unused', ROLE: 'worker' });

  beforeAll(async () => {
    // No unique constraint: an event that two relays consume must be seen, not refused.
    schema = await TestSchema.open('CREATE TABLE consumed (relay text, event_id uuid)');
    ({ database, reader } = await schema.connect(4));
  });
  afterAll(() => schema.close());
  beforeEach(async () => {
    clock = new TestClock();
    await reader.query(raw('TRUNCATE consumed'), []);
    await reader.query(raw('TRUNCATE events'), []);
  });

  /** As in a process of its own, with its own connections. */
  async function relay(consumer: EventConsumer): Promise<Relay> {
    const own = await schema.connect(2);
    const made = new Relay(
      config,
      own.database,
      new OutboxRepository(own.reader),
      new InProcessJobQueue({ logger: SILENT }),
      new Poller({ logger: SILENT }),
      clock,
      SILENT,
    );
    made.setConsumer(consumer);
    return made;
  }

  async function record(count: number, wakes: { wake(): void } = { wake: () => undefined }): Promise<void> {
    const outbox = new OutboxService(new OutboxRepository(reader), wakes as Relay, clock);
    const event = transactionEvent('transaction.created', aTransaction(), null);
    await database.transaction(async (tx) =>
      outbox.record(
        tx,
        Array.from({ length: count }, () => event),
      ),
    );
  }

  const consumed = (): Promise<{ relay: string; event_id: string }[]> =>
    reader.query(raw('SELECT relay, event_id FROM consumed'), []);
  const pending = (): Promise<{ id: string; late: boolean }[]> =>
    reader.query(raw(`SELECT id, next_attempt_at > occurred_at AS late FROM events WHERE status = 'pending'`), []);

  it('gives each event to exactly one of four relays', async () => {
    for (let batch = 0; batch < 10; batch++) await record(100);
    // Each holds its first batch until all four have one: the claims overlap in time and not in rows.
    const allHold = barrier(4);
    const recorders = ['a', 'b', 'c', 'd'].map((name) => {
      let first = true;
      return new Recorder(name, () => {
        if (!first) return;
        first = false;
        return allHold();
      });
    });
    const relays = await Promise.all(recorders.map(relay));
    await Promise.all(
      relays.map(async (one) => {
        while (await one.run());
      }),
    );
    const rows = await consumed();
    expect(rows).toHaveLength(1000);
    expect(new Set(rows.map((row) => row.event_id)).size).toBe(1000);
    expect(new Set(rows.map((row) => row.relay)).size).toBe(4);
    expect(await pending()).toEqual([]);
    expect(recorders.reduce((sum, { committed }) => sum + committed, 0)).toBe(1000);
  });

  it('keeps an event that cannot be consumed, and lets it hold up nobody', async () => {
    await record(5);
    const [poison] = await reader.query<{ id: string }>(raw('SELECT id FROM events ORDER BY id OFFSET 2 LIMIT 1'), []);
    let isHealed = false;
    const recorder = new Recorder('a', (events) => {
      if (!isHealed && events.some((event) => event.id === poison?.id)) throw new Error('cannot be presented');
    });
    const one = await relay(recorder);
    await one.run();
    expect((await consumed()).map((row) => row.event_id)).toHaveLength(4);
    expect(await pending()).toEqual([{ id: poison?.id, late: true }]);
    expect(recorder.committed).toBe(4);

    // Not tried again at once, and new events go past it in their usual batches.
    const calls = recorder.calls;
    await record(3);
    await one.run();
    expect(recorder.calls).toBe(calls + 1);
    expect(await consumed()).toHaveLength(7);

    // Tried again later, and again as long as it fails.
    clock.advance(61);
    await one.run();
    expect(await pending()).toHaveLength(1);
    isHealed = true;
    clock.advance(61);
    await one.run();
    expect(await pending()).toEqual([]);
    expect(new Set((await consumed()).map((row) => row.event_id)).size).toBe(8);
    expect(await consumed()).toHaveLength(8);
  });

  it('keeps every event when the consumer never succeeds, and comes to an end', async () => {
    await record(7);
    const one = await relay(new Recorder('a', () => Promise.reject(new Error('broken'))));
    await expect(one.run()).resolves.toBe(false);
    expect(await pending()).toHaveLength(7);
    expect(await consumed()).toEqual([]);
  });

  it('gives an event whole: as it was recorded', async () => {
    const got: DomainEvent[] = [];
    await record(1);
    await (await relay(new Recorder('a', (events) => void got.push(...events)))).run();
    expect(got).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        ...transactionEvent('transaction.created', aTransaction(), null),
        occurredAt: expect.any(Date),
      },
    ]);
  });

  it('wakes the relay once for a transaction, after its commit and not after a rollback', async () => {
    let wakes = 0;
    const waker = { wake: () => wakes++ };
    await record(3, waker);
    expect(wakes).toBe(1);
    await record(0, waker);
    expect(wakes).toBe(1);
    const outbox = new OutboxService(new OutboxRepository(reader), waker as unknown as Relay, clock);
    const failed = database.transaction(async (tx) => {
      outbox.record(tx, [transactionEvent('transaction.created', aTransaction(), null)]);
      await tx.query(raw('SELECT 1'), []);
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(wakes).toBe(1);
    expect(await pending()).toHaveLength(3);
  });

  it('does not see what is not committed, and does not lose it either: ids commit out of order', async () => {
    const recorder = new Recorder('a');
    const one = await relay(recorder);
    const outbox = new OutboxService(new OutboxRepository(reader), { wake: () => undefined } as Relay, clock);
    const event = transactionEvent('transaction.created', aTransaction(), null);
    await database.transaction(async (tx) => {
      outbox.record(tx, [event]);
      await tx.query(raw('SELECT 1'), []);
      // A later event is committed and relayed while the earlier one is still open.
      const other = await schema.connect(1);
      await other.source.query(
        `INSERT INTO events (id, account_id, mode, type, subject_id, data, occurred_at, next_attempt_at)
         SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff', $1, 'test', 'transaction.created', $1, '{}', now(), now() - interval '1 s'`,
        [event.accountId],
      );
      await one.run();
      expect(await consumed()).toHaveLength(1);
    });
    await one.run();
    expect(await consumed()).toHaveLength(2);
  });

  it('tells how much waits, and how long', async () => {
    const events = new OutboxRepository(reader);
    expect(await events.lag(new Clock().now())).toEqual({ pending: 0, seconds: 0 });
    await record(3);
    clock.advance(100);
    const lag = await events.lag(clock.now());
    expect(lag.pending).toBe(3);
    expect(lag.seconds).toBeGreaterThanOrEqual(100);
  });
});
