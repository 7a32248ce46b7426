import type { VerificationBody } from '../../src/webhooks/dto/verification.body.js';
import type { Translate } from './format.js';

/** Words for people, by the service's own value; a value without words is shown as received. */
export const inWords =
  (words: (t: Translate) => Readonly<Record<string, string>>) =>
  (word: string, t: Translate): string =>
    words(t)[word] ?? word;

type VerificationReason = NonNullable<VerificationBody['reason']>;

/** Statuses by which a list of sales can be filtered. */
export const SALE_STATUSES = [
  'WAITING_PAYMENT',
  'PROCESSING',
  'PAID',
  'APPROVED',
  'REFUNDED',
  'EXPIRED',
  'REFUSED',
  'CANCELLED',
  'DISPUTE',
  'CHARGEBACK',
] as const;

/** Words for the statuses of a sale. */
export const saleStatus = inWords((t) => ({
  PENDING: t('Em criação', 'Being created'),
  WAITING_PAYMENT: t('Aguardando pagamento', 'Awaiting payment'),
  PROCESSING: t('Em análise', 'Under review'),
  PAID: t('Paga', 'Paid'),
  APPROVED: t('Paga (cartão)', 'Paid (card)'),
  REFUSED: t('Recusada', 'Refused'),
  CANCELLED: t('Cancelada', 'Cancelled'),
  EXPIRED: t('Expirada', 'Expired'),
  REFUNDED: t('Reembolsada', 'Refunded'),
  DISPUTE: t('Em disputa', 'Disputed'),
  CHARGEBACK: t('Contestada no cartão', 'Charged back'),
}));

/** The status of a sale; says so when a part was refunded. */
export function saleState(
  { status, amountRefunded }: { readonly status: string; readonly amountRefunded?: number },
  t: Translate,
): string {
  const isPart = ['PAID', 'APPROVED'].includes(status) && amountRefunded !== undefined;
  return isPart ? t('Paga, reembolsada em parte', 'Paid, partly refunded') : saleStatus(status, t);
}

export const roleName = inWords((t) => ({
  OWNER: t('Dono', 'Owner'),
  ADMIN: t('Administrador', 'Administrator'),
  MEMBER: t('Leitura', 'Read only'),
  OPERATOR: t('Operador', 'Operator'),
}));

export const modeName = inWords((t) => ({ test: t('teste', 'test'), live: t('produção', 'live') }));

export const methodName = inWords((t) => ({
  PIX: 'Pix',
  CREDIT_CARD: t('Cartão', 'Card'),
  BOLETO: 'Boleto',
  MBWAY: 'MB WAY',
  MULTIBANCO: 'Multibanco',
  CRYPTO: t('Cripto', 'Crypto'),
}));

/** Metadata keys that the dashboard and the examples use. */
export const metadataName = inWords((t) => ({
  order_id: t('Pedido', 'Order'),
  description: t('Descrição', 'Description'),
}));

export const caseStatus = inWords((t) => ({
  open: t('Aberta', 'Open'),
  appealed: t('Defesa enviada', 'Appealed'),
  accepted: t('Aceita', 'Accepted'),
  rejected: t('Negada', 'Rejected'),
  closed: t('Encerrada', 'Closed'),
}));

export const moneyOutcome = inWords((t) => ({
  refunded_to_merchant: t('Voltou para a loja', 'Came back to the shop'),
  closed_without_refund: t('Não voltou para a loja', 'Not returned to the shop'),
  lost: t('Perdido', 'Lost'),
}));

export const refundStatus = inWords((t) => ({
  PENDING: t('Na fila', 'Waiting'),
  IN_PROGRESS: t('Em andamento', 'In progress'),
  REFUNDED: t('Reembolsado', 'Refunded'),
  FAILED: t('Falhou', 'Failed'),
}));

/** Ways in which a Pix is refunded. */
export const refundStrategy = inWords((t) => ({
  devolution: t('Devolver o mesmo Pix', 'Send the same Pix back'),
  cashout: t('Novo Pix para quem pagou', 'New Pix to the payer'),
}));

/** Why a refund failed. */
export const refundFailure = inWords((t) => ({
  amount_exceeded: t('valor acima do que o banco aceita', 'more than the bank accepts'),
  destination_invalid: t('a conta de quem pagou não recebe', 'the payer’s account takes no Pix'),
  insufficient_funds: t('faltou saldo no banco', 'not enough money at the bank'),
  too_late: t('o prazo do banco passou', 'too late for the bank'),
  refused: t('o banco recusou', 'the bank refused'),
  charge_disputed: t('a venda entrou em disputa', 'the sale was disputed'),
}));

export const deliveryStatus = inWords((t) => ({
  PENDING: t('Na fila', 'Waiting'),
  PROCESSING: t('Em envio', 'Being sent'),
  DELIVERED: t('Entregue', 'Delivered'),
  FAILED: t('Falhou', 'Failed'),
  CANCELLED: t('Cancelada', 'Cancelled'),
}));

export const entryType = inWords((t) => ({
  sale: t('Venda', 'Sale'),
  fee: t('Tarifa', 'Fee'),
  release: t('Liberação', 'Release'),
  refund: t('Reembolso', 'Refund'),
  refund_failed: t('Reembolso não efetuado', 'Failed refund'),
  med_hold: t('Retido por disputa', 'Held for a dispute'),
  med_release: t('Liberado da disputa', 'Released from a dispute'),
  med_loss: t('Perdido em disputa', 'Lost in a dispute'),
  chargeback: t('Contestação do cartão', 'Chargeback'),
  payout: t('Saque', 'Payout'),
  payout_failed: t('Saque não efetuado', 'Failed payout'),
  payout_returned: t('Saque devolvido', 'Returned payout'),
  correction: t('Correção', 'Correction'),
}));

export const bucketName = inWords((t) => ({
  available: t('Disponível', 'Available'),
  pending: t('A liberar', 'Pending'),
  retained: t('Retido', 'Held'),
  reserved: t('Reservado', 'Reserved'),
}));

/** Why a Pix goes back. */
export const returnReason = inWords((t) => ({
  wrong_amount: t('valor diferente do valor da cobrança', 'amount differs from the charge'),
  late: t('chegou depois do prazo', 'arrived late'),
  duplicate: t('a cobrança já estava paga', 'the charge was paid already'),
  charge_closed: t('a cobrança já estava encerrada', 'the charge was closed'),
  payer_mismatch: t('outra pessoa pagou', 'somebody else paid'),
  payer_unknown: t('o banco não diz quem pagou', 'the bank does not say who paid'),
  review_returned: t('devolvido por um operador', 'returned by an operator'),
  cancelled: t('a cobrança foi cancelada', 'the charge was cancelled'),
  unmatched: t('não tem cobrança', 'no charge matches'),
}));

export const returnStatus = inWords((t) => ({
  pending: t('Na fila', 'Waiting'),
  in_progress: t('Em andamento', 'In progress'),
  failed: t('Falhou', 'Failed'),
  accepted: t('Aceito', 'Accepted'),
  returned: t('Devolvido', 'Returned'),
}));

/** Tasks of the workers, as the list of overdue work names them. */
export const workKind = inWords((t) => ({
  acquirer: t('Cobrança no banco', 'Charge at the bank'),
  'acquirers.notification': t('Aviso do banco', 'Notification of the bank'),
  deliveries: t('Entrega de webhook', 'Webhook delivery'),
  delivery: t('Entrega de webhook', 'Webhook delivery'),
  evidence_cleanup: t('Remoção de provas', 'Removal of evidence'),
  login_failures: t('Aviso de logins recusados', 'Notice of failed logins'),
  mail: t('E-mail', 'Mail'),
  monthly_closing: t('Fechamento mensal', 'Monthly closing'),
  paid_mail: t('Aviso de vendas pagas', 'Notice of paid sales'),
  payout: t('Saque', 'Payout'),
  payout_schedule: t('Saque programado', 'Scheduled payout'),
  receipt: t('Recibo ao pagador', 'Receipt to the payer'),
  'reconciliation.statement': t('Conciliação', 'Reconciliation'),
  refund: t('Reembolso', 'Refund'),
  report: t('Relatório', 'Report'),
  return: t('Devolução de um Pix', 'Return of a Pix'),
  'transactions.expiry': t('Vencimento de cobranças', 'Expiry of charges'),
}));

/** Kinds of messages from a bank that the service cannot read. */
export const unreadableKind = inWords((t) => ({
  pix: 'Pix',
  charge: t('Cobrança', 'Charge'),
  payment: t('Pagamento', 'Payment'),
  order: t('Pedido', 'Order'),
  dispute: t('Disputa', 'Dispute'),
  return: t('Devolução', 'Return'),
  payout: t('Saque', 'Payout'),
}));

export const fraudRule = inWords((t) => ({
  'fraud.document_blocked': t('documento bloqueado', 'blocked document'),
  'fraud.amount_limit_exceeded': t('acima do valor máximo', 'above the maximum ticket'),
  'fraud.velocity_exceeded': t('muitas por minuto para o mesmo documento', 'too many a minute for the same document'),
}));

export const fraudOperation = inWords((t) => ({
  charge: t('cobrança', 'charge'),
  payment: t('pagamento', 'payment'),
  refund: t('reembolso', 'refund'),
  payout: t('saque', 'payout'),
}));

/** Names of a dispute when the payer’s bank gives no reason. */
export const caseType = inWords((t) => ({
  med: 'MED',
  chargeback: t('contestação no cartão', 'chargeback'),
  dispute: t('compra não reconhecida', 'not recognised'),
  fraud: t('fraude denunciada', 'fraud reported'),
}));

/** Portuguese meanings of events. The catalog has the English ones. */
const EVENT_MEANINGS: Readonly<Record<string, string>> = {
  'charge.created': 'Uma cobrança foi criada.',
  'charge.paid': 'Uma cobrança foi paga, confirmada e creditada.',
  'charge.failed': 'Uma cobrança falhou ou foi cancelada.',
  'charge.expired': 'Uma cobrança expirou sem pagamento.',
  'charge.processing': 'Um pagamento está em análise.',
  'charge.refunded': 'Um reembolso, total ou parcial, foi concluído.',
  'charge.disputed': 'Uma cobrança foi contestada.',
  'payment.created': 'Um pagamento foi criado.',
  'payment.completed': 'Um pagamento foi confirmado.',
  'payment.failed': 'Um pagamento falhou ou foi cancelado.',
  'payment.expired': 'Um pagamento expirou.',
  'payment.refunded': 'Um reembolso avançou.',
  'payment.status_changed': 'Um pagamento mudou de situação.',
  'med_case.created': 'Uma disputa foi aberta.',
  'med_case.updated': 'Uma disputa mudou.',
  'med_case.deadline_approaching': 'O prazo de uma disputa está perto do fim.',
  'med.resolved': 'O dinheiro de uma disputa tem seu destino final.',
  'payout.created': 'Um saque foi solicitado.',
  'payout.paid': 'O destino de um saque recebeu o dinheiro.',
  'payout.failed': 'Um saque falhou, foi cancelado ou voltou, no todo ou em parte.',
  'withdrawal.created': 'Um saque foi solicitado.',
  'withdrawal.completed': 'O destino de um saque recebeu o dinheiro.',
  'withdrawal.failed': 'Um saque falhou, foi cancelado ou voltou.',
  'withdrawal.status_changed': 'Um saque mudou de situação.',
  'report.ready': 'Um relatório está pronto.',
  'report.failed': 'Um relatório falhou.',
};

/** The meaning of an event of the webhooks. @param description the catalog's */
export function eventMeaning(event: string, description: string, t: Translate): string {
  return t(EVENT_MEANINGS[event] ?? description, description);
}

/** Why a signature is rejected; the English text has more details, as received. */
export function verificationReason(reason: VerificationReason, message: string, t: Translate): string {
  const words: Readonly<Record<VerificationReason, string>> = {
    signature_missing: 'Falta o cabeçalho com a assinatura (X-Service-Signature).',
    secret_malformed: 'O segredo não foi usado como texto, ou tem sinais a mais: use-o inteiro, como foi mostrado.',
    malformed_signature: 'O cabeçalho da assinatura não tem a forma esperada.',
    wrong_scheme: 'O evento é assinado de outra forma: confira qual cabeçalho o seu programa lê.',
    timestamp_changed: 'O tempo no cabeçalho não é o que foi assinado.',
    timestamp_out_of_tolerance: 'A assinatura está certa, mas o tempo dela está longe demais: confira o seu relógio.',
    wrong_secret:
      'A assinatura não foi feita com este segredo: ele é de outro endpoint, de outro modo, ou já foi trocado.',
    old_secret: 'O segredo não é o que assinou esta entrega: houve uma troca.',
    body_changed: 'O corpo não é o que foi assinado.',
    body_reserialized: 'É o mesmo JSON, mas não são os bytes assinados: confira o corpo cru, antes de o ler.',
    signature_changed: 'Corpo, tempo e segredo estão certos; a assinatura é que não é desta entrega.',
  };
  return t(words[reason], message);
}

const DELIVERY_ERRORS: readonly (readonly [start: string, text: string])[] = [
  ['connection refused', 'conexão recusada'],
  ['the receiver closed the connection', 'o servidor fechou a conexão antes de responder'],
  ['the host name does not exist', 'o nome do servidor não existe'],
  ['the host name could not be resolved', 'o nome do servidor não foi encontrado'],
  ['the host cannot be reached', 'o servidor não é alcançado'],
  ['the connection timed out', 'a conexão demorou demais'],
  ['could not connect', 'a conexão demorou demais'],
  ['timed out after', 'não respondeu a tempo'],
  ['the answer is not valid HTTP', 'a resposta não é HTTP válido'],
  ['the headers of the answer are too large', 'os cabeçalhos da resposta são grandes demais'],
  ['the receiver sent interim', 'o servidor só mandou respostas provisórias'],
  ['the receiver answered HTTP 10', 'o servidor mandou uma resposta que não foi pedida'],
  ["the host's address is not allowed", 'o endereço do servidor não é permitido'],
  ['TLS:', 'problema no certificado (TLS)'],
  ['the request could not be sent', 'não foi possível enviar'],
  ['the attempt was interrupted', 'a tentativa foi interrompida, e o resultado não é conhecido'],
];

/** Why a delivery got no answer. */
export function deliveryError(error: string, t: Translate): string {
  const known = DELIVERY_ERRORS.find(([start]) => error.startsWith(start));
  if (!known) return error;
  const [start, text] = known;
  // The TLS library's own text describes the fault of the receiver's certificate.
  return t(start === 'TLS:' ? `${text}: ${error.slice(start.length).trim()}` : text, error);
}
