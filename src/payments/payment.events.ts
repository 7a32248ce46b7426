import { Injectable, type OnModuleInit } from '@nestjs/common';
import { EventCatalog } from '../outbox/index.js';
import type { TransactionEventType } from '../transactions/index.js';
import { legacyPayment } from './payment-event.serializer.js';

const EVENTS: readonly { name: string; from: readonly TransactionEventType[]; description: string }[] = [
  { name: 'payment.created', from: ['transaction.created'], description: 'A payment was created.' },
  { name: 'payment.completed', from: ['transaction.paid'], description: 'A payment became PAID or APPROVED.' },
  {
    name: 'payment.failed',
    from: ['transaction.refused', 'transaction.cancelled', 'transaction.expired'],
    description: 'A payment was refused, cancelled, expired or disputed.',
  },
  { name: 'payment.expired', from: ['transaction.expired'], description: 'A payment expired.' },
  {
    name: 'payment.refunded',
    from: ['transaction.returned'],
    description: 'A refund moved on, or a Pix was returned because its payer did not match the payer lock.',
  },
  {
    name: 'payment.status_changed',
    from: [
      'transaction.paid',
      'transaction.refused',
      'transaction.cancelled',
      'transaction.expired',
      'transaction.returned',
    ],
    description: 'Alias: any of the above that changed the status.',
  },
];

/** The older event family. Source: interface.md "Legacy event family", decisions §4.2. */
@Injectable()
export class PaymentEvents implements OnModuleInit {
  constructor(private readonly catalog: EventCatalog) {}

  onModuleInit(): void {
    for (const { name, from, description } of EVENTS) {
      for (const type of from) {
        this.catalog.register({ name, description, family: 'legacy', from: type, present: legacyPayment });
      }
    }
  }
}
