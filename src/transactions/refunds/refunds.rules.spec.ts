import { describe, expect, it } from '@jest/globals';
import type { RefundWay } from '../../acquirers/index.js';
import { ApiError } from '../../core/errors/index.js';
import type { RefundOrder } from './refund.js';
import { planRefund, type RefundFacts } from './refunds.rules.js';
import { NOTHING_TAKEN } from '../taken.js';
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
  transaction: { status: 'PAID', amount: 100, paidWith: 'PIX' },
  taken: NOTHING_TAKEN,
  ways: ['cashout', 'devolution'],
  payerIsKnown: true,
  refundCount: 0,
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
  it.each(TRANSACTION_STATUSES)('depends on the status of the payment: %s', (status) => {
    const known = facts({ transaction: { status, amount: 100, paidWith: 'PIX' } });
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
  ])('is limited to what is left: asked %p, %i of 100 already taken, refunds %p', (amount, refundsAmount, expected) => {
    const answer = refusal(order({ amount }), facts({ taken: { ...NOTHING_TAKEN, refundsAmount } }));
    if (expected === null) expect(answer).toBe('400 refund_amount_exceeds_remaining amount');
    else expect(JSON.parse(answer)).toMatchObject({ amount: expected });
  });

  it.each([
    [null, 30, 10],
    [10, 30, 10],
    [11, 30, null],
    // The dispute has taken money that a cashout had already given back.
    [null, 50, null],
    [1, 50, null],
  ])(
    'leaves out money of disputes and banks: asked %p, 60 of 100 refunded, %i taken, refunds %p',
    (amount, also, expected) => {
      const [half, rest] = [Math.floor(also / 2), Math.ceil(also / 2)];
      for (const [disputedAmount, lossesAmount] of [
        [also, 0],
        [0, also],
        [half, rest],
      ] as const) {
        const taken = { refundsAmount: 60, cashoutsAmount: 60, disputedAmount, lossesAmount };
        const answer = refusal(order({ amount }), facts({ taken }));
        if (expected === null) expect(answer).toBe('400 refund_amount_exceeds_remaining amount');
        else expect(JSON.parse(answer)).toMatchObject({ amount: expected });
      }
    },
  );

  const key = 'maria@example.com';
  it.each<[string, Partial<RefundOrder>, Partial<RefundFacts>, string]>([
    ['is a cashout by default', {}, {}, 'cashout'],
    ['is a cashout to a key', { destinationKey: key }, {}, 'cashout'],
    ['is a cashout to a key when nobody knows who paid', { destinationKey: key }, { payerIsKnown: false }, 'cashout'],
    ['is a devolution where the acquirer cannot cash out', {}, { ways: ['devolution'] }, 'devolution'],
    ['is a devolution when nobody knows who paid', {}, { payerIsKnown: false }, 'devolution'],
    ['is what was asked for', { strategy: 'devolution' }, {}, 'devolution'],
    ['is what was asked for', { strategy: 'cashout' }, {}, 'cashout'],
    ['is what was asked for', { strategy: 'devolution' }, { payerIsKnown: false }, 'devolution'],
    ['by name and impossible', { strategy: 'cashout' }, { ways: ['devolution'] }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['by name and impossible', { strategy: 'devolution' }, { ways: ['cashout'] }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['to a key, impossible', { destinationKey: key }, { ways: ['devolution'] }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['to nobody', { strategy: 'cashout' }, { payerIsKnown: false }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['to nobody', {}, { ways: ['cashout'], payerIsKnown: false }, '422 REFUND_STRATEGY_NOT_SUPPORTED'],
    ['by a provider that does not refund', {}, { ways: [] }, '422 REFUND_NOT_SUPPORTED'],
    ['the thousandth of a payment', {}, { refundCount: 999 }, 'cashout'],
    ['one more than a thousand', {}, { refundCount: 1000 }, '422 refund_limit_reached'],
    ['by name, of a provider that does not refund', { strategy: 'cashout' }, { ways: [] }, '422 REFUND_NOT_SUPPORTED'],
  ])('is planned or refused: %s, order %j, facts %j', (_name, asked, known, expected) => {
    const answer = refusal(order(asked), facts(known));
    expect(expected.startsWith('4') ? answer : (JSON.parse(answer) as { way: RefundWay }).way).toBe(expected);
  });

  const status = (of: RefundFacts['transaction']['status']): Partial<RefundFacts> => ({
    transaction: { ...facts().transaction, status: of },
  });
  it.each<[Partial<RefundOrder>, Partial<RefundFacts>, string]>([
    [
      {},
      status('DISPUTE'),
      'A disputed payment cannot be refunded: its money is held until the ruling, or was lost by it.',
    ],
    [{}, status('EXPIRED'), 'Only a payment that is PAID or APPROVED can be refunded; this one is EXPIRED.'],
    [
      { amount: 91 },
      { taken: { ...NOTHING_TAKEN, disputedAmount: 10 } },
      'At most 90 can still be refunded; refunds on their way count as made, and what a dispute or a bank has taken is gone.',
    ],
    [{}, { ways: [] }, 'The provider of this payment does not refund payments of its method.'],
    [{}, { refundCount: 1000 }, 'A payment has at most 1000 refunds, failed ones among them.'],
    [
      { strategy: 'cashout' },
      { ways: ['devolution', 'card'], payerIsKnown: false },
      'The provider of this payment cannot refund it by cashout; it can by devolution, card.',
    ],
    [
      { destinationKey: key },
      { ways: ['devolution'] },
      'The provider of this payment cannot refund it by cashout; it can by devolution.',
    ],
    [
      { strategy: 'devolution' },
      { ways: ['cashout'] },
      'The provider of this payment cannot refund it by devolution; it can by cashout.',
    ],
    [{}, { ways: ['card'] }, 'The provider of this payment cannot refund it by any strategy; it can by card.'],
    [
      {},
      { ways: ['cashout'], payerIsKnown: false },
      'The bank did not report who paid: send a destinationKey, or use another strategy.',
    ],
  ])('says why it is refused: %j %j', (asked, known, message) => {
    expect(() => planRefund(order(asked), facts(known))).toThrow(new Error(message));
  });

  describe('when the payment was by card', () => {
    const card: Partial<RefundFacts> = {
      transaction: { status: 'APPROVED', amount: 100, paidWith: 'CREDIT_CARD' },
      ways: ['card'],
    };

    it('goes back to the card', () => {
      expect(planRefund(order(), facts(card))).toEqual({ way: 'card', amount: 100, fee: 0 });
    });

    it.each([
      [{ strategy: 'cashout' as const }, '400 invalid_request strategy'],
      [{ strategy: 'devolution' as const }, '400 invalid_request strategy'],
      [{ passFee: true }, '400 invalid_request passFeeToTenant'],
      [{ destinationKey: key }, '400 invalid_request destinationKey'],
    ])('refuses each field that is for Pix only: %j', (asked, expected) => {
      expect(refusal(order(asked), facts(card))).toBe(expected);
    });

    it('names every field that is for Pix only', () => {
      const message = 'is for payments made with Pix; this one was made with CREDIT_CARD';
      const pixOnly = order({ strategy: 'cashout', passFee: true, destinationKey: key });
      expect(() => planRefund(pixOnly, facts(card))).toThrow(
        expect.objectContaining({
          details: ['strategy', 'passFeeToTenant', 'destinationKey'].map((param) => ({
            param,
            code: 'invalid',
            message,
          })),
        }),
      );
    });
  });

  it.each<[Partial<RefundOrder>, number]>([
    [{}, 0],
    [{ passFee: true }, 7],
    [{ passFee: true, strategy: 'devolution' }, 0],
    [{ passFee: true, strategy: 'cashout', amount: 1 }, 7],
  ])('ordered with %j costs the merchant a fee of %i', (asked, fee) => {
    expect(planRefund(order(asked), facts()).fee).toBe(fee);
  });
});
