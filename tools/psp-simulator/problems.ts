/** Errors of API Pix: RFC 7807 documents with the standard's types and texts. */
import { ApiError, type CommonErrors } from './api-error.js';

/** A violation in a request. */
export interface Violation {
  readonly razao: string;
  readonly propriedade: string;
  readonly valor?: string;
}

const KINDS = {
  RequisicaoInvalida: [400, 'Requisição inválida.', 'A requisição não pôde ser lida.'],
  AcessoNegado: [403, 'Acesso Negado', 'Requisição de participante autenticado que viola alguma regra de autorização.'],
  NaoEncontrado: [404, 'Não Encontrado', 'Entidade não encontrada.'],
  ErroInternoDoServidor: [500, 'Erro interno do servidor.', 'Condição inesperada ao processar requisição.'],
  ServicoIndisponivel: [
    503,
    'Serviço Indisponível',
    'Serviço não está disponível no momento. Serviço solicitado pode estar em manutenção ou fora da janela de funcionamento.',
  ],
  CobNaoEncontrado: [404, 'Não Encontrado', 'Cobrança não encontrada para o txid informado.'],
  CobOperacaoInvalida: [
    400,
    'Cobrança inválida.',
    'A requisição que busca alterar ou criar uma cobrança para pagamento imediato não respeita o _schema_ ou está semanticamente errada.',
  ],
  CobConsultaInvalida: [
    400,
    'Consulta inválida.',
    'Os parâmetros de consulta à lista de cobranças para pagamento imediato não respeitam o _schema_ ou não fazem sentido semanticamente.',
  ],
  PixNaoEncontrado: [404, 'Não Encontrado', 'Pix não encontrado para o e2eid informado.'],
  PixConsultaInvalida: [
    400,
    'Consulta inválida.',
    'Os parâmetros de consulta à lista de pix recebidos não respeitam o _schema_ ou não fazem sentido semanticamente.',
  ],
  PixDevolucaoNaoEncontrada: [404, 'Não Encontrado', 'Devolução não encontrada para o e2eid informado.'],
  PixDevolucaoInvalida: [
    400,
    'Devolução inválida.',
    'A presente requisição de devolução não respeita o _schema_ ou não faz sentido semanticamente.',
  ],
  PixEnviadoNaoEncontrado: [404, 'Não Encontrado', 'Pix enviado não encontrado para o identificador informado.'],
  QrcodeOperacaoInvalida: [
    400,
    'Operação Inválida',
    'A requisição que busca pagar um qrcode não respeita o schema ou está semanticamente errada.',
  ],
  BaldeFichasVazio: [429, 'Balde de Fichas Vazio', 'Não há fichas no balde a serem consumidas'],
  QrcodeErroInterno: [500, 'Erro Interno', 'Funcionalidade desabilitada em ambiente de homologação.'],
  WebhookNaoEncontrado: [404, 'Não Encontrado', 'O webhook denotado por {chave} não se encontra estabelecido.'],
  WebhookOperacaoInvalida: [
    400,
    'Webhook inválido.',
    'A presente requisição busca criar um webhook sem respeitar o _schema_ ou, ainda, com sentido semanticamente inválido.',
  ],
} as const satisfies Record<string, readonly [number, string, string]>;

export type ProblemKind = keyof typeof KINDS;

export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly violacoes?: readonly Violation[];
}

/** Refuses a request of API Pix; the thrown document becomes the answer. */
export class Problem extends ApiError {
  override readonly name = 'Problem';

  private constructor(document: ProblemDocument, headers: Readonly<Record<string, string>> = {}) {
    super({ status: document.status, body: document, headers, contentType: 'application/problem+json' });
  }

  /** @param more differences from the usual document of this kind */
  static of(
    kind: ProblemKind,
    violations: readonly Violation[] = [],
    more: { readonly status?: number; readonly detail?: string; readonly headers?: Record<string, string> } = {},
  ): Problem {
    const [usualStatus, title, usualDetail] = KINDS[kind];
    const { status = usualStatus, detail = usualDetail, headers } = more;
    const type = `https://pix.bcb.gov.br/api/v2/error/${kind}`;
    return new Problem(
      { type, title, status, detail, ...(violations.length > 0 && { violacoes: violations }) },
      headers,
    );
  }

  /** The gateway in front of a PSP answers 401 and 429: the standard has no type for them. */
  static unauthorized(): Problem {
    const detail = 'O token de acesso é desconhecido ou expirou.';
    return new Problem(
      { type: 'about:blank', title: 'Unauthorized', status: 401, detail },
      { 'www-authenticate': 'Bearer error="invalid_token"' },
    );
  }

  static throttled(retryAfterSeconds: number): Problem {
    const detail = 'O limite de requisições foi excedido.';
    return new Problem(
      { type: 'about:blank', title: 'Too Many Requests', status: 429, detail },
      { 'retry-after': String(retryAfterSeconds) },
    );
  }
}

export const COMMON_PROBLEMS: CommonErrors = {
  unauthorized: () => Problem.unauthorized(),
  forbidden: () => Problem.of('AcessoNegado'),
  unreadable: () => Problem.of('RequisicaoInvalida'),
  internal: () => Problem.of('ErroInternoDoServidor'),
  unavailable: () => Problem.of('ServicoIndisponivel'),
  throttled: (seconds) => Problem.throttled(seconds),
};
