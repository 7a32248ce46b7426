import { describe, expect, it } from '@jest/globals';
import { aPaidTransaction, aTransaction } from '../../test/support/a-transaction.js';
import {
  expiryFailure,
  fromSnapshot,
  toSnapshot,
  TRANSACTION_STATUSES,
  type TransactionSnapshot,
} from '../transactions/index.js';
import { chargeBody } from './charge.serializer.js';
import { PUBLIC_STATUSES, publicStatus, transactionStatusesOf } from './charge-status.js';

const BASE = 'https://pay.example.com';
const RAW = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

describe('the public charge', () => {
  it('has exactly the documented keys and values', () => {
    expect(chargeBody(aPaidTransaction(), BASE)).toStrictEqual({
      id: `ch_${RAW}`,
      object: 'charge',
      amount: 1990,
      currency: 'BRL',
      status: 'paid',
      payment_method: 'pix',
      customer: {
        name: 'Maria da Silva',
        document: '52998224725',
        email: 'maria@example.com',
        phone: '+5511987654321',
      },
      pix: {
        br_code: '00020126',
        qr_code_url: `${BASE}/checkout/${RAW}/qr.png`,
        expires_at: '2026-11-21T13:00:00.000Z',
        txid: 'abcdefghijklmnopqrstuvwxyz12345',
      },
      checkout_url: `${BASE}/checkout/${RAW}`,
      settlement: { end_to_end_id: 'E00000000202611211230abcDEF12345' },
      metadata: { order: 42 },
      created_at: '2026-11-21T12:00:00.000Z',
      expected_payer_tax_id: '52998224725',
    });
  });

  it('leaves out missing values', () => {
    const bare = aTransaction({
      customerName: null,
      customerDocument: null,
      customerEmail: null,
      customerPhone: null,
      expectedPayerTaxId: null,
      txid: null,
      metadata: {},
    });
    expect(chargeBody(bare, BASE)).toStrictEqual({
      id: `ch_${RAW}`,
      object: 'charge',
      amount: 1990,
      currency: 'BRL',
      status: 'pending',
      payment_method: 'pix',
      customer: {},
      pix: {
        br_code: '00020126',
        qr_code_url: `${BASE}/checkout/${RAW}/qr.png`,
        expires_at: '2026-11-21T13:00:00.000Z',
      },
      checkout_url: `${BASE}/checkout/${RAW}`,
      settlement: {},
      metadata: {},
      created_at: '2026-11-21T12:00:00.000Z',
    });
  });

  it('never shows fees, accounts, modes, acquirers or columns that a later version adds', () => {
    const later = { ...aPaidTransaction({ expectedPayerTaxId: null }), payerDocument: '11144477735', cost: 3 };
    const text = JSON.stringify(chargeBody(later, BASE));
    for (const secret of ['sandbox', later.accountId, 'Fee', 'fee', 'net', '11144477735', 'cost', 'mode', '1945']) {
      expect(text).not.toContain(secret);
    }
  });

  it('shows Pix that were sent back, if there are any', () => {
    const back = { amount: 5, reason: 'duplicate', endToEndId: 'E1', at: '2026-11-21T13:00:00.000Z', cost: 1 } as const;
    expect(chargeBody(aPaidTransaction({ returns: [back] }), BASE).returns).toStrictEqual([
      { amount: 5, reason: 'duplicate', end_to_end_id: 'E1', at: '2026-11-21T13:00:00.000Z' },
    ]);
    expect(chargeBody(aPaidTransaction(), BASE)).not.toHaveProperty('returns');
    const old = JSON.parse(
      JSON.stringify({ ...toSnapshot(aPaidTransaction()), returns: undefined }),
    ) as TransactionSnapshot;
    expect(chargeBody({ ...fromSnapshot(old), med: null }, BASE)).not.toHaveProperty('returns');
  });

  it('shows the refunded amount after a refund, but not in events of an earlier version', () => {
    expect(chargeBody(aPaidTransaction({ refundsAmount: 990 }), BASE)).toStrictEqual({
      ...chargeBody(aPaidTransaction(), BASE),
      amount_refunded: 990,
    });
    expect(chargeBody(aPaidTransaction(), BASE)).not.toHaveProperty('amount_refunded');
    const old = JSON.parse(
      JSON.stringify({ ...toSnapshot(aPaidTransaction()), refundsAmount: undefined }),
    ) as TransactionSnapshot;
    expect(chargeBody({ ...fromSnapshot(old), med: null }, BASE)).not.toHaveProperty('amount_refunded');
  });

  it('shows the end-to-end id only for credited money', () => {
    expect(chargeBody(aTransaction({ endToEndId: 'E1' }), BASE).settlement).toEqual({});
    expect(chargeBody(aPaidTransaction({ endToEndId: null }), BASE).settlement).toEqual({});
    expect(chargeBody(aPaidTransaction({ status: 'DISPUTE' }), BASE).settlement).toEqual({
      end_to_end_id: 'E00000000202611211230abcDEF12345',
    });
  });

  it('carries the block of its dispute in its metadata, over a key of the same name', () => {
    const med = {
      referenceId: 'E00000000202611211230abcDEF12345',
      status: 'created',
      openedAt: '2026-11-21T13:00:00.000Z',
      updatedAt: '2026-11-21T13:00:00.000Z',
      lastEventAt: '2026-11-21T13:00:00.000Z',
      amountMismatch: false,
    } as const;
    const disputed = aPaidTransaction({ status: 'DISPUTE', med, metadata: { a: 1, med: 'forged' } });
    expect(chargeBody(disputed, BASE).metadata).toEqual({ a: 1, med });
  });

  it('carries the failure block in its metadata, over a key of the same name', () => {
    const failure = expiryFailure(aTransaction(), new Date('2026-11-21T13:00:00.000Z'));
    const expired = aTransaction({ status: 'EXPIRED', failure, metadata: { a: 1, failure: 'forged' } });
    expect(chargeBody(expired, BASE).metadata).toEqual({ a: 1, failure });
    expect(expired.metadata).toEqual({ a: 1, failure: 'forged' });
  });
});

describe('the public status', () => {
  it('is mapped from every internal status as the contract says', () => {
    expect(TRANSACTION_STATUSES.map((status) => [status, publicStatus(status)])).toEqual([
      ['PENDING', 'pending'],
      ['WAITING_PAYMENT', 'pending'],
      ['PROCESSING', 'processing'],
      ['PAID', 'paid'],
      ['APPROVED', 'paid'],
      ['REFUSED', 'failed'],
      ['CANCELLED', 'cancelled'],
      ['EXPIRED', 'expired'],
      ['REFUNDED', 'refunded'],
      ['CHARGEBACK', 'disputed'],
      ['DISPUTE', 'disputed'],
    ]);
  });

  it('is converted back for filters without losing or doubling a status', () => {
    expect(PUBLIC_STATUSES.flatMap(transactionStatusesOf).sort()).toEqual([...TRANSACTION_STATUSES].sort());
    expect(transactionStatusesOf('paid')).toEqual(['PAID', 'APPROVED']);
  });
});
