import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { InboxService, type NotificationHint } from '../../src/acquirers/index.js';
import { Database } from '../../src/core/database/index.js';
import { TestService } from '../support/service.js';

const ACQUIRER = 'somebody';
const pix = (reference: string): NotificationHint => ({ kind: 'pix', reference });
const dispute = (reference: string): NotificationHint => ({ kind: 'dispute', reference });

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ env: { ROLE: 'api' } });
});
afterAll(() => service.stop());
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

it('stores many hints, of which some repeat themselves, once each', async () => {
  const ids = await store([pix('b'), dispute('a'), pix('a'), pix('b'), dispute('a')]);
  expect(new Set(ids).size).toBe(3);
  expect(await rows()).toEqual([
    { about: 'dispute a', hints: 1, status: 'pending', attempts: 0 },
    { about: 'pix a', hints: 1, status: 'pending', attempts: 0 },
    { about: 'pix b', hints: 1, status: 'pending', attempts: 0 },
  ]);
  expect(await store([])).toEqual([]);
});

it('has looked at again what was set aside and what goes on changing, and nothing else, by the ids they have', async () => {
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

it('does not get stuck when two tell of the same in another order', async () => {
  const names = Array.from({ length: 40 }, (_, n) => `e${n}`);
  const rounds = Array.from({ length: 6 }, () =>
    Promise.all([store(names.map(pix)), store([...names].reverse().map(pix))]),
  );
  await Promise.all(rounds);
  expect(new Set((await rows()).map(({ hints }) => hints))).toEqual(new Set([12]));
});
