/** `GET /pix`: which Pix of a window, page by page. Pure. */
import { type Pix } from './model.js';
import { Problem, type Violation } from './problems.js';
import { type WirePix, wirePix } from './wire.js';

/** RFC 3339, as far as both sides of it write one. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

export interface PixQuery {
  readonly inicio: string;
  readonly fim: string;
  readonly txid?: string;
  readonly txIdPresente?: boolean;
  readonly devolucaoPresente?: boolean;
  readonly cpf?: string;
  readonly cnpj?: string;
  readonly page: number;
  readonly pageSize: number;
}

export interface WirePixPage {
  readonly parametros: Readonly<Record<string, unknown>>;
  readonly pix: readonly WirePix[];
}

/** Reads the parameters of a list, and gathers what is wrong with them. */
export class QueryReader {
  readonly violations: Violation[] = [];

  constructor(private readonly query: URLSearchParams) {}

  take<T>(name: string, read: (text: string) => T | null, fallback?: T): T | undefined {
    const text = this.query.get(name);
    if (text === null && name !== 'inicio' && name !== 'fim') return fallback;
    const value = text === null ? null : read(text);
    if (value !== null) return value;
    this.violations.push({
      razao: `O parâmetro ${name} não respeita o _schema_.`,
      propriedade: name,
      ...(text !== null && { valor: text }),
    });
    return fallback;
  }

  matching(name: string, pattern: RegExp): string | undefined {
    return this.take(name, (text) => (pattern.test(text) ? text : null));
  }

  flag(name: string): boolean | undefined {
    return this.take(name, (text) => (text === 'true' ? true : text === 'false' ? false : null));
  }

  /** The window, in which both ends are inclusive. */
  window(): { inicio: string; fim: string } {
    const timestamp = (text: string): string | null =>
      TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text)) ? text : null;
    const inicio = this.take('inicio', timestamp) ?? '';
    const fim = this.take('fim', timestamp) ?? '';
    if (Date.parse(fim) < Date.parse(inicio)) {
      this.violations.push({
        razao: 'O timestamp representado pelo parâmetro fim é anterior ao representado pelo parâmetro inicio.',
        propriedade: 'fim',
        valor: fim,
      });
    }
    return { inicio, fim };
  }

  page(): { page: number; pageSize: number } {
    const number = (min: number, max: number) => (text: string) =>
      /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : null;
    const page = this.take('paginacao.paginaAtual', number(0, 999_999_999), 0) ?? 0;
    const pageSize = this.take('paginacao.itensPorPagina', number(1, 1_000), 100) ?? 100;
    return { page, pageSize };
  }
}

/** A page of the found entries, and the numbers that describe it. */
export function pageOf<T>(
  found: readonly T[],
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): { readonly paginacao: Readonly<Record<string, number>>; readonly entries: readonly T[] } {
  return {
    paginacao: {
      paginaAtual: page,
      itensPorPagina: pageSize,
      quantidadeDePaginas: Math.max(1, Math.ceil(found.length / pageSize)),
      quantidadeTotalDeItens: found.length,
    },
    entries: found.slice(page * pageSize, (page + 1) * pageSize),
  };
}

/** @throws Problem PixConsultaInvalida naming every parameter that is wrong */
export function readPixQuery(query: URLSearchParams): PixQuery {
  const reader = new QueryReader(query);
  const { inicio, fim } = reader.window();
  const optional = {
    txid: reader.matching('txid', /^[a-zA-Z0-9]{1,35}$/),
    txIdPresente: reader.flag('txIdPresente'),
    devolucaoPresente: reader.flag('devolucaoPresente'),
    cpf: reader.matching('cpf', /^\d{11}$/),
    cnpj: reader.matching('cnpj', /^[0-9A-Z]{14}$/),
  };
  if (optional.cpf !== undefined && optional.cnpj !== undefined) {
    reader.violations.push({ razao: 'Ambos os parâmetros cpf e cnpj estão preenchidos.', propriedade: 'cpf' });
  }
  const { page, pageSize } = reader.page();
  if (reader.violations.length > 0) throw Problem.of('PixConsultaInvalida', reader.violations);
  return { inicio, fim, ...defined(optional), page, pageSize };
}

/** The requested page, in the order in which the Pix were booked. */
export function pixPage(all: readonly Pix[], { page, pageSize, ...filters }: PixQuery): WirePixPage {
  const [from, to] = [Date.parse(filters.inicio), Date.parse(filters.fim)];
  const document = filters.cpf ?? filters.cnpj;
  const found = all
    .filter(
      (pix) =>
        pix.at.getTime() >= from &&
        pix.at.getTime() <= to &&
        (filters.txid === undefined || pix.txid === filters.txid) &&
        (filters.txIdPresente === undefined || (pix.txid !== null) === filters.txIdPresente) &&
        (filters.devolucaoPresente === undefined || pix.returns.length > 0 === filters.devolucaoPresente) &&
        (document === undefined || pix.payer?.document === document),
    )
    .sort((one, other) => one.at.getTime() - other.at.getTime());
  const { paginacao, entries } = pageOf(found, { page, pageSize });
  return { parametros: { ...filters, paginacao }, pix: entries.map(wirePix) };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
