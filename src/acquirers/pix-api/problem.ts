import { cutText } from '../../core/text.js';
import type { ReturnFailure } from '../acquirer.port.js';

/** A PSP's refusal, whatever its format. */
export interface Problem {
  /** For example `CobOperacaoInvalida`; `http_400` where the PSP names none. */
  readonly code: string;
  /** Properties that the PSP complains about, such as `cob.valor.original`. */
  readonly properties: readonly string[];
  /** The PSP's own words, which may name people: shown to operators, never logged. */
  readonly words: string;
}

/**
 * Format of a PSP's errors.
 * - `problem`: RFC 7807 as the standard says, with `violacoes`; without these, the usual `error` and `message`.
 * - `erros`: `{erros: [{codigo, mensagem, ocorrencia}]}` (Banco do Brasil), or a problem.
 * - `nome`: `{nome, mensagem, erros: [{chave, mensagem}]}` (Efí), or a problem.
 */
export type ErrorFormat = 'problem' | 'erros' | 'nome';

const MAX_WORDS = 500;

export function readProblem(format: ErrorFormat, status: number, body: unknown): Problem {
  const fields = record(body);
  const own = format === 'problem' ? null : OWN[format](fields);
  const { code, properties, words } = own ?? standard(fields);
  return {
    code: /^[A-Za-z0-9_.-]{1,60}$/.test(code) ? code : `http_${status}`,
    properties: properties.filter((name) => /^[A-Za-z0-9_.[\]-]{1,60}$/.test(name)),
    words: cutText(words.filter((text) => text !== '').join('; '), MAX_WORDS),
  };
}

interface Parts {
  readonly code: string;
  readonly properties: readonly string[];
  readonly words: readonly string[];
}

const OWN: Readonly<Record<Exclude<ErrorFormat, 'problem'>, (fields: Record<string, unknown>) => Parts | null>> = {
  erros: ({ erros }) => {
    const [first] = records(erros);
    if (!first) return null;
    return { code: text(first['codigo']), properties: [], words: records(erros).map(({ mensagem }) => text(mensagem)) };
  },
  nome: ({ nome, mensagem, erros }) => {
    if (typeof nome !== 'string') return null;
    const details = records(erros);
    return {
      code: nome,
      properties: details.map(({ chave }) => text(chave)),
      words: [text(mensagem), ...details.map((detail) => text(detail['mensagem']))],
    };
  },
};

function standard({ type, title, detail, violacoes, error, message }: Record<string, unknown>): Parts {
  const violations = records(violacoes);
  return {
    code: text(type).split('/').at(-1) || text(error),
    properties: violations.map(({ propriedade }) => text(propriedade)),
    words: [text(title), text(detail), text(message), ...violations.map(({ razao }) => text(razao))],
  };
}

/** Patterns for reasons, which are free text. If none matches, the reason is a plain refusal. */
const REASONS: ReadonlyArray<readonly [RegExp, ReturnFailure]> = [
  [/saldo/i, 'insufficient_funds'],
  [/exced|ultrapass|superior|maior que/i, 'amount_exceeded'],
  [/prazo|janela|90 dias|tempo permitido/i, 'too_late'],
];

/** Why money did not go back, by the words of a refusal or a failed return. */
export function returnFailure(words: string): ReturnFailure {
  return REASONS.find(([pattern]) => pattern.test(words))?.[1] ?? 'refused';
}

/**
 * Whether a refusal is about the Pix key, which belongs to the connection and not to the customer. Some PSPs say so by
 * 412 alone, for example for a key that is not theirs.
 */
export function isAboutKey(status: number, { code, properties, words }: Problem): boolean {
  return status === 412 || properties.some((name) => /(?:^|\.)chave$/i.test(name)) || /chave/i.test(`${code} ${words}`);
}

/** Whether a refusal says that the access token is no longer valid, whatever its status. */
export function namesOldToken({ code, words }: Problem): boolean {
  return (
    code === 'invalid_token' ||
    /invalid[ _]token|token (?:inv[áa]lido|expirado|expired|invalid)|token (?:is|has) expired/i.test(words)
  );
}

/** Whether the refusal says that this return was requested before. */
export function namesKnownReturn({ words }: Problem): boolean {
  return /j[áa] (?:foi )?(?:utilizad|existe|solicitad|cadastrad)/i.test(words);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}
