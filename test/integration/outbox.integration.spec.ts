import { afterAll, beforeEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/core/clock.js';
import { FIRST_ID, newId } from '../../src/core/ids.js';
import { SecretBox } from '../../src/core/crypto/index.js';
import { type Database, type Reader, read, write, type Tx } from '../../src/core/database/index.js';
import type { Scope } from '../../src/core/mode.js';
import { JobQueues, Poller } from '../../src/core/queue/index.js';
import {
  type DomainEvent,
  EventCatalog,
  type EventConsumer,
  type NewEvent,
  OutboxRepository,
  OutboxService,
  Relay,
} from '../../src/outbox/index.js';
import { STATUS_EVENTS, transactionEvent } from '../../src/transactions/transaction.events.js';
import { aPaidTransaction, aTransaction } from '../support/a-transaction.js';
import { barrier, SILENT, TestSchema } from '../support/schema.js';
import { TestClock } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const CONSUME = write('spec.consume', 'INSERT INTO consumed (relay, event_id) SELECT $1, unnest($2::uuid[])');
const SPOIL = write('spec.spoil', `UPDATE events SET customer_sealed = 'sealed:gone:AAAA' WHERE id = $1`);
const RETYPE = write('spec.retype', 'UPDATE events SET type = $2 WHERE id = $1');
const raw = (text: string): ReturnType<typeof read> => read('', text);

/** Records which relay consumed which event, in the relay's transaction like the real consumer. */
class Recorder implements EventConsumer {
  calls = 0;
  committed = 0;

  constructor(
    private readonly name: string,
    private readonly before: (events: readonly DomainEvent[]) => Promise<void> | void = () => undefined,
  ) {}

  async consume(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    this.calls++;
    tx.defer(CONSUME, [this.name, events.map((event) => event.id)]);
    await this.before(events);
    tx.afterCommit(() => {
      this.committed += events.length;
    });
  }

  async replay(tx: Tx, events: readonly DomainEvent[]): Promise<number> {
    await this.consume(tx, events);
    return events.length;
  }
}

describe('the outbox', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;
  /** Reads over separate connections while a transaction is open. */
  let watcher: Reader;
  let clock: TestClock;

  beforeAll(async () => {
    // Without a unique constraint, since an event consumed twice must be seen and not refused.
    schema = await TestSchema.open(
      'CREATE TABLE consumed (relay text, event_id uuid); CREATE TABLE subjects (id uuid, step int)',
    );
    ({ database, reader } = await schema.connect(4));
    ({ reader: watcher } = await schema.connect(2));
  });
  afterAll(() => schema.close());
  beforeEach(async () => {
    clock = new TestClock();
    await schema.database.pool.query('TRUNCATE consumed');
    await schema.database.pool.query('TRUNCATE events');
  });

  /** Makes a relay as in a separate process, with connections of its own. */
  async function relay(consumer: EventConsumer): Promise<Relay> {
    const own = await schema.connect(2);
    const poller = new Poller({ logger: SILENT });
    const made = new Relay(
      own.database,
      new OutboxRepository(own.reader, secrets, SILENT),
      known,
      new JobQueues(poller, SILENT),
      poller,
      clock,
      SILENT,
    );
    made.setConsumer(consumer);
    return made;
  }

  const secrets = new SecretBox('f6'.repeat(32));
  const known = new EventCatalog();
  known.registerRefresh(STATUS_EVENTS, async (_, events) => [...events]);

  function outboxWith(
    relay: { wake(): void } = { wake: () => undefined },
    catalog = new EventCatalog(),
  ): OutboxService {
    return new OutboxService(new OutboxRepository(reader, secrets, SILENT), catalog, relay as Relay, clock);
  }

  async function record(count: number, wakes?: { wake(): void }): Promise<void> {
    const outbox = outboxWith(wakes);
    const event = transactionEvent('transaction.created', aTransaction(), null);
    await database.transaction(async (tx) =>
      outbox.record(
        tx,
        Array.from({ length: count }, () => event),
      ),
    );
  }

  const consumed = (): Promise<{ relay: string; event_id: string }[]> =>
    watcher.query(raw('SELECT relay, event_id FROM consumed'), []);
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
    const relays = await Promise.all(recorders.map((recorder) => relay(recorder)));
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

  it('keeps an event that cannot be consumed, and delays no other event', async () => {
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

    // The event is not retried at once, and new events pass it in their usual batches.
    const calls = recorder.calls;
    await record(3);
    await one.run();
    expect(recorder.calls).toBe(calls + 1);
    expect(await consumed()).toHaveLength(7);

    // The event is retried later, as long as it fails.
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

  it('delays no event after the database was away', async () => {
    await record(3);
    let isAway = true;
    const away = (): Error => Object.assign(new Error('terminating connection'), { code: '57P01' });
    const one = await relay(new Recorder('a', () => (isAway ? Promise.reject(away()) : Promise.resolve())));
    await expect(one.run()).rejects.toMatchObject({ code: '57P01' });
    expect((await pending()).map(({ late }) => late)).toEqual([false, false, false]);
    isAway = false;
    await one.run();
    expect(await consumed()).toHaveLength(3);
  });

  it('keeps every event when the consumer always fails, and still ends the run', async () => {
    await record(7);
    const one = await relay(new Recorder('a', () => Promise.reject(new Error('broken'))));
    await expect(one.run()).resolves.toBe(false);
    expect(await pending()).toHaveLength(7);
    expect(await consumed()).toEqual([]);
  });

  it('returns an event exactly as it was recorded', async () => {
    const got: DomainEvent[] = [];
    await record(1);
    await (await relay(new Recorder('a', (events) => void got.push(...events)))).run();
    expect(got).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        ...transactionEvent('transaction.created', aTransaction(), null),
        sequence: 1,
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
    const outbox = outboxWith(waker);
    const failed = database.transaction(async (tx) => {
      outbox.record(tx, [transactionEvent('transaction.created', aTransaction(), null)]);
      await tx.query(raw('SELECT 1'), []);
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(wakes).toBe(1);
    expect(await pending()).toHaveLength(3);
  });

  it('loses no uncommitted event and does not see it early, although ids commit out of order', async () => {
    const recorder = new Recorder('a');
    const one = await relay(recorder);
    const outbox = outboxWith();
    const event = transactionEvent('transaction.created', aTransaction(), null);
    await database.transaction(async (tx) => {
      outbox.record(tx, [event]);
      await tx.query(raw('SELECT 1'), []);
      // A later event is committed and relayed while the earlier one is still open.
      const other = await schema.connect(1);
      await other.source.query(
        `INSERT INTO events (id, account_id, mode, type, subject_id, sequence, data, occurred_at, next_attempt_at)
         SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff', $1, 'test', 'transaction.created', $1, 1, '{}', now(), now() - interval '1 s'`,
        [event.accountId],
      );
      await one.run();
      expect(await consumed()).toHaveLength(1);
    });
    await one.run();
    expect(await consumed()).toHaveLength(2);
  });

  describe('numbers the events of a subject', () => {
    const numbers = (): Promise<{ subject_id: string; sequence: number; step: number }[]> =>
      reader.query(
        raw(`SELECT subject_id, sequence, (data ->> 'step')::int AS step FROM events ORDER BY subject_id, sequence`),
        [],
      );
    const event = (subjectId: string, step: number): NewEvent => ({
      ...transactionEvent('transaction.created', aTransaction({ id: subjectId }), null),
      data: { step } as unknown as NewEvent['data'],
    });
    const SUBJECTS = ['a', 'b', 'c'].map((digit) => `019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5${digit}`);
    const LOCK = raw('UPDATE subjects SET step = step + 1 WHERE id = $1 RETURNING step');

    beforeEach(async () => {
      await schema.database.pool.query('TRUNCATE subjects');
      await reader.query(raw('INSERT INTO subjects SELECT unnest($1::uuid[]), 0'), [SUBJECTS]);
    });

    it('as 1, 2, … in the order of their commits, however many change it at once', async () => {
      const outbox = outboxWith();
      const change = (connection: Database, id: string, then: () => void = () => undefined): Promise<void> =>
        connection.transaction(async (tx) => {
          const [row] = await tx.query<{ step: number }>(LOCK, [id]);
          outbox.record(tx, [event(id, row?.step ?? 0)]);
          then();
        });
      const connections = await Promise.all(Array.from({ length: 4 }, () => schema.connect(4)));
      await Promise.all(
        connections.flatMap(({ database: own }) =>
          Array.from({ length: 60 }, async (_, index) => {
            const id = SUBJECTS[index % 3] ?? '';
            if (index % 10 > 0) return change(own, id);
            const rolledBack = change(own, id, () => {
              throw new Error('rolled back');
            });
            return expect(rolledBack).rejects.toThrow('rolled back');
          }),
        ),
      );
      const rows = await numbers();
      expect(rows).toHaveLength(4 * 54);
      for (const id of SUBJECTS) {
        const own = rows.filter((row) => row.subject_id === id);
        expect(own.map((row) => row.sequence)).toEqual(own.map((_, index) => index + 1));
        expect(own.map((row) => row.step)).toEqual(own.map((row) => row.sequence));
      }
    });

    it('in their order when one transaction writes several, of several subjects', async () => {
      const outbox = outboxWith();
      const [a = '', b = ''] = SUBJECTS;
      await database.transaction(async (tx) => outbox.record(tx, [event(a, 1), event(b, 1), event(a, 2)]));
      await database.transaction(async (tx) => {
        outbox.record(tx, [event(b, 2), event(a, 3)]);
        outbox.record(tx, [event(a, 4), event(b, 3)]);
      });
      const rows = await numbers();
      expect(rows.map(({ subject_id, step }) => [subject_id, step])).toEqual([
        ...[1, 2, 3, 4].map((step) => [a, step]),
        ...[1, 2, 3].map((step) => [b, step]),
      ]);
      expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map(({ step }) => step));
    });

    it('only for a writer that has locked the subject', async () => {
      const outbox = outboxWith();
      const [a = ''] = SUBJECTS;
      const other = await schema.connect(1);
      const refused = await database.transaction(async (tx) => {
        outbox.record(tx, [event(a, 1)]);
        await tx.query(raw('SELECT 1'), []);
        // The second writer does not see the uncommitted number, takes the same one and waits at the index.
        const unlocked = other.database.transaction(async (otherTx) => outbox.record(otherTx, [event(a, 1)]));
        const result = expect(unlocked).rejects.toThrow('events_subject_key');
        await waitFor('the other one to wait', async () => {
          const waiting = raw(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return (await watcher.query(waiting, [])).length === 1;
        });
        return { result };
      });
      await refused.result;
      expect(await numbers()).toHaveLength(1);
    });
  });

  describe('replays an event', () => {
    const [first = '', second = ''] = ['1', '2'].map((digit) => `019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5${digit}`);
    const scope = { accountId: aTransaction().accountId, mode: 'test' } as const;
    const paid = (id: string): NewEvent => transactionEvent('transaction.paid', aPaidTransaction({ id }), null);
    const created = (id: string): NewEvent => transactionEvent('transaction.created', aTransaction({ id }), null);

    async function write(...events: NewEvent[]): Promise<void> {
      await database.transaction(async (tx) => outboxWith().record(tx, events));
    }

    it('as the last of its subject, in the subject’s current state and the caller’s transaction', async () => {
      const catalog = new EventCatalog();
      catalog.registerRefresh(['transaction.paid'], async (tx, events) => {
        await tx.query(raw('SELECT 1'), []);
        return events.map((event) => ({ ...event, data: { ...event.data, previousStatus: 'EXPIRED' as const } }));
      });
      await write(created(first), paid(first), created(second));
      const again: DomainEvent[] = [];
      const one = await relay(new Recorder('a', (events) => void again.push(...events)));
      const outbox = new OutboxService(new OutboxRepository(reader, secrets, SILENT), catalog, one, clock);
      const types = ['transaction.created', 'transaction.paid'] as const;
      const replay = (who: Scope, id: string, of: readonly (typeof types)[number][] = types): Promise<number> =>
        database.transaction((tx) => outbox.replay(tx, who, id, [of]));
      expect(await replay(scope, first)).toBe(1);
      expect(await replay(scope, first, ['transaction.created'])).toBe(1);
      expect(await replay(scope, second)).toBe(1);
      expect(
        again.map(({ subjectId, sequence, type, data }) => [
          ...[subjectId, sequence, type],
          'previousStatus' in data ? data.previousStatus : undefined,
        ]),
      ).toEqual([
        [first, 2, 'transaction.paid', 'EXPIRED'],
        [first, 1, 'transaction.created', null],
        [second, 1, 'transaction.created', null],
      ]);
      // Returns the last event of each group in the order of the groups, and each event once.
      again.length = 0;
      const groups = [['transaction.created'], ['transaction.refunded'], types, ['transaction.paid']] as const;
      expect(await database.transaction((tx) => outbox.replay(tx, scope, first, groups))).toBe(2);
      expect(again.map(({ sequence }) => sequence)).toEqual([1, 2]);
      // Nothing comes for an unknown subject, other types, the other mode or another account.
      for (const nothing of [
        replay(scope, aTransaction().id),
        replay(scope, second, ['transaction.paid']),
        replay({ ...scope, mode: 'live' }, first),
        replay({ ...scope, accountId: first }, first),
      ]) {
        expect(await nothing).toBe(0);
      }
      const undone = database.transaction(async (tx) => {
        await outbox.replay(tx, scope, first, [types]);
        throw new Error('rolled back');
      });
      await expect(undone).rejects.toThrow('rolled back');
      expect(await consumed()).toHaveLength(5);
    });

    it('with the events before it', async () => {
      await write(created(first), paid(first), created(second));
      const histories = await database.transaction((tx) =>
        outboxWith().history(
          tx,
          scope,
          [first, second, scope.accountId],
          ['transaction.created', 'transaction.paid'],
          20,
        ),
      );
      const told = [...histories].map(([id, events]) => [id, events.map(({ sequence }) => sequence)]);
      expect(new Map(told as [string, number[]][])).toEqual(
        new Map([
          [first, [2, 1]],
          [second, [1]],
        ]),
      );
    });
  });

  it('keeps an event whose customer cannot be opened, and relays the others', async () => {
    await record(3);
    const [spoiled] = await pending();
    await database.transaction((tx) => tx.query(SPOIL, [spoiled?.id]));
    const recorder = new Recorder('a');
    const one = await relay(recorder);
    await one.run();
    expect(recorder.committed).toBe(2);
    expect(await pending()).toEqual([{ id: spoiled?.id, late: true }]);
    // A reader passes the event, without its customer.
    const [event] = await new OutboxRepository(reader, secrets, SILENT).byIds([String(spoiled?.id)]);
    expect(event?.data).toMatchObject({ transaction: { status: 'WAITING_PAYMENT', customerName: null, metadata: {} } });
  });

  it('leaves an event of an unknown type to the version that writes it', async () => {
    await record(3);
    const [newer] = await pending();
    await database.transaction((tx) => tx.query(RETYPE, [newer?.id, 'transaction.of_a_newer_version']));
    const recorder = new Recorder('a');
    expect(await (await relay(recorder)).run()).toBe(false);
    expect(recorder.committed).toBe(2);
    expect(await pending()).toEqual([{ id: newer?.id, late: false }]);
  });

  describe('keeps events in the order of their subject for readers that resume', () => {
    const scope = { accountId: aTransaction().accountId, mode: 'test' } as const;
    /** A transaction that is open anywhere in the cluster holds the events back. */
    const sequences = (count: number): Promise<number[]> =>
      waitFor('the events', async () => {
        const start = { xid: 0, id: FIRST_ID };
        const events = new OutboxRepository(reader, secrets, SILENT);
        const traces = await events.traces(scope, 'newer', start, 100, aTransaction().id);
        const read = await events.byIds(traces.map(({ id }) => id));
        return read.length === count && read.map(({ sequence }) => sequence);
      });
    const event = transactionEvent('transaction.created', aTransaction(), null);

    it.each([
      ['as it was', 0],
      ['set back by half a minute', 30],
    ])('when one transaction writes several, with the clock %s', async (_, seconds) => {
      newId(new Date(clock.now().getTime() + seconds * 1000));
      const outbox = outboxWith();
      await database.transaction(async (tx) => {
        for (let n = 0; n < 20; n++) outbox.record(tx, [event]);
      });
      expect(await sequences(20)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    });

    it('when the transaction with the first number writes last', async () => {
      const outbox = outboxWith();
      const { database: elsewhere } = await schema.connect(1);
      await database.transaction(async (first) => {
        await first.query(raw('SELECT current_xid()'), []);
        await elsewhere.transaction(async (second) => outbox.record(second, [event]));
        outbox.record(first, [event]);
      });
      expect(await sequences(2)).toEqual([1, 2]);
    });
  });

  it('reports how many events wait, and how long', async () => {
    const events = new OutboxRepository(reader, secrets, SILENT);
    expect(await events.lag(new Clock().now())).toEqual({ pending: 0, seconds: 0 });
    await record(3);
    clock.advance(100);
    const lag = await events.lag(clock.now());
    expect(lag.pending).toBe(3);
    expect(lag.seconds).toBeGreaterThanOrEqual(100);
  });
});
