import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { FIRST_ID } from '../core/ids.js';
import {
  type Customer,
  type CustomerDataHolder,
  CustomerDataService,
  type Erasure,
  erasureOf,
  type Eraser,
  type ExportedSections,
  type Waiting,
} from '../transactions/index.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import { PAYOUTS } from './payout-erasure.js';
import { PayoutPersonalDataRepository, type ReceiverHashes } from './payout-personal-data.repository.js';
import { PayoutTargets } from './payout-targets.service.js';
import type { Payout } from './payout.entity.js';
import { publicPayoutStatus } from './payout-status.js';
import { exportedTarget, keysOf } from './targets.js';

const BATCH = 500;

/** Exports and erases the data of receivers, for requests under the LGPD. */
@Injectable()
export class PayoutPersonalData implements CustomerDataHolder, OnModuleInit {
  readonly #eraser: Eraser;

  constructor(
    private readonly customers: CustomerDataService,
    private readonly repository: PayoutPersonalDataRepository,
    private readonly targets: PayoutTargets,
    private readonly database: Database,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {
    this.#eraser = customers.eraser(PAYOUTS);
  }

  onModuleInit(): void {
    this.customers.addHolder(this);
  }

  async export(accountId: string, who: Customer): Promise<ExportedSections> {
    const hashes = this.#hashes(who);
    const payouts: Payout[] = [];
    for (;;) {
      const page = await this.repository.find(accountId, hashes, payouts.at(-1)?.id ?? FIRST_ID, BATCH);
      payouts.push(...page);
      if (page.length < BATCH) break;
    }
    const destinations = await this.repository.destinations(accountId, hashes);
    return {
      payouts: payouts.map((payout) => this.#payout(payout)),
      payout_destinations: destinations.map((destination) => this.#destination(destination)),
    };
  }

  /**
   * Blanks a receiver in payouts and their copies, and deletes the destinations. A payout stays as it is while it is not
   * over, and while one of its webhooks or answers is under way.
   */
  async erase(accountId: string, who: Customer, withMetadata: boolean, actor: Actor): Promise<Erasure> {
    const hashes = this.#hashes(who);
    const parts = [await this.#eraseDestinations(accountId, hashes, withMetadata, actor)];
    for (let after: string | null = FIRST_ID; after !== null;) {
      const from: string = after;
      const { ids, ...part } = await this.database.transaction(async (tx) => {
        const locked = await this.repository.lock(tx, accountId, hashes, from, BATCH);
        const ids = locked.map(({ id }) => id);
        const copiesWait = await this.#eraser.copiesWait(tx, accountId, ids);
        const waiting = locked.flatMap(({ id, status }): Waiting[] => {
          const isOpen = ['pending', 'processing'].includes(publicPayoutStatus(status));
          const waits = isOpen ? 'open_payout' : (copiesWait.get(id) ?? null);
          return waits === null ? [] : [{ kind: 'payout', id, waits }];
        });
        const free = ids.filter((id) => waiting.every((one) => one.id !== id));
        const erased = await this.#eraser.erase(tx, free, withMetadata);
        if (ids.length > 0) {
          const data = { erased, waiting: waiting.length };
          this.audit.record(tx, actor, 'customer.erased', accountId, { data });
        }
        return { ids, erased, waiting };
      });
      parts.push(part);
      after = ids.length < BATCH ? null : (ids.at(-1) ?? null);
    }
    return erasureOf(parts);
  }

  /** Open payouts have copies of their receivers, so destinations need not wait for them. */
  async #eraseDestinations(
    accountId: string,
    hashes: ReceiverHashes,
    withMetadata: boolean,
    actor: Actor,
  ): Promise<Erasure> {
    const erased = await this.database.transaction(async (tx) => {
      const ids = await this.repository.deleteDestinations(tx, accountId, hashes, this.clock.now());
      const counts = await this.#eraser.erase(tx, ids, withMetadata);
      const data = { erased: counts, waiting: 0 };
      if (ids.length > 0) this.audit.record(tx, actor, 'customer.erased', accountId, { data });
      return counts;
    });
    return { erased, waiting: [] };
  }

  #hashes({ taxId, email, phone, mode }: Customer): ReceiverHashes {
    return {
      taxIds: taxId === null ? [] : this.targets.taxIdHashes(taxId),
      targets: keysOf(email, phone).flatMap((key) => this.targets.hashesOf({ type: 'pix_key', key, taxId: null })),
      mode,
    };
  }

  #payout(payout: Payout): object {
    const target = this.targets.open(payout);
    return {
      payout_id: payout.id,
      mode: payout.mode,
      status: publicPayoutStatus(payout.status),
      amount: payout.amount,
      fee: payout.fee,
      amount_returned: payout.amountReturned,
      currency: payout.currency,
      receiver: target && exportedTarget(target),
      description: payout.description,
      metadata: payout.metadata,
      end_to_end_id: payout.endToEndId,
      created_at: payout.createdAt,
      paid_at: payout.paidAt,
    };
  }

  #destination(destination: PayoutDestination): object {
    const target = this.targets.openDestination(destination);
    return {
      payout_destination_id: destination.id,
      mode: destination.mode,
      label: destination.label,
      receiver: target && exportedTarget(target),
      created_at: destination.createdAt,
      deleted_at: destination.deletedAt,
    };
  }
}
