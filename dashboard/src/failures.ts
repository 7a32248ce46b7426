/**
 * What the service says in English to programs and people alike, in Portuguese for people, by `error.code`. What is not
 * here is shown as it came.
 */
export const PORTUGUESE: Readonly<Record<string, string>> = {
  invalid_credentials: 'O e-mail ou a senha não confere.',
  totp_invalid: 'O código está errado, já foi usado ou o tempo dele acabou.',
  totp_already_set: 'Já há um segundo fator: remova-o primeiro.',
  totp_not_begun: 'O segredo não vale mais: comece de novo.',
  service_unavailable: 'O serviço está ocupado. Tente de novo em um momento.',
  internal_error: 'Houve um erro no serviço. Tente de novo; se continuar, fale com o suporte.',
  provider_unavailable: 'O banco não respondeu. Tente de novo em um momento.',
  provider_error: 'O banco respondeu com um erro. Tente de novo em um momento.',
  no_provider_configured: 'A conta ainda não tem banco para isto em produção: fale com quem opera o serviço.',
  payload_too_large: 'É grande demais.',
  charge_refused: 'O banco recusou a cobrança: confira o valor e o cliente.',
  charge_disputed: 'A venda está em disputa: o dinheiro está retido até o fim dela.',
  payment_not_refundable: 'Esta venda não pode ser reembolsada como está agora.',
  payment_not_cancellable: 'Esta cobrança não pode mais ser cancelada.',
  refund_amount_exceeds_remaining: 'É mais do que resta desta venda.',
  insufficient_balance: 'O saldo disponível não cobre este reembolso.',
  REFUND_NOT_SUPPORTED: 'Este meio de pagamento não é reembolsado por aqui.',
  REFUND_STRATEGY_NOT_SUPPORTED: 'Este meio de pagamento não é reembolsado desta forma.',
  RECEIPT_NOT_AVAILABLE: 'Ainda não há recibo desta venda.',
  med_case_over: 'O caso já terminou.',
  med_case_changed: 'O caso mudou enquanto a página estava aberta: veja como está agora.',
  med_case_not_under_review: 'O caso não espera uma decisão.',
  review_already_decided: 'Já foi decidido.',
  EVIDENCE_NOT_UPLOADED: 'O arquivo não chegou. Tente de novo.',
  EVIDENCE_SIZE_MISMATCH: 'O arquivo não chegou inteiro. Tente de novo.',
  evidence_limit_reached: 'O caso já tem arquivos demais.',
  evidence_quota_reached: 'A conta não tem mais espaço para provas: remova o que não é preciso.',
  evidence_in_use: 'O arquivo já faz parte da resposta e não pode ser removido.',
  webhook_endpoint_inactive: 'O endereço está desligado: ligue-o primeiro.',
  webhook_endpoint_limit_reached: 'A conta já tem endereços demais neste modo.',
  webhook_delivery_not_retryable: 'Esta entrega não pode ser tentada de novo.',
  currency_limit_reached: 'A conta já usa moedas demais neste modo.',
  refund_limit_reached: 'Este pagamento já tem o máximo de devoluções.',
  report_limit_reached: 'Há relatórios demais na fila: espere um ficar pronto.',
  invitation_limit_reached: 'Há convites demais à espera: retire um.',
  last_owner: 'A conta precisa de pelo menos um OWNER que possa entrar: faça outro primeiro.',
  idempotency_key_in_use: 'O mesmo pedido ainda está em andamento. Espere um momento.',
};

/** Names of fields, for whoever knows them from a form. */
export const PORTUGUESE_FIELDS: Readonly<Record<string, string>> = {
  amount: 'Valor',
  'customer.document': 'CPF ou CNPJ',
  'customer.email': 'E-mail do cliente',
  'customer.name': 'Nome do cliente',
  email: 'E-mail',
  expires_in: 'Validade',
  from: 'De',
  name: 'Nome',
  reason: 'Motivo',
  to: 'Até',
  url: 'Endereço',
};

/** What is wrong with a field, by the beginning of what the service says. */
export const PORTUGUESE_REASONS: readonly (readonly [start: string, text: string])[] = [
  ['must be an integer from 1 to 999999999999', 'vai de R$ 0,01 a R$ 9.999.999.999,99'],
  ['must be a CPF or CNPJ', 'não é um CPF ou CNPJ: confira os dígitos'],
  ['must not be before from', 'é antes do começo'],
  ['must be an absolute URL', 'é um endereço completo, que começa com https://'],
  ['must be an e-mail', 'não é um e-mail'],
];

/** The same for one field, by the code of its detail. */
export const PORTUGUESE_DETAILS: Readonly<Record<string, string>> = {
  required: 'falta',
  too_short: 'é curto demais',
  too_long: 'é longo demais',
  too_common: 'é uma das senhas tentadas primeiro; escolha outra',
  personal: 'não pode conter o seu e-mail ou nome',
  invalid: 'não é aceito como está escrito',
};
