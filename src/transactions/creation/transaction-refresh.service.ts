import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { type DomainEvent, EventCatalog } from '../../outbox/index.js';
import { toRefundSnapshot } from '../refunds/refund.js';
import { asOf, toSnapshot } from '../transaction.js';
import { REFUND_EVENT_OF, type RefundEventType } from '../refunds/refunds.events.js';
import { RefundsRepository } from '../refunds/refunds.repository.js';
import { STATUS_EVENTS, type TransactionEventType } from '../transaction.events.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** An event that is told again later carries its transaction as a read of it would show it now. */
@Injectable()
export class TransactionRefresh implements OnModuleInit {
  constructor(
    private readonly catalog: EventCatalog,
    private readonly transactions: TransactionsRepository,
    private readonly refunds: RefundsRepository,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const types: readonly TransactionEventType[] = [...STATUS_EVENTS, 'transaction.accepted', 'transaction.issued'];
    this.catalog.registerRefresh(types, (tx, events) => this.#refresh(tx, events));
    this.catalog.registerRefresh(Object.values(REFUND_EVENT_OF), (tx, events) => this.#refreshRefunds(tx, events));
  }

  async #refreshRefunds(
    tx: Tx,
    events: readonly DomainEvent<RefundEventType>[],
  ): Promise<DomainEvent<RefundEventType>[]> {
    const found = await this.refunds.findAll(
      tx,
      events.map((event) => event.data.refund.id),
    );
    const byId = new Map(found.map((refund) => [refund.id, refund]));
    return (await this.#refresh(tx, events)).flatMap((event) => {
      const refund = byId.get(event.data.refund.id);
      return refund ? [{ ...event, data: { ...event.data, refund: toRefundSnapshot(refund) } }] : [];
    });
  }

  async #refresh<T extends TransactionEventType | RefundEventType>(
    tx: Tx,
    events: readonly DomainEvent<T>[],
  ): Promise<DomainEvent<T>[]> {
    const found = await this.transactions.findAll(
      tx,
      events.map((event) => event.subjectId),
    );
    const byId = new Map(found.map((transaction) => [transaction.id, transaction]));
    const now = this.clock.now();
    return events.flatMap((event) => {
      const transaction = byId.get(event.subjectId);
      if (!transaction) return [];
      return [{ ...event, data: { ...event.data, transaction: toSnapshot(asOf(transaction, now)) } }];
    });
  }
}
