import { Injectable } from '@nestjs/common';
import { newReturnId } from '../../brazil/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import type { Tx } from '../../core/database/index.js';
import { conflict, notFound } from '../../core/errors/index.js';
import { WalletsService } from '../../wallets/index.js';
import { RefundTransitions } from '../refunds/refund-transitions.service.js';
import { ReturnsService } from '../returns/returns.service.js';
import { SettlementOutcomes } from '../settlement/settlement-outcomes.service.js';
import { type ReceivedMoney, whyNotCredited } from '../settlement/settlement.rules.js';
import type { Transaction } from '../transaction.js';
import { TransactionsRepository } from '../transactions.repository.js';
import type { CorrectionEntity } from './correction.entity.js';
import { CorrectionsRepository, type SuspendedPix } from './corrections.repository.js';

/** The money that a correction moves, and its owner. */
export type CorrectionSubject = Pick<
  CorrectionEntity,
  'accountId' | 'mode' | 'currency' | 'amount' | 'borneBy' | 'settlementId'
>;

/** A requested correction of a Pix in suspense. */
type Wanted = Pick<CorrectionEntity, 'kind' | 'settlementId' | 'transactionId'>;

/** Why a sale cannot be credited with a Pix that an operator assigns to it. */
const NOT_PAYABLE: Readonly<Record<string, string>> = {
  late: 'The Pix was paid after the charge had expired.',
  charge_closed: 'The charge is cancelled or refused.',
  duplicate: 'The charge was paid by another payment.',
  wrong_amount: 'The Pix has another amount than the charge.',
  payer_unknown: 'The charge may be paid by one payer only, and the bank did not say who has paid.',
  payer_mismatch: 'The charge may be paid by one payer only, who has not paid this Pix.',
};

type LockedSale = NonNullable<Awaited<ReturnType<TransactionsRepository['lockWithAccount']>>>;

/** Returns why a Pix may not be assigned to a sale at all; null if it may. */
function whyNotAssigned(sale: Transaction | null, pix: SuspendedPix): 'other_charge' | 'has_charge' | null {
  const { accountId, mode, acquirer } = pix;
  if (sale?.accountId !== accountId || sale.mode !== mode || sale.acquirer !== acquirer) return 'other_charge';
  return pix.transactionId === null ? null : 'has_charge';
}

/** Moves the money of corrections. */
@Injectable()
export class CorrectionMoves {
  constructor(
    private readonly corrections: CorrectionsRepository,
    private readonly transactions: TransactionsRepository,
    private readonly outcomes: SettlementOutcomes,
    private readonly returns: ReturnsService,
    private readonly refunds: RefundTransitions,
    private readonly wallets: WalletsService,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Locks the named sale, then the Pix.
   * @throws ApiError 404, 409 when the correction cannot be made
   */
  async checkedPix(tx: Tx, { kind, settlementId, transactionId }: Wanted): Promise<CorrectionSubject> {
    const sale = transactionId === null ? null : await this.transactions.lock(tx, transactionId);
    const pix = await this.#lockPix(tx, settlementId ?? '');
    const { accountId, mode, currency, amount } = pix;
    if (accountId === null || mode === null) {
      throw conflict('pix_not_in_suspense', 'It came to a connection that no account has: it is in no books here.');
    }
    if (kind === 'return' && pix.outcome === 'unmatched' && (pix.method !== 'PIX' || pix.transactionId !== null)) {
      throw conflict('pix_not_returnable', 'The acquirer knows no way back for it: return it in the bank’s own app.');
    }
    if (kind === 'assign') {
      const whyNot = whyNotAssigned(sale, pix);
      if (sale === null || whyNot === 'other_charge') {
        throw conflict('charge_not_payable', 'The charge is not one of the account and connection that have the Pix.');
      }
      if (whyNot === 'has_charge') {
        throw conflict('pix_not_in_suspense', 'It was paid for a charge of its own: it is returned or written off.');
      }
      const why = whyNotCredited(sale, this.#moneyOf(pix));
      if (why !== null) throw conflict('charge_not_payable', NOT_PAYABLE[why] ?? 'The charge cannot be paid.');
    }
    return { accountId, mode, currency, amount, borneBy: null, settlementId };
  }

  /** Applies a correction, in the database transaction that has checked it. Locks balances. */
  async apply(tx: Tx, correction: CorrectionEntity): Promise<void> {
    const { id, accountId, mode, currency, amount, borneBy, transactionId } = correction;
    const settlementId = correction.settlementId ?? '';
    const { kind } = correction;
    if (kind === 'return') return this.#sendBack(tx, await this.#lockPix(tx, settlementId));
    if (kind === 'assign') {
      const pix = await this.#lockPix(tx, settlementId);
      const locked = await this.transactions.lockWithAccount(tx, transactionId ?? '');
      if (!locked) throw new Error(`${transactionId} was there a moment ago`);
      if (await this.#assign(tx, pix, locked)) return;
      throw conflict('charge_not_payable', 'As many payments as allowed were made before.');
    }
    if (kind === 'returned_elsewhere' || kind === 'write_off') {
      this.corrections.movePix(tx, settlementId, 'closed', null, null);
    }
    if (kind === 'loss' && transactionId !== null) await this.#lose(tx, transactionId, correction);
    this.wallets.correct(tx, { correctionId: id, accountId, mode, currency, transactionId, kind, borneBy, amount });
  }

  /**
   * Assigns an unmatched Pix to the charge that its acquirer names, as an operator would. Locks the Pix, then balances.
   * @param sale locked
   * @returns false where an operator could not assign it, has decided about the Pix, or is about to
   */
  async claim(tx: Tx, settlementId: string, sale: LockedSale): Promise<boolean> {
    const pix = await this.corrections.lockPix(tx, settlementId);
    if (pix?.outcome !== 'unmatched' || whyNotAssigned(sale.transaction, pix) !== null) return false;
    if (whyNotCredited(sale.transaction, this.#moneyOf(pix)) !== null) return false;
    if (await this.corrections.waits(tx, settlementId)) return false;
    return this.#assign(tx, pix, sale);
  }

  /** Credits the sale. @returns false when its limit of payments is reached: nothing is changed */
  async #assign(tx: Tx, pix: SuspendedPix, sale: LockedSale): Promise<boolean> {
    if (!(await this.outcomes.take(tx, sale.transaction))) return false;
    this.corrections.movePix(tx, pix.id, 'credited', null, sale.transaction.id);
    await this.outcomes.credit(tx, sale, this.#moneyOf(pix), 'settled', true);
    return true;
  }

  /** Books a loss. When a loss comes back, disputes may claim more of the payment. */
  async #lose(tx: Tx, transactionId: string, { id, amount }: CorrectionEntity): Promise<void> {
    this.corrections.addLoss(tx, transactionId, amount);
    if (amount > 0) return;
    const sale = await this.transactions.lock(tx, transactionId);
    if (!sale) throw new Error(`${transactionId} was there a moment ago`);
    await this.refunds.freed(tx, sale, id);
  }

  async #lockPix(tx: Tx, settlementId: string): Promise<SuspendedPix> {
    const pix = await this.corrections.lockPix(tx, settlementId);
    if (!pix) throw notFound('Pix');
    const returns = await this.corrections.returnsOf(tx, pix);
    const isRefused = pix.outcome === 'returned' && returns.every(({ status }) => status === 'FAILED');
    if (pix.outcome !== 'unmatched' && !isRefused) {
      throw conflict('pix_not_in_suspense', 'It is credited, on its way back, with its payer, or closed.');
    }
    return pix;
  }

  /** Sends the Pix back under a new id: a return that the bank has refused once stays refused. */
  async #sendBack(tx: Tx, pix: SuspendedPix): Promise<void> {
    const [earlier] = await this.corrections.returnsOf(tx, pix);
    const { accountId, mode, transactionId, acquirer, endToEndId, txid, amount, currency } = pix;
    if (accountId === null || mode === null) throw new Error(`${pix.id} is in no books`);
    if (pix.outcome === 'unmatched') this.corrections.movePix(tx, pix.id, 'returned', 'unmatched', null);
    this.returns.request(tx, {
      ...{ accountId, mode, transactionId, acquirer, endToEndId, txid, amount, currency },
      returnId: newReturnId(),
      way: earlier?.way ?? 'devolution',
      reason: earlier?.reason ?? 'unmatched',
    });
  }

  #moneyOf(pix: SuspendedPix): ReceivedMoney {
    const { endToEndId, txid, amount, settledAt, providerFee, method, payerDocumentSealed } = pix;
    const payerDocument =
      payerDocumentSealed === null ? null : this.secrets.open(payerDocumentSealed, `settlement:${endToEndId}`);
    return { endToEndId, txid, amount, settledAt, method, payerDocument, fee: providerFee };
  }
}
