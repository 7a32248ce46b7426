import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  ConfirmationService,
  InboxService,
  type NotificationHint,
} from '../../src/acquirers/index.js';
import { Database } from '../../src/core/database/index.js';
import { FarBank } from '../support/far-bank.js';
import { TestService } from '../support/service.js';

const ACQUIRER = 'somebody';
const pix = (reference: string): NotificationHint => ({ kind: 'pix', reference });
const dispute = (reference: string): NotificationHint => ({ kind: 'dispute', reference });

const service = TestService.forSpec({ env: { ROLE: 'api' } });

beforeEach(() => service.sql('TRUNCATE acquirer_notifications'));

function store(hints: NotificationHint[]): Promise<string[]> {
  const inbox = service.get(InboxService);
  return service.get(Database).transaction((tx) => inbox.storeAll(tx, ACQUIRER, hints));
}

function rows(): Promise<Record<string, unknown>[]> {
  return service.sql(
    `SELECT kind || ' ' || reference AS about, hints, status, attempts FROM acquirer_notifications
     WHERE acquirer = '${ACQUIRER}' ORDER BY kind, reference`,
  );
}

it('the inbox stores each of many partly repeated hints once', async () => {
  const ids = await store([pix('b'), dispute('a'), pix('a'), pix('b'), dispute('a')]);
  expect(new Set(ids).size).toBe(3);
  expect(await rows()).toEqual([
    { about: 'dispute a', hints: 1, status: 'pending', attempts: 0 },
    { about: 'pix a', hints: 1, status: 'pending', attempts: 0 },
    { about: 'pix b', hints: 1, status: 'pending', attempts: 0 },
  ]);
  expect(await store([])).toEqual([]);
});

it('the inbox requeues only set-aside and changing hints, under their old ids', async () => {
  const first = await store([pix('applied'), pix('ignored'), pix('pending'), dispute('applied'), dispute('pending')]);
  await service.sql(
    `UPDATE acquirer_notifications SET attempts = 3,
       status = CASE reference WHEN 'pending' THEN 'pending' ELSE reference END`,
  );
  const again = await store([
    pix('new'),
    pix('applied'),
    pix('ignored'),
    pix('pending'),
    dispute('applied'),
    dispute('pending'),
  ]);
  expect(again.filter((id) => first.includes(id)).sort()).toEqual([...first].sort());
  expect(again).toHaveLength(6);
  expect(await rows()).toEqual([
    { about: 'dispute applied', hints: 2, status: 'pending', attempts: 0 },
    { about: 'dispute pending', hints: 2, status: 'pending', attempts: 3 },
    { about: 'pix applied', hints: 2, status: 'applied', attempts: 3 },
    { about: 'pix ignored', hints: 2, status: 'pending', attempts: 0 },
    { about: 'pix new', hints: 1, status: 'pending', attempts: 0 },
    { about: 'pix pending', hints: 2, status: 'pending', attempts: 3 },
  ]);
});

it('the inbox does not deadlock when two processes report the same hints in another order', async () => {
  const names = Array.from({ length: 40 }, (_, n) => `e${n}`);
  const rounds = Array.from({ length: 6 }, () =>
    Promise.all([store(names.map(pix)), store([...names].reverse().map(pix))]),
  );
  await Promise.all(rounds);
  expect(new Set((await rows()).map(({ hints }) => hints))).toEqual(new Set([12]));
});

describe('a hint that the acquirer once confirmed', () => {
  const bank = new FarBank(ACQUIRER);
  const process = (id = ''): Promise<unknown> => service.get(ConfirmationService).confirm(id);
  const state = async (): Promise<Record<string, unknown>> =>
    (await service.sql('SELECT status, attempts, last_error, unreadable_since FROM acquirer_notifications'))[0] ?? {};
  const listed = async (of: 'unreadable' | 'waitingDisputes'): Promise<number> =>
    (await service.get(InboxService)[of]({ before: null, createdFrom: null, createdTo: null, limit: 9 })).length;

  beforeAll(() => service.get(AcquirersService).register(bank, { servesTestMode: false }));

  it.each(['unreadable', 'waitingDisputes'] as const)(
    '(%s) is queried as often as an unknown one, and listed until then',
    async (of) => {
      const isRead = of === 'waitingDisputes';
      const pixThere = bank.receive({ txid: 'x'.repeat(26), amount: 100 });
      const { reference } = isRead ? bank.dispute(pixThere) : { reference: pixThere.endToEndId };
      if (!isRead) bank.unreadable.add(reference);
      const [id] = await store([isRead ? dispute(reference) : pix(reference)]);
      await process(id);
      await service.sql('UPDATE acquirer_notifications SET attempts = 60');
      await process(id);
      expect(await state()).toMatchObject({ status: 'pending', attempts: 61 });
      bank.unreadable.clear();
      bank.pix.clear();
      bank.disputes.clear();
      for (let attempts = 1; attempts < 40; attempts++) {
        await process(id);
        expect(await state()).toMatchObject({ status: 'pending', attempts });
      }
      expect(await listed(of)).toBe(1);
      await process(id);
      expect(await state()).toMatchObject({ status: 'ignored', unreadable_since: null });
      expect(await listed(of)).toBe(0);
    },
  );

  it('is given up, even when the acquirer was silent in between', async () => {
    const [id] = await store([pix('never')]);
    await process(id);
    await service.sql('UPDATE acquirer_notifications SET attempts = 38');
    bank.blind = true;
    await process(id);
    bank.blind = false;
    await process(id);
    expect(await state()).toMatchObject({ status: 'ignored' });
  });
});
