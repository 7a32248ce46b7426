import {
  type AcquirerStatus,
  mayShowPayable,
  type ShownTransaction,
  type Transaction,
  type TransactionStatus,
} from '../transactions/index.js';
import type {
  CancelledPaymentBody,
  PaymentBody,
  PaymentDetailBody,
  PaymentItemBody,
  PaymentListBody,
  ProviderStatusBody,
  ReceiptBody,
} from './dto/payment.body.js';

export function paymentBody(t: Transaction): PaymentBody {
  return {
    id: t.id,
    status: t.status,
    amount: t.amount,
    currency: t.currency,
    paymentMethods: [...t.paymentMethods],
    customerName: t.customerName,
    customerDocument: t.customerDocument,
    customerEmail: t.customerEmail,
    metadata: t.metadata,
    createdAt: t.createdAt.toISOString(),
  };
}

/** Returns money that went back to payers; a key is missing if its amount is none. */
function givenBack({ refundsAmount, returns }: ShownTransaction): Pick<PaymentItemBody, 'amountRefunded' | 'returns'> {
  return {
    ...(refundsAmount === 0 ? {} : { amountRefunded: refundsAmount }),
    ...(returns === null || returns.length === 0
      ? {}
      : { returns: returns.map(({ amount, reason, endToEndId, at }) => ({ amount, reason, endToEndId, at })) }),
  };
}

/** @param pixQrCode data URL of the picture of `brCode` */
export function paymentDetail(t: ShownTransaction, pixQrCode: string | null): PaymentDetailBody {
  const { MULTIBANCO: mb, BOLETO: boleto, CRYPTO: crypto } = t.artefacts ?? {};
  const expiresAt = t.expiresAt?.toISOString() ?? null;
  return {
    ...paymentItem(t),
    id: t.id,
    pixQrCode,
    pixCopyPaste: t.brCode,
    pixExpiresAt: t.brCode === null ? null : expiresAt,
    cardRedirectUrl: t.artefacts?.CREDIT_CARD?.redirectUrl ?? null,
    mbEntity: mb?.entity ?? null,
    mbReference: mb?.reference ?? null,
    mbExpiresAt: mb ? expiresAt : null,
    boletoBarcode: boleto?.barcode ?? null,
    boletoLine: boleto?.line ?? null,
    boletoPdfUrl: boleto?.pdfUrl ?? null,
    boletoExpiresAt: boleto ? expiresAt : null,
    cryptoAddress: crypto?.address ?? null,
    // At most 15 digits, so a JSON number is exact.
    cryptoAmount: crypto ? Number(crypto.amount) : null,
    cryptoNetwork: crypto?.network ?? null,
    cryptoCurrency: crypto?.currency ?? null,
  };
}

/** The payment with its previous status: docs/contract.md#cancellation. */
export function cancelledPayment(
  t: ShownTransaction,
  pixQrCode: string | null,
  previousStatus: TransactionStatus,
): CancelledPaymentBody {
  return Object.assign(paymentDetail(t, pixQrCode), { previousStatus });
}

export function paymentItem(t: ShownTransaction): PaymentItemBody {
  return {
    ...paymentBody(t),
    id: `tx_${t.id}`,
    metadata: t.med === null ? t.metadata : { ...t.metadata, med: t.med },
    paidWith: t.paidWith,
    providerFee: t.providerFee,
    platformFee: t.platformFee,
    netAmount: t.netAmount,
    paidAt: t.paidAt?.toISOString() ?? null,
    ...givenBack(t),
  };
}

export function paymentList(
  transactions: readonly ShownTransaction[],
  total: number,
  page: number,
  limit: number,
): PaymentListBody {
  return { data: transactions.map(paymentItem), total, page, limit };
}

export function providerStatus(t: Transaction, status: AcquirerStatus | null): ProviderStatusBody {
  if (status === null) {
    return {
      localStatus: t.status,
      provider: null,
      providerTransactionId: null,
      providerStatus: null,
      rawResponse: {},
      error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
    };
  }
  return {
    localStatus: t.status,
    provider: t.acquirer,
    providerTransactionId: t.txid,
    providerStatus: status.status,
    rawResponse: mayShowPayable(t) ? status.raw : withoutFields(status.raw, status.payable ?? []),
  };
}

function withoutFields(raw: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !names.includes(name)));
}

export function receiptBody(pdf: Buffer): ReceiptBody {
  return { contentType: 'application/pdf', base64: pdf.toString('base64') };
}
