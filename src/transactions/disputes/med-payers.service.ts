import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../core/crypto/index.js';
import { mayShowPayable, type ShownMed, type ShownTransaction, type Transaction } from '../transaction.js';
import type { MedBlock } from '../transaction.entity.js';

/** The person who opened a MED, as far as the bank says so. */
export interface MedPayer {
  readonly name: string | null;
  readonly document: string | null;
}

/**
 * Only the merchant may know who opened a MED (`metadata.med`): it is stored and travels sealed, bound to its
 * transaction, and is opened for what the merchant reads or is sent.
 */
@Injectable()
export class MedPayers {
  constructor(private readonly secrets: SecretBox) {}

  /** @returns null without a person */
  seal(transactionId: string, { name, document }: MedPayer): Buffer | null {
    if (name === null && document === null) return null;
    return this.secrets.seal(JSON.stringify({ name, document }), contextOf(transactionId));
  }

  /**
   * The transaction for its merchant, without code and slips where `mayShowPayable` says so.
   * @throws Error when it was sealed under a key that is not there any more
   */
  show(transaction: Transaction): ShownTransaction {
    const { med } = transaction;
    const payable = mayShowPayable(transaction) ? {} : { brCode: null, artefacts: null };
    return { ...transaction, ...payable, med: med === null ? null : shownMed(med, this.#open(transaction.id, med)) };
  }

  #open(transactionId: string, { payerSealed }: MedBlock): MedPayer {
    if (payerSealed === undefined) return { name: null, document: null };
    return JSON.parse(this.secrets.open(Buffer.from(payerSealed, 'base64'), contextOf(transactionId))) as MedPayer;
  }
}

function shownMed(med: MedBlock, { name, document }: MedPayer): ShownMed {
  return {
    referenceId: med.referenceId,
    status: med.status,
    ...(med.result === undefined ? {} : { result: med.result }),
    ...(med.method === undefined ? {} : { method: med.method }),
    ...(med.reason === undefined ? {} : { reason: med.reason }),
    ...(name === null ? {} : { payerName: name }),
    ...(document === null ? {} : { payerDocument: document }),
    openedAt: med.openedAt,
    updatedAt: med.updatedAt,
    ...(med.closedAt === undefined ? {} : { closedAt: med.closedAt }),
    lastEventAt: med.lastEventAt,
    amountMismatch: med.amountMismatch,
  };
}

function contextOf(transactionId: string): string {
  return `med_payer:${transactionId}`;
}
