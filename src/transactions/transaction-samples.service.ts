import { Injectable, type OnModuleInit } from '@nestjs/common';
import { encodeBrCode, newEndToEndId, newTxid } from '../brazil/index.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { EventCatalog, type NewEvent } from '../outbox/index.js';
import { expiryFailure, failureOf, type Transaction, UNTOUCHED } from './transaction.js';
import { EVENT_OF, STATUS_EVENTS, transactionEvent, type TransactionEventType } from './transaction.events.js';
import { type Move, MOVES, type TransactionStatus, type Trigger } from './transactions.machine.js';

const LIFETIME_MS = 3_600_000;
const AMOUNT = 1990;
const PLATFORM_FEE = 20;

/** Events that do not follow a payment. Each public name is made from one of these, so they are enough. */
export const SAMPLED_EVENTS = STATUS_EVENTS.filter((type) =>
  moveOf(type).from.some((status) => status === 'PENDING' || status === 'WAITING_PAYMENT'),
);

@Injectable()
export class TransactionSamples implements OnModuleInit {
  constructor(private readonly catalog: EventCatalog) {}

  onModuleInit(): void {
    this.catalog.registerSample(SAMPLED_EVENTS, sampleTransactionEvent);
    this.catalog.registerSample(['refund.returned'], sampleRefundEvent);
  }
}

/** Builds a sample event of a refund that returned all of a payment. */
function sampleRefundEvent(_type: 'refund.returned', scope: Scope, now: Date): NewEvent<'refund.returned'> {
  const { data, ...event } = sampleTransactionEvent('transaction.paid', scope, now);
  const refund = { id: newId(now), amount: AMOUNT, status: 'REFUNDED', reason: 'Sample', failureReason: null } as const;
  const transaction = { ...data.transaction, status: 'REFUNDED', refundsAmount: AMOUNT } as const;
  return { ...event, type: 'refund.returned', data: { transaction, previousStatus: 'PAID', refund } };
}

/**
 * Builds a complete, valid event of an invented Pix charge, for merchants who test their receiver. Ids are new each
 * time, and the metadata are `{"sample": true}`. Nothing is stored.
 */
export function sampleTransactionEvent(
  type: TransactionEventType,
  scope: Scope,
  now: Date,
): NewEvent<TransactionEventType> {
  const status = statusAfter(type);
  // A creation happened just now. Other events came a minute after it, or an expiry at the end of its lifetime.
  const age = type === 'transaction.created' ? 0 : status === 'EXPIRED' ? LIFETIME_MS : 60_000;
  const createdAt = new Date(now.getTime() - age);
  const expiresAt = new Date(createdAt.getTime() + LIFETIME_MS);
  const txid = newTxid();
  const isPaid = status === 'PAID';
  const transaction: Transaction = {
    ...UNTOUCHED,
    id: newId(createdAt),
    accountId: scope.accountId,
    mode: scope.mode,
    status,
    amount: AMOUNT,
    currency: 'BRL',
    paymentMethods: ['PIX'],
    paidWith: isPaid ? 'PIX' : null,
    customerName: 'Maria da Silva',
    customerDocument: '52998224725',
    customerEmail: 'maria@example.com',
    customerPhone: '+5511987654321',
    metadata: { sample: true },
    acquirer: 'sandbox',
    txid,
    brCode: encodeBrCode({
      kind: 'dynamic',
      location: `pix.example.com/${txid}`,
      merchantName: 'Sample',
      merchantCity: 'Sao Paulo',
      amount: AMOUNT,
    }),
    expiresAt,
    endToEndId: isPaid ? newEndToEndId('00000000', now) : null,
    providerFee: isPaid ? 0 : null,
    platformFee: isPaid ? PLATFORM_FEE : null,
    netAmount: isPaid ? AMOUNT - PLATFORM_FEE : null,
    paidAt: isPaid ? now : null,
    failure: sampleFailure(status, { createdAt, expiresAt }, now),
    createdAt,
    updatedAt: now,
  };
  return transactionEvent(type, transaction, type === 'transaction.created' ? null : 'WAITING_PAYMENT');
}

function statusAfter(type: TransactionEventType): TransactionStatus {
  return moveOf(type).to;
}

function moveOf(type: TransactionEventType): Move {
  const trigger = (Object.keys(EVENT_OF) as Trigger[]).find((candidate) => EVENT_OF[candidate] === type);
  if (!trigger) throw new Error(`${type} is the event of no move`);
  return MOVES[trigger];
}

function sampleFailure(
  status: TransactionStatus,
  times: Pick<Transaction, 'createdAt' | 'expiresAt'>,
  now: Date,
): Transaction['failure'] {
  if (status === 'EXPIRED') return expiryFailure(times, now);
  if (status === 'REFUSED') {
    return failureOf(times, { reason: 'The acquirer refused the charge.', providerErrorCode: 'refused', at: now });
  }
  if (status === 'CANCELLED') {
    return failureOf(times, { reason: 'The charge was cancelled.', providerErrorCode: 'canceled', at: now });
  }
  return null;
}
