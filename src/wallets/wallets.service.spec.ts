import { describe, expect, it } from '@jest/globals';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { LedgerService, type Posting } from './ledger.service.js';
import type { PlannedRelease, ReleasesRepository } from './releases.repository.js';
import type { Release } from './release.entity.js';
import type { EntryRow, WalletsRepository } from './wallets.repository.js';
import {
  type CorrectedMoney,
  type CreditedSettlement,
  type DisputeMove,
  type RefundMoney,
  type SuspendedMoney,
  WalletsService,
} from './wallets.service.js';

const SCOPE = { accountId: 'a1', mode: 'test', currency: 'BRL', transactionId: 't1' } as const;
const TX = {} as Tx;

const settlement: CreditedSettlement = {
  ...SCOPE,
  ...{ amount: 100, providerFee: 3, platformFee: 7, netAmount: 90 },
  paidAt: new Date('2026-11-21T12:00:00.000Z'),
  wasSuspended: false,
  releaseDays: 0,
  reserveBps: 0,
  reserveDays: 0,
};
const money: SuspendedMoney = { ...SCOPE, amount: 100 };
const refund: RefundMoney = { ...SCOPE, refundId: 'r1', amount: 60, fee: 5 };
const dispute = (changes: Partial<DisputeMove>): DisputeMove => ({
  ...SCOPE,
  ...{ caseId: 'c1', isCard: false, what: 'held', detail: null, amount: 40 },
  ...changes,
});
const correction = (kind: CorrectedMoney['kind'], borneBy: CorrectedMoney['borneBy'], amount = 9): CorrectedMoney => ({
  ...SCOPE,
  ...{ correctionId: 'k1', kind, borneBy, amount },
});

/** Records the written postings in memory. */
function world(available = 0): {
  wallets: WalletsService;
  ledger: LedgerService;
  posted: EntryRow[];
  planned: Release[];
  asked: unknown[];
} {
  const posted: EntryRow[] = [];
  const planned: Release[] = [];
  const asked: unknown[] = [];
  const repository: Partial<WalletsRepository> = {
    post: (_tx, entries) => {
      if (entries.length === 0) throw new Error('There is nothing to post');
      posted.push(...entries);
    },
    lockAvailable: (_tx, { accountId, mode }, currency) => {
      asked.push([accountId, mode, currency]);
      return Promise.resolve(available);
    },
    balances: () =>
      Promise.resolve([
        { currency: 'BRL', bucket: 'available', amount: 1 },
        { currency: 'BRL', bucket: 'retained', amount: 3 },
        { currency: 'USD', bucket: 'pending', amount: 2 },
      ]),
  };
  const calendar: PlannedRelease[] = [];
  const releases: Partial<ReleasesRepository> = {
    insert: (_tx, release) => void planned.push(release),
    next: () => Promise.resolve([{ currency: 'USD', releaseAt: settlement.paidAt, amount: 2 }]),
    calendar: (_scope, currency, limit) => {
      asked.push([currency, limit]);
      return Promise.resolve(calendar);
    },
  };
  const clock = new Clock();
  const ledger = new LedgerService(repository as WalletsRepository, clock);
  const wallets = new WalletsService(repository as WalletsRepository, releases as ReleasesRepository, ledger, clock);
  return { wallets, ledger, posted, planned, asked };
}

describe('the entry of', () => {
  it.each<[string, (wallets: WalletsService) => unknown, cause: string, type: string, Posting['lines']]>([
    [
      'a sale',
      (wallets) => wallets.credit(TX, settlement),
      ...(['charge.paid:t1', 'sale'] as const),
      { clearing: -100, available: 90, platform_fees: 7, provider_fees: 3 },
    ],
    [
      'a sale that is released later',
      (wallets) => wallets.credit(TX, { ...settlement, releaseDays: 1 }),
      ...(['charge.paid:t1', 'sale'] as const),
      { clearing: -100, pending: 90, platform_fees: 7, provider_fees: 3 },
    ],
    [
      'a sale that fees have taken, and that was in suspense',
      (wallets) =>
        wallets.credit(TX, { ...settlement, providerFee: 0, platformFee: 100, netAmount: 0, wasSuspended: true }),
      ...(['charge.paid:t1', 'sale'] as const),
      { suspense: -100, platform_fees: 100 },
    ],
    [
      'what is nobody’s payment',
      (wallets) => wallets.suspend(TX, 's1', money),
      ...(['suspense.received:s1', 'suspense'] as const),
      { clearing: -100, suspense: 100 },
    ],
    [
      'what is back with its payer',
      (wallets) => wallets.giveBack(TX, 'b1', money),
      ...(['suspense.returned:b1', 'suspense'] as const),
      { clearing: 100, suspense: -100 },
    ],
    [
      'a refund that is set aside',
      (wallets) => wallets.reserveRefund(TX, refund),
      ...(['refund.reserved:r1', 'refund'] as const),
      { available: -65, reserved: 65 },
    ],
    [
      'a refund that failed',
      (wallets) => wallets.releaseRefund(TX, refund),
      ...(['refund.released:r1', 'refund_failed'] as const),
      { available: 65, reserved: -65 },
    ],
    [
      'a refund that arrived',
      (wallets) => wallets.payRefund(TX, refund),
      ...(['refund.paid:r1', 'refund'] as const),
      { reserved: -65, clearing: 60, platform_fees: 5 },
    ],
    [
      'a dispute',
      (wallets) => wallets.moveDisputed(TX, [dispute({})]),
      ...(['med.held:c1', 'med_hold'] as const),
      { available: -40, retained: 40 },
    ],
    [
      'a dispute that is won',
      (wallets) => wallets.moveDisputed(TX, [dispute({ what: 'released', detail: 'r1' })]),
      ...(['med.released:c1:r1', 'med_release'] as const),
      { available: 40, retained: -40 },
    ],
    [
      'a dispute that is lost',
      (wallets) => wallets.moveDisputed(TX, [dispute({ what: 'lost' })]),
      ...(['med.lost:c1', 'med_loss'] as const),
      { retained: -40, clearing: 40 },
    ],
    [
      'a dispute of a card',
      (wallets) => wallets.moveDisputed(TX, [dispute({ isCard: true })]),
      ...(['med.held:c1', 'med_hold'] as const),
      { available: -40, retained: 40 },
    ],
    [
      'a dispute of a card that is lost',
      (wallets) => wallets.moveDisputed(TX, [dispute({ what: 'lost', isCard: true })]),
      ...(['med.lost:c1', 'chargeback'] as const),
      { retained: -40, clearing: 40 },
    ],
    [
      'a loss that came back',
      (wallets) => wallets.moveDisputed(TX, [dispute({ what: 'corrected', detail: 'd', amount: -40 })]),
      ...(['med.corrected:c1:d', 'correction'] as const),
      { available: 40, clearing: -40 },
    ],
    ...(
      [
        ['returned_elsewhere', null, 'suspense', { suspense: -9, clearing: 9 }],
        ['write_off', null, 'suspense', { suspense: -9, platform_fees: 9 }],
        ['bank_fee', 'merchant', 'correction', { available: -9, provider_fees: 9 }],
        ['bank_fee', 'platform', 'correction', { platform_fees: -9, provider_fees: 9 }],
        ['loss', 'merchant', 'correction', { available: -9, clearing: 9 }],
        ['loss', 'platform', 'correction', { platform_fees: -9, clearing: 9 }],
      ] as const
    ).map(
      ([kind, borneBy, type, lines]): [
        string,
        (wallets: WalletsService) => unknown,
        string,
        string,
        Posting['lines'],
      ] => [
        `a ${kind} that ${borneBy ?? 'suspense'} bears`,
        (wallets) => wallets.correct(TX, correction(kind, borneBy)),
        ...(['correction:k1', type] as const),
        lines,
      ],
    ),
  ])('%s has its cause, type and lines', async (_what, post, cause, type, lines) => {
    const { wallets, posted } = world(65);
    await post(wallets);
    expect(posted).toHaveLength(1);
    const [entry] = posted;
    expect(entry).toMatchObject({ ...SCOPE, cause, type });
    expect(Object.fromEntries(entry?.lines.map(({ bucket, amount }) => [bucket, amount]) ?? [])).toEqual(lines);
  });
});

describe('a wallet', () => {
  it('plans the release of the net amount, but not of 0 or of money that is spendable at once', () => {
    const { wallets, planned } = world();
    wallets.credit(TX, settlement);
    wallets.credit(TX, { ...settlement, releaseDays: 1, platformFee: 97, netAmount: 0 });
    expect(planned).toEqual([]);
    wallets.credit(TX, { ...settlement, releaseDays: 2 });
    const releaseAt = new Date('2026-11-23T03:00:00.000Z');
    expect(planned).toEqual([{ id: expect.any(String), ...SCOPE, kind: 'sale', amount: 90, releaseAt }]);
  });

  it.each([
    [64, false],
    [65, true],
    [-1, false],
  ])('sets a refund of 60 and its fee of 5 aside with %i available: %p', async (available, expected) => {
    const { wallets, posted, asked } = world(available);
    expect(await wallets.reserveRefund(TX, refund)).toBe(expected);
    expect(posted).toHaveLength(expected ? 1 : 0);
    expect(asked).toEqual([['a1', 'test', 'BRL']]);
  });

  it('has a balance in each currency, the account’s own first, even if empty', async () => {
    const { wallets } = world();
    const nothing = { available: 0, pending: 0, retained: 0, nextReleaseAt: null, nextReleaseAmount: null };
    const brl = { ...nothing, currency: 'BRL', available: 1, retained: 3 };
    const usd = {
      ...nothing,
      ...{ currency: 'USD', pending: 2, nextReleaseAt: settlement.paidAt, nextReleaseAmount: 2 },
    };
    expect(await wallets.balances(SCOPE, 'USD')).toEqual([usd, brl]);
    expect(await wallets.balances(SCOPE, 'EUR')).toEqual([{ ...nothing, currency: 'EUR' }, brl, usd]);
  });

  it('shows a year of planned releases', async () => {
    const { wallets, asked } = world();
    expect(await wallets.plannedReleases(SCOPE, 'BRL')).toEqual([]);
    expect(asked).toEqual([['BRL', 400]]);
  });
});

describe('the ledger', () => {
  const posting = (lines: Posting['lines']): Posting => ({ ...SCOPE, cause: 'x:1', type: 'correction', lines });

  it.each<[Posting['lines'], string]>([
    [{ available: 1, clearing: -2 }, 'The posting x:1 has 2 lines that sum to -1, not to zero'],
    [{ available: 0, clearing: 0 }, 'The posting x:1 has 0 lines that sum to 0, not to zero'],
    [{}, 'The posting x:1 has 0 lines that sum to 0, not to zero'],
    [{ available: 0.5, clearing: -0.5 }, 'The posting x:1 has 2 lines that sum to 0, not to zero'],
    [{ available: 2 ** 53, clearing: -(2 ** 53) }, 'The posting x:1 has 2 lines that sum to 0, not to zero'],
    [
      { available: 2 ** 53, clearing: 1 - 2 ** 53, pending: -1 },
      'The posting x:1 has 3 lines that sum to 0, not to zero',
    ],
  ])('refuses an entry with the lines %j', (lines, message) => {
    const { ledger, posted } = world();
    expect(() => ledger.post(TX, [posting({ available: 1, clearing: -1 }), posting(lines)])).toThrow(
      new Error(message),
    );
    expect(posted).toEqual([]);
  });

  it('writes all entries at once, each with its own id and no empty lines, and nothing for an empty list', () => {
    const { ledger, posted } = world();
    ledger.post(TX, []);
    expect(posted).toEqual([]);
    ledger.post(TX, [posting({ available: 1, pending: 0, clearing: -1 }), posting({ retained: 2, available: -2 })]);
    expect(posted.map(({ lines }) => lines)).toEqual([
      [
        { bucket: 'available', amount: 1 },
        { bucket: 'clearing', amount: -1 },
      ],
      [
        { bucket: 'retained', amount: 2 },
        { bucket: 'available', amount: -2 },
      ],
    ]);
    expect(new Set(posted.map(({ id }) => id)).size).toBe(2);
  });
});
