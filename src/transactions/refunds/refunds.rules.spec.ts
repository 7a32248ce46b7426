import { describe, expect, it } from '@jest/globals';
import type { RefundWay } from '../../acquirers/index.js';
import { ApiError } from '../../core/errors/index.js';
import type { RefundOrder } from './refund.js';
import { planRefund, type RefundFacts } from './refunds.rules.js';
import { TRANSACTION_STATUSES } from '../transactions.machine.js';

const order = (changes: Partial<RefundOrder> = {}): RefundOrder => ({
  amount: null,
  reason: null,
  strategy: null,
  passFee: false,
  destinationKey: null,
  ...changes,
});

const facts = (changes: Partial<RefundFacts> = {}): RefundFacts => ({
  transaction: { status: 'PAID', amount: 100, paidWith: 'PIX', refundsAmount: 0 },
  disputedAmount: 0,
  ways: ['cashout', 'devolution'],
  payerIsKnown: true,
  pixOutFee: 7,
  ...changes,
});

function refusal(asked: RefundOrder, known: RefundFacts): string {
  try {
    const plan = planRefund(asked, known);
    return JSON.stringify(plan);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code}${error.param ? ` ${error.param}` : ''}`;
    throw error;
  }
}

describe('a refund', () => {
  it.each(TRANSACTION_STATUSES)('of a payment that is %s', (status) => {
    const known = facts({ transaction: { status, amount: 100, paidWith: 'PIX', refundsAmount: 0 } });
    const expected = {
      PAID: '{"way":"cashout","amount":100,"fee":0}',
      APPROVED: '{"way":"cashout","amount":100,"fee":0}',
      DISPUTE: '400 charge_disputed',
      CHARGEBACK: '400 charge_disputed',
    }[status as string];
    expect(refusal(order(), known)).toBe(expected ?? '400 payment_not_refundable');
  });

  it.each([
    [null, 0, 100],
    [null, 60, 40],
    [40, 60, 40],
    [1, 0, 1],
    [100, 0, 100],
    [101, 0, null],
    [41, 60, null],
    [null, 100, null],
    [1, 100, null],
  ])('of %p when %i of 100 are taken: %p', (amount, refundsAmount, expected) => {
    const answer = refusal(order({ amount }), facts({ transaction: { ...facts().transaction, refundsAmount } }));
    if (expected === null) expect(answer).toBe('400 refund_amount_exceeds_remaining amount');
    else expect(JSON.parse(answer)).toMatchObject({ amount: expected });
  });

  const key = 'maria@example.com';
  it.each<[string, Partial<RefundOrder>, Partial<RefundFacts>, string]>([
    ['is a cashout by default', {}, {}, 'cashout'],
    ['is a cashout to a key', { destinationKey: key }, {}, 'cashout'],
    ['is a cashout to a key when nobody knows who paid', { destinationKey: key }, { payerIsKnown: false }, 'cashout'],
    ['is a devolution where the acquirer cannot cash out', {}, { ways: ['devolution'] }, 'devolution'],
    ['is a devolution when nobody knows who paid', {}, { payerIsKnown: false }, 'devolution'],
    ['is what was asked for', { strategy: 'devolution' }, {}, 'devolution'],
    ['is what was asked for', { strategy: 'cashout' }, {}, 'cashout'],
    ['by name and impossible', { strategy: 'cashout' }, { ways: ['devolution'] }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['by name and impossible', { strategy: 'devolution' }, { ways: ['cashout'] }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['to a key, impossible', { destinationKey: key }, { ways: ['devolution'] }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['to nobody', { strategy: 'cashout' }, { payerIsKnown: false }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['to nobody', {}, { ways: ['cashout'], payerIsKnown: false }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['by a provider that does not refund', {}, { ways: [] }, '422 REFUND_NOT_SUPPORTED'],
    ['by name, of a provider that does not refund', { strategy: 'cashout' }, { ways: [] }, '422 REFUND_NOT_SUPPORTED'],
  ])('%s: %j %j', (_name, asked, known, expected) => {
    const answer = refusal(order(asked), facts(known));
    expect(expected.startsWith('4') ? answer : (JSON.parse(answer) as { way: RefundWay }).way).toBe(expected);
  });

  describe('of a card payment', () => {
    const card: Partial<RefundFacts> = {
      transaction: { status: 'APPROVED', amount: 100, paidWith: 'CREDIT_CARD', refundsAmount: 0 },
      ways: ['card'],
    };

    it('goes to the card', () => {
      expect(planRefund(order(), facts(card))).toEqual({ way: 'card', amount: 100, fee: 0 });
    });

    it.each([
      [{ strategy: 'cashout' as const }, '400 invalid_request strategy'],
      [{ strategy: 'devolution' as const }, '400 invalid_request strategy'],
      [{ passFee: true }, '400 invalid_request passFeeToTenant'],
      [{ destinationKey: key }, '400 invalid_request destinationKey'],
    ])('has nothing of a Pix: %j', (asked, expected) => {
      expect(refusal(order(asked), facts(card))).toBe(expected);
    });
  });

  it.each<[Partial<RefundOrder>, number]>([
    [{}, 0],
    [{ passFee: true }, 7],
    [{ passFee: true, strategy: 'devolution' }, 0],
    [{ passFee: true, strategy: 'cashout', amount: 1 }, 7],
  ])('%j costs the merchant a fee of %i', (asked, fee) => {
    expect(planRefund(order(asked), facts()).fee).toBe(fee);
  });
});
