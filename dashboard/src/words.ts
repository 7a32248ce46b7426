import type { Translate } from './language.js';

/** The words of the statuses of a sale, for people. */
export function saleStatus(status: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    PENDING: t('Sendo criada', 'Being created'),
    WAITING_PAYMENT: t('Aguarda pagamento', 'Waiting'),
    PROCESSING: t('Em análise', 'Under review'),
    PAID: t('Paga', 'Paid'),
    APPROVED: t('Paga (cartão)', 'Paid (card)'),
    REFUSED: t('Recusada', 'Refused'),
    CANCELLED: t('Cancelada', 'Cancelled'),
    EXPIRED: t('Expirada', 'Expired'),
    REFUNDED: t('Reembolsada', 'Refunded'),
    DISPUTE: t('Em disputa', 'Disputed'),
    CHARGEBACK: t('Contestada no cartão', 'Charged back'),
  };
  return words[status] ?? status;
}

/** The status of a sale of which a part went back says so. */
export function saleState(
  { status, amountRefunded }: { readonly status: string; readonly amountRefunded?: number },
  t: Translate,
): string {
  const isPart = ['PAID', 'APPROVED'].includes(status) && amountRefunded !== undefined;
  return isPart ? t('Paga, devolvida em parte', 'Paid, refunded in part') : saleStatus(status, t);
}

export function methodName(method: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    PIX: 'Pix',
    CREDIT_CARD: t('Cartão', 'Card'),
    BOLETO: 'Boleto',
    MBWAY: 'MB WAY',
    MULTIBANCO: 'Multibanco',
    CRYPTO: t('Cripto', 'Crypto'),
  };
  return words[method] ?? method;
}

/** What merchants write at a sale, by the names that the dashboard and the examples use. */
export function metadataName(name: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    order_id: t('Pedido', 'Order'),
    description: t('Descrição', 'Description'),
  };
  return words[name] ?? name;
}

export function caseStatus(status: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    open: t('Aberta', 'Open'),
    appealed: t('Defesa enviada', 'Appealed'),
    accepted: t('Aceita', 'Accepted'),
    rejected: t('Negada', 'Rejected'),
    closed: t('Encerrada', 'Closed'),
  };
  return words[status] ?? status;
}

export function moneyOutcome(outcome: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    refunded_to_merchant: t('Voltou para a loja', 'Came back to the shop'),
    closed_without_refund: t('Não voltou para a loja', 'Not returned to the shop'),
    lost: t('Perdido', 'Lost'),
  };
  return words[outcome] ?? outcome;
}

export function refundStatus(status: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    PENDING: t('Na fila', 'Waiting'),
    IN_PROGRESS: t('A caminho', 'On its way'),
    REFUNDED: t('Devolvido', 'Given back'),
    FAILED: t('Falhou', 'Failed'),
  };
  return words[status] ?? status;
}

export function deliveryStatus(status: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    PENDING: t('Na fila', 'Waiting'),
    PROCESSING: t('Sendo enviada', 'Being sent'),
    DELIVERED: t('Entregue', 'Delivered'),
    FAILED: t('Falhou', 'Failed'),
    CANCELLED: t('Cancelada', 'Cancelled'),
  };
  return words[status] ?? status;
}

export function entryType(type: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    sale: t('Venda', 'Sale'),
    fee: t('Tarifa', 'Fee'),
    release: t('Liberação', 'Release'),
    refund: t('Reembolso', 'Refund'),
    refund_failed: t('Reembolso que falhou', 'Failed refund'),
    med_hold: t('Retido por disputa', 'Held for a dispute'),
    med_release: t('Liberado da disputa', 'Released from a dispute'),
    med_loss: t('Perdido em disputa', 'Lost in a dispute'),
    chargeback: t('Contestação do cartão', 'Chargeback'),
    correction: t('Correção', 'Correction'),
  };
  return words[type] ?? type;
}

export function bucketName(bucket: string, t: Translate): string {
  const words: Readonly<Record<string, string>> = {
    available: t('Disponível', 'Available'),
    pending: t('A liberar', 'Pending'),
    retained: t('Retido', 'Held'),
    reserved: t('Reservado', 'Reserved'),
  };
  return words[bucket] ?? bucket;
}
