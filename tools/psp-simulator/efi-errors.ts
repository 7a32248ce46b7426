/**
 * Errors of Efí's own endpoints: `nome` and `mensagem`. Source of names, texts and statuses: Efí's page "Envio e
 * pagamento Pix"; those marked are not verified, because no public source shows them.
 */
import { ApiError, type CommonErrors } from './api-error.js';
import { Problem } from './problems.js';

const KINDS = {
  documento_bloqueado: [400, 'O documento desta conta tem bloqueios que impedem a emissão'],
  chave_invalida: [400, 'A chave informada não faz referência à conta Efí autenticada'],
  chave_nao_pertence_ao_documento: [400, 'O cpf do favorecido é diferente do documento em posse da chave'],
  valor_invalido: [400, 'Valor inválido'],
  /** Seen in answers of Efí to charges; unverified for sends. */
  json_invalido: [400, 'Valores ou tipos de campo inválidos'],
  /** Unverified: Efí asks for the webhook, and nowhere says what it answers without. */
  webhook_nao_encontrado: [400, 'A chave do pagador não possui webhook associado'],
  /** Unverified for sends: the name is the one of Efí's Open Finance. */
  saldo_insuficiente: [400, 'O saldo em conta é insuficiente para efetuar esta transação'],
  chave_favorecido_nao_encontrada: [404, 'A chave do favorecido não foi encontrada'],
  id_envio_duplicado: [409, 'O id de envio informado já foi utilizado em outro pagamento'],
  pagamento_negado: [422, 'Pagamento negado por análises'],
  balde_fichas_vazio: [429, 'Não há fichas no balde a serem consumidas'],
  erro_aplicacao: [500, 'Ocorreu um erro ao validar a chave'],
  /** Unverified. */
  servico_indisponivel: [503, 'Serviço indisponível no momento'],
} as const satisfies Record<string, readonly [number, string]>;

export type EfiErrorName = keyof typeof KINDS;

export const EFI_ERRORS = Object.keys(KINDS) as [EfiErrorName, ...EfiErrorName[]];

/** Refuses a request at Efí's own endpoints. */
export class EfiError extends ApiError {
  override readonly name = 'EfiError';

  private constructor(status: number, body: object, headers: Readonly<Record<string, string>> = {}) {
    super({ status, body, headers, contentType: 'application/json' });
  }

  /** @param mensagem default: the usual text of this error */
  static of(nome: EfiErrorName, mensagem: string = KINDS[nome][1], more: object = {}): EfiError {
    return new EfiError(KINDS[nome][0], { nome, mensagem, ...more });
  }

  /** Out of look-ups at the key directory. */
  static outOfLookUps(retryAfterSeconds: number): EfiError {
    const [status, mensagem] = KINDS.balde_fichas_vazio;
    return new EfiError(
      status,
      { nome: 'balde_fichas_vazio', mensagem },
      { 'retry-after': String(retryAfterSeconds), 'bucket-size': '0' },
    );
  }

  /** Unverified. */
  static unauthorized(): EfiError {
    return new EfiError(401, { error: 'invalid_token', error_description: 'Access token is invalid or has expired' });
  }

  static forbidden(): EfiError {
    const error = 'insufficient_scope';
    return new EfiError(403, { error, error_description: 'Access token has insufficient scope' });
  }
}

export const EFI_COMMON_ERRORS: CommonErrors = {
  unauthorized: () => EfiError.unauthorized(),
  forbidden: () => EfiError.forbidden(),
  unreadable: () => EfiError.of('json_invalido'),
  internal: () => EfiError.of('erro_aplicacao'),
  unavailable: () => EfiError.of('servico_indisponivel'),
  throttled: (seconds) => EfiError.outOfLookUps(seconds),
};

/** The endpoint that describes a code answers 429 and 500 with documents of API Pix. */
export const QRCODE_DETAIL_ERRORS: CommonErrors = {
  ...EFI_COMMON_ERRORS,
  internal: () =>
    Problem.of('QrcodeErroInterno', [], {
      detail: 'Ocorreu um erro interno ao processar a requisição para detalhar o qrcode.',
    }),
  throttled: (seconds) => Problem.of('BaldeFichasVazio', [], { headers: { 'retry-after': String(seconds) } }),
};
