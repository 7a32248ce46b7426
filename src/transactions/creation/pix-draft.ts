import type { Account } from '../../accounts/index.js';
import type { PixChargeRequest } from '../../acquirers/index.js';
import { newTxid, normalizeTaxId } from '../../brazil/index.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import { type Transaction, UNTOUCHED } from '../transaction.js';
import type { Metadata } from '../transaction.entity.js';

export interface NewPixTransaction {
  /** Cents of BRL. */
  readonly amount: Amount;
  /** Seconds. */
  readonly expiresIn: number;
  readonly customer: {
    readonly name: string | null;
    readonly document: string | null;
    readonly email: string | null;
    readonly phone: string | null;
  };
  readonly metadata: Metadata;
  readonly expectedPayerTaxId: string | null;
}

/** Builds a Pix transaction as it is before any acquirer was asked. */
export function pixDraft(
  scope: Scope,
  account: Account,
  acquirer: string,
  input: NewPixTransaction,
  now: Date,
): Transaction {
  return {
    ...UNTOUCHED,
    id: newId(now),
    accountId: scope.accountId,
    mode: scope.mode,
    status: 'PENDING',
    amount: input.amount,
    currency: 'BRL',
    paymentMethods: ['PIX'],
    customerName: input.customer.name,
    customerDocument: input.customer.document,
    customerEmail: input.customer.email,
    customerPhone: input.customer.phone,
    metadata: input.metadata,
    expectedPayerTaxId: account.payerLock ? input.expectedPayerTaxId : null,
    acquirer,
    txid: newTxid(),
    webhookUrl: null,
    expiresAt: new Date(now.getTime() + input.expiresIn * 1000),
    createdAt: now,
    updatedAt: now,
  };
}

/** Builds the request to the acquirer. */
export function pixRequest(transaction: Transaction, account: Account): PixChargeRequest {
  return {
    txid: transaction.txid ?? '',
    amount: transaction.amount,
    expiresAt: transaction.expiresAt ?? transaction.createdAt,
    merchant: { name: account.name, city: account.city },
    // Brazilian banks do not accept another country's tax id.
    payer: { name: transaction.customerName, document: normalizeTaxId(transaction.customerDocument ?? '') },
  };
}
