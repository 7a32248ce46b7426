import { HOUR_MS } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { NewEvent } from '../../outbox/index.js';
import { sampleTransactionEvent } from '../../transactions/index.js';
import { medCaseBody } from '../desk/med-case.serializer.js';
import { type MedCase, UNTOUCHED } from './med-case.js';
import { type DisputedSale, medEvent, type MedEventType, resolvedEvent } from './med.events.js';

const DAY_MS = 24 * HOUR_MS;
const AMOUNT = 1990;
const DEADLINE_MS = 7 * DAY_MS;

/** How long ago the case of a sample was opened. */
const AGE_MS: Readonly<Record<MedEventType, number>> = {
  'med_case.opened': 0,
  'med_case.moved': DAY_MS,
  'med_case.evidence_requested': DAY_MS,
  'med_case.deadline_approaching': DEADLINE_MS - 48 * HOUR_MS,
};

/** An event of a case that never was, for merchants who try their receiver: new ids each time, nothing of it is stored. */
export function sampleMedEvent(type: MedEventType, scope: Scope, now: Date): NewEvent<MedEventType> {
  const open = sampleCase(scope, now, AGE_MS[type]);
  const sale = saleOf(open);
  switch (type) {
    case 'med_case.moved':
      return medEvent(
        type,
        { ...open, status: 'appealed', appealReason: 'The goods were delivered.', appealedAt: now },
        sale,
      );
    case 'med_case.evidence_requested':
      return medEvent(type, { ...open, evidenceRequestedAt: now }, sale);
    case 'med_case.opened':
    case 'med_case.deadline_approaching':
      return medEvent(type, open, sale);
  }
}

export function sampleResolvedEvent(
  _type: 'med_case.resolved',
  scope: Scope,
  now: Date,
): NewEvent<'med_case.resolved'> {
  const open = sampleCase(scope, now, DAY_MS);
  const ended = { status: 'closed', moneyOutcome: 'refunded_to_merchant', heldAmount: 0, closedAt: now } as const;
  return resolvedEvent({ ...open, ...ended }, saleOf(open), AMOUNT, false);
}

/** A sample event of a charge that was paid by card and is disputed. */
export function sampleDisputedEvent(
  type: 'transaction.card_disputed',
  scope: Scope,
  now: Date,
): NewEvent<'transaction.card_disputed'> {
  const { data, ...event } = sampleTransactionEvent('transaction.paid', scope, now);
  const transaction = {
    ...data.transaction,
    status: 'DISPUTE',
    paymentMethods: ['PIX', 'CREDIT_CARD'],
    paidWith: 'CREDIT_CARD',
    endToEndId: null,
  } as const;
  const medCase = { ...sampleCase(scope, now, 0), type: 'dispute', transactionId: transaction.id } as const;
  return { ...event, type, data: { transaction, previousStatus: 'APPROVED', case: medCaseBody(medCase) } };
}

function saleOf({ transactionId }: MedCase): DisputedSale {
  return { id: transactionId, amount: AMOUNT, metadata: { sample: true } };
}

function sampleCase(scope: Scope, now: Date, ageMs: number): MedCase {
  const openedAt = new Date(now.getTime() - ageMs);
  return {
    ...UNTOUCHED,
    id: newId(openedAt),
    accountId: scope.accountId,
    mode: scope.mode,
    transactionId: newId(new Date(openedAt.getTime() - DAY_MS)),
    acquirer: 'sandbox',
    reference: 'sample',
    paymentReference: 'sample',
    type: 'med',
    status: 'open',
    visible: true,
    amount: AMOUNT,
    reportedAmount: AMOUNT,
    heldAmount: AMOUNT,
    lostAmount: 0,
    currency: 'BRL',
    reason: 'I did not make this payment.',
    responseDeadline: new Date(openedAt.getTime() + DEADLINE_MS),
    evidenceCount: 0,
    openedAt,
    bank: {
      status: 'created',
      result: null,
      method: 'scam',
      payerSealed: null,
      updatedAt: openedAt,
      closedAt: null,
      appliedAt: openedAt,
    },
    createdAt: openedAt,
    updatedAt: now,
  };
}
