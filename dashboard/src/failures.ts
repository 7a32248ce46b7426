import type { ApiFailure, ErrorDetail } from './api.js';
import type { Translate } from './format.js';
import { fraudRule } from './words.js';

/**
 * Portuguese texts for people by `error.code`; the service's own messages are in English. Codes without a text are
 * shown as received.
 */
export const PORTUGUESE: Readonly<Record<string, string>> = {
  invalid_credentials: 'E-mail ou senha incorretos.',
  totp_invalid: 'Código incorreto ou já usado: aguarde o aplicativo mostrar o próximo.',
  totp_already_set: 'Já existe um segundo fator: remova-o primeiro.',
  totp_not_begun: 'O segredo expirou: comece de novo.',
  service_unavailable: 'O serviço está ocupado. Tente de novo em instantes.',
  internal_error: 'Houve um erro no serviço. Tente de novo; se continuar, fale com o suporte.',
  provider_unavailable: 'O banco não respondeu. Tente de novo em instantes.',
  provider_error: 'O banco respondeu com um erro. Tente de novo em instantes.',
  no_provider_configured: 'A conta ainda não tem um banco para isto em produção: fale com o operador do serviço.',
  payload_too_large: 'O conteúdo é grande demais.',
  charge_refused: 'O banco recusou a cobrança: confira o valor e o cliente.',
  charge_disputed: 'A venda está em disputa: o dinheiro está retido até o fim dela.',
  payment_not_refundable: 'Esta venda não pode ser reembolsada como está agora.',
  payment_not_cancellable: 'Esta cobrança não pode mais ser cancelada.',
  refund_amount_exceeds_remaining: 'É mais do que resta desta venda.',
  insufficient_balance: 'O saldo disponível não cobre o valor. O que está a liberar ou retido não conta.',
  payout_limit_exceeded: 'O valor passa do limite de saques da conta.',
  payout_not_cancellable: 'O banco já recebeu este saque: ele não pode mais ser cancelado.',
  payout_not_waiting: 'Este saque não aguarda mais aprovação.',
  payout_not_uncertain: 'Este saque já tem um desfecho, ou não foi enviado.',
  payout_too_young: 'O banco ainda pode enviar este saque. Diga que ele falhou mais tarde.',
  approval_not_allowed:
    'Outra pessoa precisa decidir: você pediu este saque, criou a chave da API que o pediu ou aprovou o destino.',
  second_factor_required: 'Informe o código do seu aplicativo de segundo fator.',
  likely_duplicate: 'Um saque de mesmo valor para o mesmo destino foi pedido há menos de dez minutos.',
  destination_not_found: 'Este destino não existe mais: escolha ou salve outro.',
  destination_not_allowed:
    'Esta conta só saca para contas do próprio titular, e o CPF ou CNPJ do destino é outro. Quem opera o serviço pode permitir outros destinos.',
  customer_too_large: 'Este cliente tem vendas demais para esta página: fale com quem opera o serviço.',
  payment_link_ended: 'Este link de pagamento já foi encerrado.',
  destination_changed: 'Este destino mudou ou está salvo com outro CPF ou CNPJ: exclua o antigo e salve de novo.',
  account_tax_id_missing:
    'Falta o CPF ou CNPJ da conta, que quem opera o serviço cadastra. Antes disso não há saques em produção.',
  PAYOUT_NOT_SUPPORTED: 'O banco desta conta não envia Pix para este tipo de destino.',
  REFUND_NOT_SUPPORTED: 'Este meio de pagamento não é reembolsado por aqui.',
  REFUND_STRATEGY_NOT_SUPPORTED: 'Este meio de pagamento não é reembolsado desta forma.',
  RECEIPT_NOT_AVAILABLE: 'Ainda não há recibo desta venda.',
  med_case_over: 'O caso já terminou.',
  med_case_changed: 'O caso mudou enquanto a página estava aberta: veja como está agora.',
  med_case_not_under_review: 'O caso não aguarda decisão.',
  review_already_decided: 'Já foi decidido.',
  EVIDENCE_NOT_UPLOADED: 'O arquivo não chegou. Tente de novo.',
  EVIDENCE_SIZE_MISMATCH: 'O arquivo não chegou inteiro. Tente de novo.',
  evidence_limit_reached: 'O caso atingiu o limite de arquivos.',
  evidence_quota_reached: 'A conta não tem mais espaço para provas: exclua as que não são necessárias.',
  evidence_in_use: 'O arquivo já faz parte da defesa e não pode ser excluído.',
  webhook_endpoint_inactive: 'O endpoint está desativado: ative-o primeiro.',
  webhook_endpoint_limit_reached: 'A conta atingiu o limite de endpoints neste modo.',
  webhook_delivery_not_retryable: 'Esta entrega não pode ser tentada de novo.',
  currency_limit_reached: 'A conta atingiu o limite de moedas neste modo.',
  refund_limit_reached: 'Este pagamento já tem o máximo de devoluções.',
  report_limit_reached: 'Há muitos relatórios na fila: aguarde um ficar pronto.',
  invitation_limit_reached: 'Há muitos convites pendentes: cancele um.',
  last_owner: 'A conta precisa de pelo menos um dono com acesso: defina outro primeiro.',
  foreign_page: 'O serviço não reconheceu esta página como sua. Recarregue-a e tente de novo.',
  ip_not_allowed: 'Isto não pode ser feito deste endereço IP.',
  pix_not_in_suspense:
    'Este Pix não pode ser resolvido assim: já foi creditado ou encerrado, está sendo devolvido, ou é de uma cobrança ou conexão própria.',
  pix_not_returnable: 'O banco não devolve este Pix por aqui: devolva-o no aplicativo do banco.',
  charge_not_payable:
    'A cobrança não pode receber este Pix: ela é de outra conta ou conexão, tem outro valor ou outro pagador, ou não podia mais ser paga.',
  second_operator_required: 'Outro operador precisa aprovar: não pode ser quem solicitou.',
  correction_waits: 'Outra correção deste item já aguarda um segundo operador.',
  correction_already_decided: 'A correção já foi decidida.',
  loss_exceeds_charge:
    'É mais do que devoluções, disputas e as perdas já lançadas deixaram da cobrança, ou voltaria mais do que se perdeu.',
  already_booked:
    'Uma devolução, disputa ou perda da cobrança já tem esta referência do banco. Uma perda errada é lançada antes com o valor oposto.',
  upload_closed: 'O caso não recebe mais este arquivo.',
  unsupported_media_type: 'Este tipo de conteúdo não é aceito.',
  too_many_streams: 'Há muitas páginas abertas. Feche algumas.',
  idempotency_key_required: 'O pedido chegou incompleto. Recarregue a página e tente de novo.',
  idempotency_key_reused: 'Isto já foi enviado com outros dados. Feche e comece de novo.',
  idempotency_key_in_use: 'O mesmo pedido ainda está em andamento. Aguarde um momento.',
};

/** Fields of a receiver. In a payout they are below `destination`. */
const RECEIVER_FIELDS: Readonly<Record<string, string>> = {
  key: 'Chave Pix',
  tax_id: 'CPF ou CNPJ',
  br_code: 'Pix copia e cola',
  ispb: 'ISPB do banco',
  branch: 'Agência',
  number: 'Conta',
  account_type: 'Tipo de conta',
};

/** Names of fields as the forms label them. */
export const PORTUGUESE_FIELDS: Readonly<Record<string, string>> = {
  ...RECEIVER_FIELDS,
  ...Object.fromEntries(Object.entries(RECEIVER_FIELDS).map(([name, label]) => [`destination.${name}`, label])),
  'destination.name': 'Titular',
  amount: 'Valor',
  amount_max: 'Valor máximo',
  amount_min: 'Valor mínimo',
  code: 'Código',
  current_password: 'Senha atual',
  'customer.document': 'CPF ou CNPJ',
  'customer.email': 'E-mail do cliente',
  'customer.name': 'Nome do cliente',
  description: 'Descrição',
  end_to_end_id: 'ID da transação Pix',
  email: 'E-mail',
  expires_at: 'Vale até',
  expires_in: 'Validade',
  from: 'De',
  max_payments: 'Quantas vezes pode ser pago',
  name: 'Nome',
  new_password: 'Nova senha',
  password: 'Senha',
  picture: 'Foto',
  question: 'Pergunta',
  reason: 'Motivo',
  return_url: 'Para onde vai quem pagou',
  to: 'Até',
  token: 'Código do e-mail',
  url: 'URL',
};

/** Problems of a field, by the beginning of the service's message. */
const PORTUGUESE_REASONS: readonly (readonly [start: string, text: string])[] = [
  ['must be an integer from 1 to 999999999999', 'vai de R$ 0,01 a R$ 9.999.999.999,99'],
  ['must be the CPF or CNPJ that is the key', 'não é o da chave'],
  ['must be a Pix key', 'não é uma chave Pix'],
  ['must be a Pix code', 'não é um código Pix: copie-o inteiro'],
  ['must be a code that is paid once', 'é de Pix Automático; use um código que se paga uma vez'],
  ['must have the amount of the payout', 'tem outro valor'],
  ['must have 1 to 4 digits', 'tem de 1 a 4 dígitos, sem o dígito verificador'],
  ['must have 2 to 20 digits', 'tem o número com o dígito verificador'],
  ['must have 8 digits', 'tem 8 dígitos'],
  ['must be an end-to-end id', 'é a letra E e 31 letras ou dígitos'],
  ['must be a CPF or CNPJ', 'não é um CPF ou CNPJ: confira os dígitos'],
  ['must be in the future', 'já passou'],
  ['must not be below amount_min', 'é menor que o valor mínimo'],
  ['must not be below the', 'é menos do que já foi pago'],
  ['must start with https://', 'começa com https://'],
  ['must not be before from', 'é antes do começo'],
  ['must be an absolute URL', 'é um endereço completo, que começa com https://'],
  ['must be an e-mail', 'não é um e-mail'],
  ['must have at least 10 characters', 'precisa de pelo menos 10 caracteres'],
  ['must have at most 256 characters', 'tem no máximo 256 caracteres'],
];

/** Problems of a field, by the code of the detail. */
const PORTUGUESE_DETAILS: Readonly<Record<string, string>> = {
  required: 'falta',
  too_short: 'é curto demais',
  too_long: 'é longo demais',
  too_common: 'é uma das senhas tentadas primeiro; escolha outra',
  personal: 'não pode conter o seu e-mail ou nome',
  invalid: 'não é aceito como está escrito',
};

/** Codes whose Portuguese text is complete without the service's message. */
const WHOLE_DETAILS: ReadonlySet<string> = new Set(['required', 'too_common', 'personal']);

/** Describes the problem of a field. If only the service's message is complete, it is added in parentheses. */
export function detailOf({ code, message }: Pick<ErrorDetail, 'code' | 'message'>, t: Translate): string {
  const words = PORTUGUESE_REASONS.find(([start]) => message.startsWith(start))?.[1];
  const general = PORTUGUESE_DETAILS[code];
  const isAll = general !== undefined && WHOLE_DETAILS.has(code);
  return t(words ?? (isAll ? general : `${general ?? ''} (${message})`.trim()), message);
}

/**
 * A screen's texts for refusals: by code, and for those without a code of their own by field, or '' for no field.
 */
export type Refused = Readonly<Record<string, string>>;

/** Advice on how to solve the problem. */
export function hintOf(failure: ApiFailure | null, t: Translate, refused: Refused = {}): string {
  if (failure === null) return t('Não deu certo.', 'That did not work.');
  const { status, code, message } = failure;
  if (status === 0) {
    return t(
      'O serviço não respondeu. Verifique a sua conexão e tente de novo.',
      'The service did not answer. Check your connection and try again.',
    );
  }
  if (code === 'totp_setup_required') {
    return t(
      'Esta ação exige um segundo fator: configure-o em “Configurações”.',
      'This action needs a second factor: set one up under “Settings”.',
    );
  }
  if (code === 'account_suspended') {
    return t(
      'A conta está suspensa: fale com o operador do serviço.',
      'The account is suspended: contact the operator of the service.',
    );
  }
  if (code === 'forbidden' || code === 'API_KEY_ROLE_REQUIRED') {
    return t(
      'Seu papel não permite esta ação. Peça a um dono ou administrador da conta.',
      'Your role does not allow this. Ask an owner or administrator of the account.',
    );
  }
  if (code.startsWith('fraud.')) {
    const rule = fraudRule(code, t);
    return t(
      `O antifraude da conta recusou esta operação: ${rule}. O operador do serviço pode alterar as regras.`,
      `The account’s fraud guard refused this operation: ${rule}. The operator of the service can change the rules.`,
    );
  }
  if (status === 404) return t('Página não encontrada.', 'Page not found.');
  if (status === 429) {
    return t('Muitas requisições ao mesmo tempo. Aguarde um momento.', 'Too many requests at once. Wait a moment.');
  }
  if (failure.details.length > 0) return t('Confira:', 'Please check:');
  const said = refused[code === 'invalid_request' ? failure.param : code];
  return said ?? t(PORTUGUESE[code] ?? message, message);
}
