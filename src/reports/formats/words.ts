import type { ReportLocale, ReportType } from '../report.entity.js';

/** Portuguese words of the files, the same as on the dashboard's screens. */
export type Words = Readonly<Record<string, string>>;

export const SALE_STATUS_WORDS: Words = {
  PENDING: 'Em criação',
  WAITING_PAYMENT: 'Aguardando pagamento',
  PROCESSING: 'Em análise',
  PAID: 'Paga',
  APPROVED: 'Paga (cartão)',
  REFUSED: 'Recusada',
  CANCELLED: 'Cancelada',
  EXPIRED: 'Expirada',
  REFUNDED: 'Reembolsada',
  DISPUTE: 'Em disputa',
  CHARGEBACK: 'Contestada no cartão',
};

export const METHOD_WORDS: Words = {
  PIX: 'Pix',
  CREDIT_CARD: 'Cartão',
  BOLETO: 'Boleto',
  MBWAY: 'MB WAY',
  MULTIBANCO: 'Multibanco',
  CRYPTO: 'Cripto',
};

export const REFUND_STATUS_WORDS: Words = {
  PENDING: 'Na fila',
  IN_PROGRESS: 'Em andamento',
  REFUNDED: 'Reembolsado',
  FAILED: 'Falhou',
};

export const STRATEGY_WORDS: Words = { devolution: 'Devolução do Pix', cashout: 'Pix enviado' };

export const REFUND_FAILURE_WORDS: Words = {
  amount_exceeded: 'O valor passa do que o banco ainda devolve.',
  destination_invalid: 'O destino não existe ou não recebe Pix.',
  insufficient_funds: 'Faltou dinheiro na conta de onde sai o Pix.',
  too_late: 'O prazo para devolver passou.',
  refused: 'O banco recusou o reembolso.',
  charge_disputed: 'A venda está em disputa.',
};

export const DISPUTE_TYPE_WORDS: Words = {
  med: 'MED',
  chargeback: 'contestação no cartão',
  dispute: 'compra não reconhecida',
  fraud: 'fraude denunciada',
};

export const DISPUTE_STATUS_WORDS: Words = {
  open: 'Aberta',
  appealed: 'Defesa enviada',
  accepted: 'Aceita',
  rejected: 'Negada',
  closed: 'Encerrada',
};

export const MONEY_OUTCOME_WORDS: Words = {
  refunded_to_merchant: 'Voltou para a loja',
  closed_without_refund: 'Não voltou para a loja',
  lost: 'Perdido',
};

export const PAYOUT_STATUS_WORDS: Words = {
  pending: 'Aguardando',
  processing: 'No banco',
  paid: 'Pago',
  failed: 'Falhou',
  cancelled: 'Cancelado',
  refunded: 'Devolvido',
};

export const LINK_STATUS_WORDS: Words = { active: 'Ativo', ended: 'Encerrado' };

export const DELIVERY_STATUS_WORDS: Words = {
  PENDING: 'Na fila',
  PROCESSING: 'Em envio',
  DELIVERED: 'Entregue',
  FAILED: 'Falhou',
  CANCELLED: 'Cancelada',
};

export const PAYOUT_FAILURE_WORDS: Words = {
  destination_invalid: 'O destino não existe ou não recebe Pix.',
  destination_mismatch: 'A chave ou a conta não é do CPF ou CNPJ informado.',
  insufficient_funds: 'Faltou dinheiro na conta de onde sai o Pix.',
  limit_exceeded: 'O valor passa do limite do banco.',
  rejected_by_receiver: 'O banco de quem recebe recusou o Pix.',
  refused: 'O banco recusou o saque.',
  cancelled: 'Cancelado antes de sair.',
  approval_refused: 'Outra pessoa da conta recusou.',
  not_supported: 'O banco desta conta não envia Pix para este tipo de destino.',
  destination_not_allowed: 'Esta conta só saca para contas do próprio titular.',
  not_sent: 'O banco não enviou o saque.',
  revoked_by_bank: 'O banco informou que pagou e depois voltou atrás.',
};

export const DESTINATION_WORDS: Words = {
  pix_key: 'Chave Pix',
  br_code: 'Pix Copia e Cola',
  bank_account: 'Agência e conta',
};

export const ENTRY_TYPE_WORDS: Words = {
  sale: 'Venda',
  fee: 'Tarifa',
  release: 'Liberação',
  refund: 'Reembolso',
  refund_failed: 'Reembolso não efetuado',
  med_hold: 'Retido por disputa',
  med_release: 'Liberado da disputa',
  med_loss: 'Perdido em disputa',
  chargeback: 'Contestação do cartão',
  payout: 'Saque',
  payout_failed: 'Saque não efetuado',
  payout_returned: 'Saque devolvido',
  correction: 'Correção',
};

/** By type of the entry. */
export const DESCRIPTION_WORDS: Words = {
  sale: 'Pagamento recebido, menos as tarifas',
  fee: 'Tarifa',
  release: 'Liberação de um pagamento',
  refund: 'Reembolso ao pagador',
  refund_failed: 'Reembolso não efetuado: o dinheiro voltou',
  med_hold: 'Retido por uma disputa',
  med_release: 'Devolvido por uma disputa',
  med_loss: 'Perdido em uma disputa',
  chargeback: 'Perdido em uma contestação no cartão',
  payout: 'Saque',
  payout_failed: 'Saque não efetuado: o dinheiro voltou',
  payout_returned: 'Saque devolvido: o dinheiro voltou',
  correction: 'Correção',
};

export const BUCKET_WORDS: Words = { available: 'Disponível', pending: 'A liberar', retained: 'Retido' };

/** Lines of a monthly closing. */
export const CLOSING_WORDS: Words = {
  opening: 'Saldo inicial',
  sales: 'Vendas',
  fees: 'Tarifas',
  refunds: 'Reembolsos',
  disputes: 'Disputas',
  payouts: 'Saques',
  releases: 'Liberações',
  corrections: 'Correções',
  closing: 'Saldo final',
};

/** Headings by the name of the column. */
export const HEADING_WORDS: Words = {
  day: 'Dia',
  created_at: 'Criado em',
  paid_at: 'Pago em',
  updated_at: 'Atualizado em',
  closed_at: 'Encerrado em',
  response_deadline: 'Prazo da resposta',
  currency: 'Moeda',
  bucket: 'Saldo',
  type: 'Tipo',
  status: 'Situação',
  method: 'Forma de pagamento',
  amount: 'Valor',
  balance: 'Saldo depois',
  provider_fee: 'Tarifa do provedor',
  platform_fee: 'Tarifa da plataforma',
  fee: 'Tarifa',
  net_amount: 'Valor líquido',
  refunded: 'Reembolsado',
  disputed: 'Em disputa',
  held: 'Retido',
  lost: 'Perdido',
  amount_returned: 'Valor devolvido',
  description: 'Descrição',
  source: 'Origem',
  payment: 'Venda',
  refund: 'Reembolso',
  dispute: 'Disputa',
  payout: 'Saque',
  id: 'Lançamento',
  end_to_end_id: 'ID do Pix (E2E)',
  txid: 'TXID',
  bank_reference: 'Referência do banco',
  customer_name: 'Nome do cliente',
  customer_document: 'CPF ou CNPJ do cliente',
  customer_email: 'E-mail do cliente',
  customer_phone: 'Telefone do cliente',
  customer: 'Cliente',
  sales: 'Compras',
  amount_paid: 'Pagou',
  amount_refunded: 'Devolvido',
  amount_disputed: 'Em disputa',
  first_paid_at: 'Primeira compra',
  last_paid_at: 'Última compra',
  payment_link: 'Link de pagamento',
  name: 'Nome',
  amount_min: 'Valor mínimo',
  amount_max: 'Valor máximo',
  max_payments: 'Limite de pagamentos',
  paid_count: 'Pagamentos',
  paid_amount: 'Vendido',
  expires_at: 'Vale até',
  ended_at: 'Encerrado em',
  delivery: 'Entrega',
  event: 'Evento',
  attempts: 'Tentativas',
  max_attempts: 'Limite de tentativas',
  url: 'Endpoint',
  last_status_code: 'Última resposta',
  last_error: 'Último erro',
  delivered_at: 'Entregue em',
  next_attempt_at: 'Próxima tentativa',
  strategy: 'Como devolvido',
  reason: 'Motivo',
  failure_reason: 'Motivo da falha',
  failure: 'Motivo da falha',
  money_outcome: 'Destino do dinheiro',
  destination_type: 'Tipo de destino',
  destination: 'Destino',
  destination_tax_id: 'CPF ou CNPJ do destino',
  destination_id: 'Destino cadastrado',
  line: 'Movimento',
  available: 'Disponível',
  pending: 'A liberar',
  retained: 'Retido',
  total: 'Total',
  metadata: 'Metadados',
  'metadata.order_id': 'Pedido',
  'metadata.description': 'Descrição',
};

const SHEET_WORDS: Readonly<Record<ReportType, string>> = {
  statement: 'Extrato',
  sales: 'Vendas',
  refunds: 'Reembolsos',
  disputes: 'Disputas',
  payouts: 'Saques',
  closing: 'Fechamento',
  customers: 'Clientes',
  payment_links: 'Links de pagamento',
  deliveries: 'Entregas',
};

/** The name of a spreadsheet's first sheet. */
export function sheetName(type: ReportType, locale: ReportLocale | null): string {
  return locale === null ? type : SHEET_WORDS[type];
}
