import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import { fingerprintOf } from '../core/crypto/index.js';
import { Database } from '../core/database/index.js';
import { type Draft, invalidRequest } from '../core/errors/index.js';
import { IdempotencyService, type IdempotentAnswer, keyReused } from '../core/idempotency/index.js';
import { FraudGuard } from '../fraud/index.js';
import { publicMetadata } from '../transactions/index.js';
import type { PayoutBody } from './dto/payout.body.js';
import type { CreatePayoutDto } from './dto/payout.dto.js';
import { bareDestinationId, PayoutDestinationsService } from './payout-destinations.service.js';
import { type PayoutCaller, PayoutOpening } from './payout-opening.service.js';
import { payoutBody, payoutSnapshot } from './payout.serializer.js';
import { PayoutsService } from './payouts.service.js';
import { codeAmountOf, readTarget, shownTarget } from './targets.js';

/** Takes merchants' requests for payouts; PayoutProcessor carries them out. */
@Injectable()
export class PayoutRequests {
  constructor(
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
    private readonly payouts: PayoutsService,
    private readonly destinations: PayoutDestinationsService,
    private readonly opening: PayoutOpening,
    private readonly accounts: AccountsService,
    private readonly fraud: FraudGuard,
  ) {}

  /**
   * Accepts a payout: its money is set aside, and the PSP is called later. A refused request leaves its key free.
   * @throws ApiError 400 with every violation; 403 `fraud.document_blocked`, `fraud.velocity_exceeded`; 409 (idempotency),
   *   `likely_duplicate`; 422 `destination_not_found`, `PAYOUT_NOT_SUPPORTED` and what `PayoutOpening.open` throws
   */
  async create(
    caller: PayoutCaller,
    draft: Draft<CreatePayoutDto>,
    key: string,
  ): Promise<IdempotentAnswer<PayoutBody>> {
    const { scope, account } = caller;
    const { destination: sent, amount: sentAmount = null } = draft.sound;
    const read = typeof sent === 'object' ? readTarget(sent, 'destination', sentAmount) : null;
    const dto = draft.accept([...(read?.violations ?? [])]);
    const { amount, description = null, metadata = {}, allow_duplicate: allowsDuplicate = false } = dto;
    const asWritten = { amount, description, metadata };
    // A repetition is answered also when its saved destination is gone.
    const to = typeof dto.destination === 'string' ? bareDestinationId(dto.destination) : (read?.target ?? null);
    const request = {
      ...scope,
      operation: 'payouts.create',
      key,
      fingerprint: fingerprintOf({ ...asWritten, to }),
      permanent: true,
    };
    const begun = await this.idempotency.begin<PayoutBody>(request);
    if (begun.kind === 'replay') return begun.answer;
    const { claim } = begun;
    if (begun.kind === 'resume') {
      const body = await this.payouts.get(scope, begun.resourceId);
      // The fingerprint of an erased receiver is gone: these fields show whether it is the same request.
      const isSameReceiver =
        typeof to === 'string'
          ? body.destination.id === `pd_${to}`
          : to !== null && isDeepStrictEqual(body.destination, shownTarget(to));
      if (body.amount !== amount || !isSameReceiver) throw keyReused();
      return { status: 201, body, replayed: true };
    }
    try {
      const saved = typeof to === 'string' ? await this.destinations.receiver(scope, to) : null;
      const target = saved?.target ?? read?.target;
      if (!target) throw new Error('A receiver without violations was not read');
      const { taxId } = target;
      const codeAmount = codeAmountOf(target);
      if (codeAmount !== null && codeAmount !== amount) {
        const message = `must be the amount of the saved Pix code: it says ${codeAmount} cents`;
        throw invalidRequest([{ param: 'amount', code: 'amount_mismatch', message }]);
      }
      const asked = { operation: 'payout', amount, document: taxId, destination: taxId, request } as const;
      claim.admission = await this.fraud.check(scope, account, asked);
      const details = await this.accounts.details(scope.accountId);
      return await this.database.transaction(async (tx) => {
        const made = this.opening.newIdAndTime();
        claim.take(tx, made.id, null);
        const asker = { ...caller, account: details };
        const destination = saved?.destination ?? null;
        const wanted = {
          ...{ amount, description, metadata: publicMetadata(metadata) },
          ...{ target, destination, allowsDuplicate, occurrence: null },
        };
        const payout = await this.opening.open(tx, made, asker, wanted);
        const answer = { status: 201, body: payoutBody(payoutSnapshot(payout)) };
        claim.complete(tx, answer);
        return { ...answer, replayed: false };
      });
    } catch (error) {
      throw await this.idempotency.failed(error, claim);
    }
  }
}
