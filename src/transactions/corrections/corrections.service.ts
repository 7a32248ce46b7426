import { Inject, Injectable } from '@nestjs/common';
import { AccountsService } from '../../accounts/index.js';
import { ConnectionsService } from '../../acquirers/index.js';
import { Clock, DAY_MS } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import type { Tx } from '../../core/database/index.js';
import { ApiError, conflict, invalidRequest, notFound } from '../../core/errors/index.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import { leftOf } from '../taken.js';
import type { Transaction } from '../transaction.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { CorrectionMoves, type CorrectionSubject } from './correction-moves.service.js';
import type { Bearer, CorrectionEntity } from './correction.entity.js';
import { type CorrectionFilter, CorrectionsRepository } from './corrections.repository.js';

export type Correction = CorrectionEntity;

interface RequestedCorrection {
  /** If the key was used before, the request is the same correction and enters nothing. */
  readonly idempotencyKey: string;
  /** The reason, for later readers of the books. */
  readonly reason: string;
  /** The bank's id of a return that was made there; null otherwise. */
  readonly bankReference: string | null;
}

/** A correction of a Pix in suspense. */
export interface SuspenseCorrection extends RequestedCorrection {
  readonly kind: 'return' | 'assign' | 'returned_elsewhere' | 'write_off';
  readonly settlementId: string;
  /** The sale that the Pix is assigned to; null for the other kinds. */
  readonly transactionId: string | null;
}

/** Money that a bank took from an account's funds; a negative amount was given back. */
export interface WalletCorrection extends RequestedCorrection, Scope {
  readonly kind: 'bank_fee' | 'loss';
  readonly currency: string;
  readonly amount: Amount;
  readonly borneBy: Bearer;
  /** The sale that the loss or fee belongs to; null: none. */
  readonly transactionId: string | null;
  /** The acquirer whose invoice has the fee; null, with the month, where no invoice is compared. */
  readonly acquirer: string | null;
  readonly invoiceMonth: string | null;
}

const NO_INVOICE = { acquirer: null, invoiceMonth: null };

export interface CorrectionDecided {
  readonly correction: Correction;
  /** False when the same request or decision was made before: nothing has happened now. */
  readonly changed: boolean;
}

/**
 * Makes the operators' corrections to the books, each in the transaction of its record. A correction above
 * `CORRECTION_LIMIT` waits for a second operator. Works across accounts: never call it for a merchant's request.
 */
@Injectable()
export class CorrectionsService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly corrections: CorrectionsRepository,
    private readonly accounts: AccountsService,
    private readonly connections: ConnectionsService,
    private readonly transactions: TransactionsRepository,
    private readonly moves: CorrectionMoves,
    private readonly clock: Clock,
  ) {}

  /** Newest first. */
  list(filter: CorrectionFilter): Promise<Correction[]> {
    return this.corrections.list(filter);
  }

  /**
   * Makes a correction, or has it wait for a second operator. Locks its key, the operator's, the sale, the Pix, then
   * balances. A twin at the same moment waits for the key, and then counts as the same correction.
   * @throws ApiError 400, 404; 409 `idempotency_key_reused`, `pix_not_in_suspense`, `pix_not_returnable`,
   *   `charge_not_payable`, `correction_waits`, `loss_exceeds_charge`, `already_booked`
   */
  async request(tx: Tx, wanted: SuspenseCorrection | WalletCorrection, operatorId: string): Promise<CorrectionDecided> {
    await this.corrections.lockKey(tx, wanted.idempotencyKey);
    const known = await this.corrections.findByKey(tx, wanted.idempotencyKey);
    if (known) return { correction: sameAs(known, wanted), changed: false };
    const now = this.clock.now();
    const alone = 'settlementId' in wanted ? 0 : await this.#madeAlone(tx, operatorId, now);
    const subject =
      'settlementId' in wanted ? await this.#checkedPix(tx, wanted) : await this.#checkedWallet(tx, wanted);
    const needsSecond = alone + Math.abs(subject.amount) > this.config.correctionLimit;
    const { kind, reason, bankReference, idempotencyKey, transactionId } = wanted;
    const correction: Correction = {
      id: newId(now),
      ...{ kind, reason, bankReference, idempotencyKey, transactionId, requestedBy: operatorId, createdAt: now },
      ...('settlementId' in wanted ? NO_INVOICE : { acquirer: wanted.acquirer, invoiceMonth: wanted.invoiceMonth }),
      ...subject,
      ...(needsSecond
        ? { status: 'waiting', decidedBy: null, decidedAt: null }
        : { status: 'applied', decidedBy: operatorId, decidedAt: now }),
    };
    this.corrections.insert(tx, correction);
    if (!needsSecond) await this.moves.apply(tx, correction);
    return { correction, changed: true };
  }

  /**
   * Makes a correction that a second operator has approved. Checks the money again, as `request` does, because it may
   * have changed since.
   * @throws ApiError 404; 409 also `second_operator_required`, `correction_already_decided`
   */
  async approve(tx: Tx, id: string, operatorId: string): Promise<CorrectionDecided> {
    return this.#decide(tx, id, operatorId, 'applied', async (correction) => {
      if (correction.requestedBy === operatorId) {
        throw conflict('second_operator_required', 'Another operator than the one who asked for it has to approve it.');
      }
      const { kind, borneBy, transactionId } = correction;
      if (borneBy === null) await this.moves.checkedPix(tx, correction);
      const sale = kind === 'loss' && transactionId !== null ? await this.transactions.lock(tx, transactionId) : null;
      if (sale) await this.#checkLoss(tx, sale, correction, id);
    });
  }

  /**
   * Rejects a correction, so that it is not made. The author may reject it too. @throws ApiError 404, 409
   * `correction_already_decided`
   */
  async reject(tx: Tx, id: string, operatorId: string): Promise<CorrectionDecided> {
    return this.#decide(tx, id, operatorId, 'rejected', () => Promise.resolve());
  }

  async #decide(
    tx: Tx,
    id: string,
    operatorId: string,
    status: 'applied' | 'rejected',
    check: (correction: Correction) => Promise<void>,
  ): Promise<CorrectionDecided> {
    const found = await this.corrections.lock(tx, id);
    if (!found) throw notFound('correction');
    if (found.status === status) return { correction: found, changed: false };
    if (found.status !== 'waiting') throw conflict('correction_already_decided', `It was ${found.status} before.`);
    await check(found);
    const correction = { ...found, status, decidedBy: operatorId, decidedAt: this.clock.now() };
    this.corrections.decide(tx, correction);
    if (status === 'applied') await this.moves.apply(tx, correction);
    return { correction, changed: true };
  }

  /** @throws ApiError 404, 409 */
  async #checkedPix(tx: Tx, wanted: SuspenseCorrection): Promise<CorrectionSubject> {
    const subject = await this.moves.checkedPix(tx, wanted);
    if (await this.corrections.waits(tx, wanted.settlementId)) {
      throw conflict(
        'correction_waits',
        'Another correction of it waits for a second operator, who approves or rejects it.',
      );
    }
    return subject;
  }

  /**
   * Sums an operator's wallet corrections of the last day that nobody else has approved, over all currencies. Many
   * small corrections then need a second operator as one large one does. A Pix in suspense does not count: it is money
   * that came in, and each is checked by itself.
   */
  async #madeAlone(tx: Tx, operatorId: string, now: Date): Promise<Amount> {
    await this.corrections.lockOperator(tx, operatorId);
    return this.corrections.madeAlone(tx, operatorId, new Date(now.getTime() - DAY_MS));
  }

  /** @throws ApiError 400, 404, 409 */
  async #checkedWallet(tx: Tx, wanted: WalletCorrection): Promise<CorrectionSubject> {
    const { accountId, mode, currency, amount, borneBy, transactionId } = wanted;
    await this.accounts.get(accountId, tx);
    if (wanted.acquirer !== null && (await this.connections.ownerOf(tx, wanted.acquirer)) !== accountId) {
      throw invalidRequest([{ param: 'acquirer', code: 'invalid', message: 'must be a connection of the account' }]);
    }
    if (transactionId === null) return { accountId, mode, currency, amount, borneBy, settlementId: null };
    const sale = await this.transactions.lock(tx, transactionId);
    if (sale?.accountId !== accountId || sale.mode !== mode || sale.currency !== currency) {
      throw invalidRequest([
        { param: 'charge_id', code: 'invalid', message: 'must be a charge of the account, its mode and its currency' },
      ]);
    }
    const settlementId = await this.corrections.pixOf(tx, transactionId);
    if (wanted.kind === 'loss') {
      if (settlementId === null) {
        throw invalidRequest([{ param: 'charge_id', code: 'invalid', message: 'must be a charge that was paid' }]);
      }
      await this.#checkLoss(tx, sale, wanted, null);
    }
    return { accountId, mode, currency, amount, borneBy, settlementId };
  }

  /**
   * Refuses a loss that a refund, a dispute or an earlier loss has taken or is about to take. Lock the sale before
   * calling.
   * @param correctionId the loss itself, where it waits already @throws ApiError 409
   */
  async #checkLoss(
    tx: Tx,
    sale: Pick<Transaction, 'id' | 'amount'>,
    { amount, bankReference }: Pick<CorrectionEntity, 'amount' | 'bankReference'>,
    correctionId: string | null,
  ): Promise<void> {
    const { least, most, taken, isBooked } = await this.corrections.takenOf(tx, sale.id, bankReference, correctionId);
    if (amount > 0 && isBooked) {
      throw conflict(
        'already_booked',
        'A refund, return, dispute or loss of the charge has this bank_reference. A loss that was wrong is entered with the opposite amount under the same bank_reference first.',
      );
    }
    // Losses that wait count as made: another operator may approve each of them.
    const left = leftOf(sale.amount, { ...taken, lossesAmount: most });
    if (least + amount < 0 || (amount > 0 && amount > left)) {
      throw conflict(
        'loss_exceeds_charge',
        'It is more than refunds, disputes that hold or have taken money, and the losses entered before have left of the charge, or more than was lost comes back.',
      );
    }
  }
}

/** @throws ApiError 409 when another correction has the key */
function sameAs(known: Correction, wanted: SuspenseCorrection | WalletCorrection): Correction {
  const isSame = (Object.keys(wanted) as (keyof typeof wanted)[]).every((field) => known[field] === wanted[field]);
  if (isSame) return known;
  throw new ApiError(
    409,
    'idempotency_error',
    'idempotency_key_reused',
    'Another correction was asked for under this key: send a new key for each.',
  );
}
