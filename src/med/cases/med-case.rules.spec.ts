import { describe, expect, it } from '@jest/globals';
import { aMedCase } from '../../../test/support/a-med-case.js';
import { aPaidTransaction } from '../../../test/support/a-transaction.js';
import type { Dispute } from '../../acquirers/index.js';
import {
  bankSideOf,
  claimOf,
  contradictionOf,
  isNews,
  medBlockOf,
  nextNotice,
  rulingOf,
  versionOf,
} from './med-case.rules.js';
import type { BankSide } from './med-case.js';

const { bank } = aMedCase();
const side = (changes: Partial<BankSide>): BankSide => ({ ...bank, ...changes });

describe('the bank’s report', () => {
  it.each([
    ['created', null, 'open', null],
    ['delivered', null, 'appealed', null],
    // A result counts only once the dispute is closed.
    ['delivered', 'agreed', 'open', null],
    ['delivered', 'disagreed', 'appealed', null],
    ['closed', null, 'open', null],
    ['canceled', null, 'open', 'won'],
    ['canceled', null, 'appealed', 'won'],
    ['closed', 'disagreed', 'open', 'won'],
    ['closed', 'disagreed', 'appealed', 'won'],
    ['closed', 'agreed', 'open', 'lost_unanswered'],
    ['closed', 'agreed', 'appealed', 'lost_on_appeal'],
  ] as const)(
    '%s with the result %s on a case that is %s gives the ruling %s',
    (status, result, caseStatus, trigger) => {
      expect(rulingOf({ status, result }, caseStatus)).toBe(trigger);
    },
  );

  it('is stored unchanged, with the time when it was applied', () => {
    const at = new Date('2026-11-25T00:00:00.000Z');
    const said = side({ status: 'closed', result: 'agreed', closedAt: at, appliedAt: at });
    const { payerSealed, appliedAt, ...told } = said;
    const dispute: Dispute = {
      ...told,
      method: 'scam',
      ...{ reference: 'd1', type: 'med', accountId: null, paymentReference: 'E1', txid: null, amount: 1990 },
      ...{ reason: null, payerName: 'Maria', payerDocument: null, responseDeadline: null, openedAt: at },
    };
    expect(bankSideOf(dispute, payerSealed, appliedAt)).toStrictEqual(said);
  });

  it('is news when it is later, or has a later state at the same time', () => {
    const at = (seconds: number): Date => new Date(bank.updatedAt.getTime() + seconds * 1000);
    const amount = 1990;
    const delivered = aMedCase({ bank: side({ status: 'delivered' }), reportedAmount: amount });
    for (const [status, seconds, news] of [
      ['delivered', 0, false],
      ['created', 0, false],
      ['closed', 0, true],
      ['created', 1, true],
      ['closed', -1, false],
    ] as const)
      expect([status, seconds, isNews(delivered, { status, result: null, amount, updatedAt: at(seconds) })]).toEqual([
        status,
        seconds,
        news,
      ]);
  });

  it.each([
    [null, 'agreed', true],
    [null, null, false],
    ['agreed', 'agreed', false],
    ['agreed', 'disagreed', true],
    ['agreed', null, false],
  ] as const)('counts as news when it is closed with %s and in the same second with %s: %s', (known, result, news) => {
    const { updatedAt } = bank;
    const ruled = aMedCase({ bank: side({ status: 'closed', result: known }) });
    expect(isNews(ruled, { status: 'closed', result, amount: ruled.reportedAmount, updatedAt })).toBe(news);
  });

  it.each([
    ['delivered', null, 'delivered', null, true],
    ['closed', 'agreed', 'closed', 'agreed', true],
    // Repeats the earlier report.
    ['delivered', null, 'created', null, false],
    ['closed', 'agreed', 'closed', null, false],
  ] as const)(
    'counts as news when it is %s with %s and at the same time %s with %s and another amount: %s',
    (knownStatus, knownResult, status, result, news) => {
      const known = aMedCase({ bank: side({ status: knownStatus, result: knownResult }), reportedAmount: 1990 });
      const { updatedAt } = bank;
      expect(isNews(known, { status, result, amount: 400, updatedAt })).toBe(news);
    },
  );

  it.each([
    ['accepted', 'lost', 'disagreed', 'won_after_all'],
    ['accepted', 'lost', 'agreed', null],
    ['rejected', 'lost', 'disagreed', 'won_after_all'],
    ['closed', 'closed_without_refund', 'agreed', null],
    ['closed', 'closed_without_refund', 'disagreed', 'won_after_all'],
    ['closed', 'refunded_to_merchant', 'agreed', 'lost_after_all'],
    ['closed', 'refunded_to_merchant', 'disagreed', null],
    ['open', null, 'disagreed', null],
  ] as const)(
    'contradicts a case that is %s with %s by the ruling %s: %s',
    (status, moneyOutcome, result, contradicted) => {
      const ruled = aMedCase({ status, moneyOutcome, lostAmount: 1990, bank: side({ status: 'closed', result }) });
      expect(contradictionOf(ruled, 1990)).toBe(contradicted);
    },
  );

  it.each([
    ['accepted', 'lost', 'agreed', 400, 'lost_another_amount'],
    ['rejected', 'lost', 'agreed', 400, 'lost_another_amount'],
    ['closed', 'closed_without_refund', 'agreed', 400, 'lost_another_amount'],
    ['closed', 'closed_without_refund', 'agreed', 1000, null],
    // A bank cannot take more than was paid.
    ['closed', 'closed_without_refund', 'agreed', 2500, null],
    ['accepted', 'lost', null, 400, null],
    ['accepted', 'lost', 'disagreed', 400, 'won_after_all'],
    ['closed', 'refunded_to_merchant', 'disagreed', 400, null],
    ['closed', 'refunded_to_merchant', 'agreed', 400, 'lost_after_all'],
    ['open', null, 'agreed', 400, null],
  ] as const)(
    'contradicts a case that lost 1000 and is %s with %s by the ruling %s about %i: %s',
    (status, moneyOutcome, result, reportedAmount, contradicted) => {
      const ruled = side({ status: 'closed', result });
      const medCase = aMedCase({ status, moneyOutcome, lostAmount: 1000, reportedAmount, bank: ruled });
      expect(contradictionOf(medCase, 1000)).toBe(contradicted);
    },
  );

  it.each([
    [70, 70, null],
    [70, 100, 'lost_another_amount'],
    [100, 100, null],
    [0, 0, null],
  ] as const)('contradicts a case of 100 that lost %i while %i could be taken: %s', (lostAmount, there, expected) => {
    const ruled = side({ status: 'closed', result: 'agreed' });
    const lost = { status: 'accepted', moneyOutcome: 'lost', amount: 100, reportedAmount: 100 } as const;
    expect(contradictionOf(aMedCase({ ...lost, lostAmount, bank: ruled }), there)).toBe(expected);
  });

  it.each([
    [400, 400],
    [2500, 1000],
  ])('claims at most the payment of 1000: reported %i, claimed %i', (reportedAmount, claim) => {
    expect(claimOf({ reportedAmount }, 1000)).toBe(claim);
  });

  it.each([
    ['closed', 'agreed', 'lost_after_all'],
    ['closed', 'disagreed', null],
    ['closed', null, null],
    ['open', 'agreed', null],
  ] as const)(
    'contradicts a case that the merchant never saw, %s with the ruling %s: %s',
    (status, result, expected) => {
      const unseen = aMedCase({ status, moneyOutcome: null, visible: false, bank: side({ status: 'closed', result }) });
      expect(contradictionOf(unseen, unseen.amount)).toBe(expected);
      expect(contradictionOf({ ...unseen, bank: side({ status: 'canceled' }) }, unseen.amount)).toBeNull();
    },
  );

  it('changes the version of a case only for changes that the operator sees', () => {
    const seen = aMedCase();
    expect(versionOf(seen)).toMatch(/^[0-9a-f]{16}$/);
    expect(versionOf({ ...seen, evidenceCount: 9, heldAmount: 0, updatedAt: new Date() })).toBe(versionOf(seen));
    const others = [
      aMedCase({ review: 'ruling' }),
      aMedCase({ status: 'appealed' }),
      aMedCase({ reportedAmount: 1 }),
      aMedCase({ bank: side({ status: 'closed' }) }),
      aMedCase({ bank: side({ result: 'agreed' }) }),
      aMedCase({ bank: side({ updatedAt: new Date() }) }),
    ];
    expect(new Set([seen, ...others].map(versionOf)).size).toBe(others.length + 1);
  });
});

describe('deadline notices', () => {
  const deadline = new Date('2026-11-28T12:00:00.000Z');

  it.each([
    ['2026-11-21T12:00:00.000Z', '2026-11-26T12:00:00.000Z'],
    ['2026-11-26T11:59:59.999Z', '2026-11-26T12:00:00.000Z'],
    ['2026-11-26T12:00:00.000Z', '2026-11-27T12:00:00.000Z'],
    ['2026-11-27T12:00:00.000Z', '2026-11-28T06:00:00.000Z'],
    ['2026-11-28T06:00:00.000Z', null],
    ['2026-11-29T00:00:00.000Z', null],
  ])('continue after %s with the notice at %s', (now, next) => {
    expect(nextNotice(deadline, new Date(now))?.toISOString() ?? null).toBe(next);
  });

  it('do not exist without a deadline', () => expect(nextNotice(null, deadline)).toBeNull());
});

describe('metadata.med', () => {
  const paid = aPaidTransaction();

  it('has every documented key and no other', () => {
    const closedAt = new Date('2026-11-24T12:00:00.000Z');
    expect(
      medBlockOf(paid, [aMedCase({ bank: side({ status: 'closed', result: 'agreed', closedAt }) })]),
    ).toStrictEqual({
      referenceId: paid.endToEndId,
      status: 'closed',
      result: 'agreed',
      method: 'scam',
      reason: 'I did not make this payment.',
      payerSealed: Buffer.from('sealed payer').toString('base64'),
      openedAt: '2026-11-21T12:00:00.000Z',
      updatedAt: '2026-11-21T12:00:00.000Z',
      closedAt: '2026-11-24T12:00:00.000Z',
      lastEventAt: '2026-11-21T12:00:01.000Z',
      amountMismatch: false,
    });
    const unknown = side({ method: null, payerSealed: null });
    expect(Object.keys(medBlockOf(paid, [aMedCase({ reason: null, bank: unknown })]) ?? {})).toEqual([
      ...['referenceId', 'status', 'openedAt', 'updatedAt', 'lastEventAt', 'amountMismatch'],
    ]);
  });

  it('describes the shown case with the latest report', () => {
    const later = side({ status: 'canceled', appliedAt: new Date('2026-11-25T00:00:00.000Z') });
    const cases = [aMedCase({ id: 'a', bank: later }), aMedCase({ id: 'b' })];
    expect(medBlockOf(paid, cases)?.status).toBe('canceled');
    expect(medBlockOf(paid, cases.toReversed())?.status).toBe('canceled');
    const hidden = { visible: false, bank: later } as const;
    expect(medBlockOf(paid, [aMedCase({ ...hidden, review: 'not_disputable' }), aMedCase()])?.status).toBe('created');
    expect(medBlockOf(paid, [aMedCase({ ...hidden, review: 'amount_mismatch' })])?.amountMismatch).toBe(true);
    expect(medBlockOf(paid, [aMedCase({ ...hidden, review: null })])).toBeNull();
  });

  it('exists for Pix only', () => {
    expect(medBlockOf(aPaidTransaction({ paidWith: 'CREDIT_CARD' }), [aMedCase({ type: 'chargeback' })])).toBeNull();
  });
});
