import { Injectable } from '@nestjs/common';
import { newReturnId } from '../../brazil/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import type { Work, WorkAnswer, Worker } from '../../core/work/index.js';
import { RETURN_BACKOFF, ReturnCalls } from '../returns/return-calls.service.js';
import { RefundTransitions } from './refund-transitions.service.js';
import type { Refund } from './refund.js';
import { RefundsRepository } from './refunds.repository.js';

/** Carries refunds out: intent, call, outcome. */
@Injectable()
export class RefundProcessor implements Worker {
  readonly kind = 'refund';
  readonly concurrency = 16;
  readonly backoff = RETURN_BACKOFF;
  readonly leaseMs = 30_000;

  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly transitions: RefundTransitions,
    private readonly calls: ReturnCalls,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Takes a refund one step further. May run any number of times for the same refund, also at once: every call to the
   * acquirer has the same name, and every outcome is written once. The concurrency leaves room for other acquirers'
   * refunds when one acquirer hangs.
   */
  async run({ subjectId, attempt, prolong }: Work): Promise<WorkAnswer> {
    const found = await this.refunds.findOpen(subjectId);
    if (!found) return 'done';
    const isNew = found.refund.status === 'PENDING';
    const destination = this.#destination(found.refund, found.payerDocumentSealed);
    const refund = isNew
      ? await this.database.transaction((tx) => this.transitions.send(tx, found.refund))
      : found.refund;
    if (!refund) return 'again';
    const { accountId, way, paymentReference, amount, currency } = refund;
    // Derives the return id from the refund's own id: the same at every attempt and in every process.
    const returnId = newReturnId(refund.id);
    const name = { accountId, way, reference: paymentReference, returnId };
    const request = { ...name, cause: 'refund', amount, currency, destination } as const;
    // The refund became IN_PROGRESS just before its first call, and has not changed since.
    const earlier = isNew ? null : { attempts: attempt - 1, since: refund.updatedAt };
    // If a dispute holds the same money, a call that may have been lost is only looked up, not made again, until the
    // ruling. After the ruling the same holds if the dispute took money that the refund would give back twice.
    const isClaimed = found.isDisputed && !isNew && (await this.transitions.isClaimed(null, refund));
    const mayCall = !isClaimed && !found.isOvertaken;
    const state = mayCall
      ? await this.calls.advance(refund.acquirer, request, earlier, prolong)
      : await this.calls.ask(refund.acquirer, request, isClaimed ? null : earlier);
    if (state.kind === 'in_progress' || state.kind === 'not_found') return 'again';
    await this.database.transaction(async (tx) => {
      // Renews the lease: an overtaken run does not know which calls the other run has had accepted.
      if (state.kind === 'failed') await prolong(tx);
      await this.transitions.record(tx, refund, state);
    });
    return 'done';
  }

  #destination(refund: Refund, payerDocumentSealed: Buffer | null): string | null {
    if (refund.way !== 'cashout') return null;
    if (refund.destinationSealed) return this.secrets.open(refund.destinationSealed, `refund:${refund.id}`);
    if (payerDocumentSealed) return this.secrets.open(payerDocumentSealed, `settlement:${refund.paymentReference}`);
    throw new Error(`The refund ${refund.id} goes nowhere: it has no key and its payer is not known`);
  }
}
