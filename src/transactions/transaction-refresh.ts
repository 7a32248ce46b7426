import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { type DomainEvent, EventCatalog } from '../outbox/index.js';
import { asOf, toSnapshot } from './transaction.js';
import { STATUS_EVENTS, type TransactionEventType } from './transaction.events.js';
import { TransactionsRepository } from './transactions.repository.js';

/** An event that is told again later carries its transaction as a read of it would show it now. */
@Injectable()
export class TransactionRefresh implements OnModuleInit {
  constructor(
    private readonly catalog: EventCatalog,
    private readonly transactions: TransactionsRepository,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.catalog.registerRefresh(STATUS_EVENTS, (tx, events) => this.#refresh(tx, events));
  }

  async #refresh(
    tx: Tx,
    events: readonly DomainEvent<TransactionEventType>[],
  ): Promise<DomainEvent<TransactionEventType>[]> {
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
