import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { PayoutTarget } from '../acquirers/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { business, conflict, type Draft, notFound } from '../core/errors/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { CreatePayoutDestinationDto } from './dto/payout.dto.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import { PayoutDestinationsRepository } from './payout-destinations.repository.js';
import { PayoutMails } from './payout-mails.service.js';
import { PayoutTargets } from './payout-targets.service.js';
import type { PayoutCaller } from './payout-opening.service.js';
import { readTarget, shownTarget } from './targets.js';

/** @param sent an id as requests write it: `pd_<uuid>` or the bare uuid, also in capitals */
export function bareDestinationId(sent: string): string {
  return sent.replace(/^pd_/i, '').toLowerCase();
}

/** Receivers that merchants save. */
@Injectable()
export class PayoutDestinationsService {
  constructor(
    private readonly database: Database,
    private readonly destinations: PayoutDestinationsRepository,
    private readonly targets: PayoutTargets,
    private readonly mails: PayoutMails,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Saves a receiver. A receiver that is saved already is answered as it is. @throws ApiError 400 with every violation */
  async save(
    { scope, personId, actor }: Omit<PayoutCaller, 'account'>,
    draft: Draft<CreatePayoutDestinationDto>,
  ): Promise<PayoutDestination> {
    const { label: _label, ...sent } = draft.sound;
    const read = draft.sound.type === undefined ? null : readTarget(sent, '', null);
    const dto = draft.accept([...(read?.violations ?? [])]);
    const target = read?.target;
    if (!target) throw new Error('A receiver without violations was not read');
    const now = this.clock.now();
    const id = newId(now);
    const destination: PayoutDestination = {
      id,
      ...scope,
      type: target.type,
      label: dto.label ?? null,
      shown: shownTarget(target),
      targetSealed: this.targets.seal(target, 'payout_destination', id),
      targetHash: this.targets.hashOf(target),
      taxIdHash: target.taxId === null ? null : this.targets.taxIdHash(target.taxId),
      createdBy: personId,
      approvedBy: null,
      approvedAt: null,
      createdAt: now,
      deletedAt: null,
    };
    const isNew = await this.database.transaction(async (tx) => {
      if (!(await this.destinations.insert(tx, destination))) return false;
      const data = { mode: scope.mode, destination_id: id };
      this.audit.record(tx, actor, 'payout_destination.saved', scope.accountId, { data });
      await this.mails.destinationSaved(tx, destination);
      return true;
    });
    if (isNew) return destination;
    const saved = await this.destinations.findByHash(scope, destination.targetHash);
    if (!saved) throw conflict('destination_changed', 'This destination was deleted a moment ago: save it again.');
    if (!isDeepStrictEqual(saved.taxIdHash, destination.taxIdHash) && destination.taxIdHash !== null) {
      throw conflict('destination_changed', 'This destination is saved with another tax id: delete it, then save it.');
    }
    return saved;
  }

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<PayoutDestination> {
    const destination = await this.destinations.find(scope, id);
    if (!destination) throw notFound('payout destination');
    return destination;
  }

  /** @param id bare @throws ApiError 422 `destination_not_found` */
  async receiver(
    scope: Scope,
    id: string,
  ): Promise<{ readonly destination: PayoutDestination; readonly target: PayoutTarget }> {
    const destination = await this.destinations.find(scope, id);
    const target = destination && this.targets.openDestination(destination);
    if (!target) throw business('destination_not_found', 'No such payout destination; list them or save one.');
    return { destination, target };
  }

  /** Newest first. */
  list(scope: Scope, filter: IdCursorFilter): Promise<PayoutDestination[]> {
    return this.destinations.list(scope, filter);
  }

  /** Deletes a destination. Payouts to it that exist go on. @throws ApiError 404 */
  async remove(scope: Scope, id: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      if (!(await this.destinations.remove(tx, scope, id, this.clock.now()))) throw notFound('payout destination');
      const data = { mode: scope.mode, destination_id: id };
      this.audit.record(tx, actor, 'payout_destination.deleted', scope.accountId, { data });
    });
  }
}
