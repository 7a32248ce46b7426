import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { ApiError } from '../core/errors/index.js';
import { FIRST_ID } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { doubling, type Work, type WorkAnswer, type Worker } from '../core/work/index.js';
import { CancellationService } from '../transactions/index.js';
import { closedReason } from './payment-link.js';
import { PaymentLinksRepository } from './payment-links.repository.js';

const BATCH = 100;

/**
 * Cancels the open charges of a link that has closed, so that nobody is invited to pay them. Charges past their own
 * expiry are left out: a Pix that was in time by the bank's clock still pays them.
 */
@Injectable()
export class PaymentLinkProcessor implements Worker {
  readonly kind = 'payment_link';
  readonly concurrency = 2;
  readonly backoff = doubling(1_000, 60_000);
  readonly leaseMs = 60_000;

  constructor(
    private readonly links: PaymentLinksRepository,
    private readonly cancellation: CancellationService,
    private readonly clock: Clock,
  ) {}

  async run({ subjectId, prolong }: Work): Promise<WorkAnswer> {
    const link = await this.links.findAny(subjectId);
    if (!link) return 'done';
    if (closedReason(link, this.clock.now()) === null) return link.expiresAt ?? 'done';
    let after = FIRST_ID;
    for (;;) {
      const ids = await this.links.openCharges(link.id, after, this.clock.now(), BATCH);
      const last = ids.at(-1);
      if (last === undefined) return 'done';
      for (const id of ids) await this.#cancel(link, id);
      after = last;
      await prolong();
    }
  }

  async #cancel({ accountId, mode }: Scope, id: string): Promise<void> {
    try {
      await this.cancellation.cancel({ accountId, mode }, id);
    } catch (error) {
      // The charge was paid or expired meanwhile.
      if (!(error instanceof ApiError) || error.code !== 'payment_not_cancellable') throw error;
    }
  }
}
