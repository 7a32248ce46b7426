import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { WorkService } from '../core/work/index.js';
import { type PaymentLimit, PaymentLimits, type Transaction } from '../transactions/index.js';
import { PaymentLinksRepository } from './payment-links.repository.js';

/** Counts the payments of links, in the transactions that credit them: never more than `max_payments`. */
@Injectable()
export class PaymentLinkLimit implements PaymentLimit, OnModuleInit {
  constructor(
    private readonly limits: PaymentLimits,
    private readonly links: PaymentLinksRepository,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.limits.register(this);
  }

  /** Merchants may write the same key into charges of their own, so `take` looks the charge up. */
  mayApply({ metadata }: Transaction): boolean {
    return typeof metadata['payment_link'] === 'string';
  }

  async take(tx: Tx, { id, amount }: Transaction): Promise<boolean> {
    const taken = await this.links.take(tx, id, amount);
    if (taken?.isFull === true) this.work.add(tx, 'payment_link', taken.id, this.clock.now());
    return taken !== null || !(await this.links.isCharge(tx, id));
  }
}
