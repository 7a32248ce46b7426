import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { newEndToEndId } from '../brazil/index.js';
import { Integer, Text } from '../core/http/index.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import {
  declareEventRules,
  type DomainEvent,
  EventCatalog,
  LegacyData,
  legacyData,
  type NewEvent,
} from '../outbox/index.js';
import { PayoutBody, PayoutFailureBody, PayoutReturnBody } from './dto/payout.body.js';
import { payoutBody, type PayoutSnapshot, payoutSnapshot } from './payout.serializer.js';
import type { PayoutStatus, PayoutTrigger } from './payouts.machine.js';
import type { ShownReturn, WholePayout } from './payouts.repository.js';

export interface PayoutEventData {
  /** The payout after the change. */
  readonly payout: PayoutSnapshot;
  /** Null: the payout is new. */
  readonly previousStatus: PayoutStatus | null;
  /** The part that came back; only in `payout.returned`. */
  readonly return?: ShownReturn;
}

declare module '../outbox/index.js' {
  interface DomainEvents {
    'payout.requested': PayoutEventData;
    'payout.approved': PayoutEventData;
    'payout.sent': PayoutEventData;
    'payout.put_back': PayoutEventData;
    'payout.paid': PayoutEventData;
    'payout.ended': PayoutEventData;
    'payout.returned': PayoutEventData;
  }
}

/** Seals the merchant's own words, which may name a person. Receivers are masked. */
declareEventRules({ sealed: { within: 'payout', fields: { description: null, metadata: {} } }, kept: [] });

export type PayoutEventType =
  | 'payout.requested'
  | 'payout.approved'
  | 'payout.sent'
  | 'payout.put_back'
  | 'payout.paid'
  | 'payout.ended'
  | 'payout.returned';

/** Each move has its event; returns have theirs, whether they end the payout or not. */
export const PAYOUT_EVENT_OF: Readonly<Record<Exclude<PayoutTrigger, 'returned'>, PayoutEventType>> = {
  approved: 'payout.approved',
  disapproved: 'payout.ended',
  cancelled: 'payout.ended',
  stopped: 'payout.ended',
  sent: 'payout.sent',
  put_back: 'payout.put_back',
  paid: 'payout.paid',
  refused: 'payout.ended',
  revoked: 'payout.ended',
};

export function payoutEvent(
  type: PayoutEventType,
  payout: WholePayout,
  previousStatus: PayoutStatus | null,
  returned?: ShownReturn,
): NewEvent<PayoutEventType> {
  return {
    accountId: payout.accountId,
    mode: payout.mode,
    type,
    subjectId: payout.id,
    data: {
      payout: payoutSnapshot(payout),
      previousStatus,
      ...(returned === undefined ? {} : { return: returned }),
    },
    occurredAt: payout.updatedAt,
  };
}

interface Named {
  readonly name: string;
  readonly legacy: string;
  readonly from: readonly PayoutEventType[];
  readonly description: string;
}

const EVENTS: readonly Named[] = [
  {
    name: 'payout.created',
    legacy: 'withdrawal.created',
    from: ['payout.requested'],
    description: 'A payout was requested.',
  },
  {
    name: 'payout.paid',
    legacy: 'withdrawal.completed',
    from: ['payout.paid'],
    description: 'The receiver of a payout has the money.',
  },
  {
    name: 'payout.failed',
    legacy: 'withdrawal.failed',
    from: ['payout.ended', 'payout.returned'],
    description: 'A payout failed or was cancelled, or a part of it came back.',
  },
];

/** `data.failure` or `data.return` of `payout.failed`. */
function causeOf({ data }: DomainEvent<PayoutEventType>): Readonly<Record<string, unknown>> {
  if (data.return !== undefined) return { return: data.return };
  const { failure, updatedAt } = data.payout;
  return failure === null ? {} : { failure: { reason: failure, at: updatedAt } };
}

/** `data` of a legacy event of a payout. */
export class LegacyPayoutData extends LegacyData {
  @Text('Bare id of the payout.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') withdrawalId!: string;
  @Integer('Fee of the platform, smallest unit.', 0) fee!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @ApiPropertyOptional({ description: 'Of the Pix that was sent.', example: 'E00000000202611211530abcDEF12345' })
  endToEndId?: string;
  @ApiPropertyOptional({ description: 'Code of the reason, if it failed.', example: 'destination_invalid' })
  failureReason?: string;
  @ApiPropertyOptional({ description: 'Sum of what came back, smallest unit.', type: 'integer', example: 990 })
  amountReturned?: number;
  @ApiPropertyOptional({ description: 'Id of the part that came back.', example: 'D00000000202611211530abcDEF12345' })
  returnId?: string;
  @ApiPropertyOptional({ description: 'Amount of the part that came back.', type: 'integer', example: 990 })
  returnAmount?: number;
}

/** Fields beside `object` in `data` of `payout.failed`: one of the two. */
export class PayoutFailedDataBody {
  @ApiPropertyOptional({ description: 'Why it failed.', type: PayoutFailureBody }) failure?: PayoutFailureBody;
  @ApiPropertyOptional({ description: 'The part that came back.', type: PayoutReturnBody }) return?: PayoutReturnBody;
}

export function legacyPayout({ data, occurredAt }: DomainEvent<PayoutEventType>): LegacyPayoutData {
  const { payout: p, previousStatus, return: returned } = data;
  // The platform bears the fee of the PSP.
  const fees = { providerFee: 0, platformFee: p.fee, netAmount: p.amount - p.fee };
  const { amount, status } = p;
  return {
    ...legacyData(
      { transactionId: `po_${p.id}`, amount, status, previousStatus, paidWith: 'PIX', ...fees },
      occurredAt,
    ),
    withdrawalId: p.id,
    fee: p.fee,
    currency: p.currency,
    ...(p.paidAt === null || p.endToEndId === null ? {} : { endToEndId: p.endToEndId }),
    ...(p.failure === null ? {} : { failureReason: p.failure }),
    ...(p.amountReturned === 0 ? {} : { amountReturned: p.amountReturned }),
    ...(returned === undefined ? {} : { returnId: returned.return_id, returnAmount: returned.amount }),
  };
}

/** Public events of payouts, in both families. Source: docs/contract.md#payouts. */
@Injectable()
export class PayoutEvents implements OnModuleInit {
  constructor(private readonly catalog: EventCatalog) {}

  onModuleInit(): void {
    for (const { name, legacy, from: sources, description } of EVENTS) {
      for (const from of sources) {
        const beside = name === 'payout.failed' ? { beside: causeOf, besideBody: PayoutFailedDataBody } : {};
        this.catalog.register({
          ...{ name, description, family: 'canonical', from, ...beside },
          body: PayoutBody,
          present: ({ data }) => payoutBody(data.payout),
        });
        this.catalog.register({
          name: legacy,
          description,
          family: 'legacy',
          from,
          body: LegacyPayoutData,
          present: legacyPayout,
        });
      }
    }
    for (const type of new Set(Object.values(PAYOUT_EVENT_OF)).add('payout.returned')) {
      this.catalog.register({
        ...{ name: 'withdrawal.status_changed', family: 'legacy', isAlias: true, from: type },
        description: 'Alias: a payout changed its status.',
        body: LegacyPayoutData,
        // A part that came back leaves the status as it is.
        present: (event) => (event.data.payout.status === event.data.previousStatus ? null : legacyPayout(event)),
      });
    }
    this.catalog.registerSample(['payout.requested', 'payout.paid', 'payout.ended'], samplePayoutEvent);
  }
}

const AMOUNT = 150_000;

/** Builds a complete event of an invented payout, for merchants who test their receiver. */
export function samplePayoutEvent(type: PayoutEventType, scope: Scope, now: Date): NewEvent<PayoutEventType> {
  const isPaid = type === 'payout.paid';
  const isEnded = type === 'payout.ended';
  const createdAt = type === 'payout.requested' ? now : new Date(now.getTime() - 60_000);
  const payout: PayoutSnapshot = {
    id: newId(createdAt),
    amount: AMOUNT,
    fee: 0,
    currency: 'BRL',
    status: isPaid ? 'PAID' : isEnded ? 'FAILED' : 'QUEUED',
    destinationId: null,
    shown: { type: 'pix_key', key: '***.982.247-**', key_type: 'cpf', tax_id: '***.982.247-**' },
    description: null,
    metadata: { sample: true },
    needsApproval: false,
    processingReason: null,
    endToEndId: isPaid ? newEndToEndId('00000000', now) : null,
    failure: isEnded ? 'destination_invalid' : null,
    amountReturned: 0,
    returns: [],
    sendAfter: createdAt.toISOString(),
    paidAt: isPaid ? now.toISOString() : null,
    createdAt: createdAt.toISOString(),
    updatedAt: now.toISOString(),
  };
  const previousStatus = type === 'payout.requested' ? null : 'SENDING';
  return { ...scope, type, subjectId: payout.id, data: { payout, previousStatus }, occurredAt: now };
}
