/** Reads requests at Efí's own endpoints of money out. */
import * as z from 'zod';
import { type BrCode, BrCodeError, normalizePixKey, normalizeTaxId, parseBrCode } from '../../src/brazil/index.js';
import { EfiError } from './efi-errors.js';
import { type Cob, type Receiver, type SendStatus, termsOf } from './model.js';
import { Problem } from './problems.js';
import { QueryReader } from './queries.js';
import { toCents } from './wire.js';

/** A request to send, before the key directory was asked. */
export interface SendOrder {
  readonly amount: number;
  readonly payerKey: string;
  readonly message: string | null;
  readonly receiver: Receiver;
  /** The tax id that the receiver's key must belong to. */
  readonly expectedDocument: string | null;
  readonly cob: Cob | null;
}

const ID = /^[a-zA-Z0-9]{1,35}$/;

const key = z.string().min(1).max(77);
const digits = (pattern: RegExp) => z.string().regex(pattern);
const payer = z.strictObject({ chave: key, infoPagador: z.string().max(140).optional() });
const taxIds = { cpf: digits(/^[0-9]{11}$/).optional(), cnpj: digits(/^[0-9A-Z]{12}[0-9]{2}$/).optional() };

const sendBody = z.strictObject({
  valor: digits(/^[0-9]{1,10}\.[0-9]{2}$/),
  pagador: payer,
  favorecido: z.union([
    z.strictObject({ chave: key, ...taxIds }),
    z.strictObject({
      contaBanco: z.strictObject({
        nome: z.string().min(1).max(200),
        ...taxIds,
        codigoBanco: digits(/^[0-9]{8}$/),
        agencia: digits(/^[0-9]{1,4}$/),
        conta: digits(/^[0-9]{1,20}$/),
        tipoConta: z.enum(['cacc', 'svgs']),
      }),
    }),
  ]),
});

const pixCopiaECola = z.string().min(1).max(512);
const qrcodeBody = z.strictObject({ pagador: payer, pixCopiaECola });
const detailBody = z.strictObject({ pixCopiaECola });

/** @throws EfiError valor_invalido */
export function readSendId(text: string): string {
  if (!ID.test(text)) throw EfiError.of('valor_invalido', 'Campo idEnvio deve respeitar o padrão ^[a-zA-Z0-9]{1,35}$');
  return text;
}

/** @throws EfiError */
export function readSend(body: unknown): SendOrder {
  const { valor, pagador, favorecido } = parsed(sendBody, body);
  const amount = toCents(valor);
  if (amount === null || amount === 0) throw EfiError.of('valor_invalido', 'Campo valor deve ser maior que zero');
  const common = { amount, payerKey: pagador.chave, message: pagador.infoPagador ?? null, cob: null };
  if ('contaBanco' in favorecido) {
    const { nome, codigoBanco, agencia, conta, tipoConta, ...ids } = favorecido.contaBanco;
    const document = readTaxId(ids, 'favorecido.contaBanco');
    if (document === null) throw EfiError.of('valor_invalido', 'Documento do favorecido é obrigatório');
    const account = { name: nome, document, ispb: codigoBanco, branch: agencia, number: conta, type: tipoConta };
    return { ...common, receiver: { account }, expectedDocument: null };
  }
  const { chave, ...ids } = favorecido;
  if (normalizePixKey(chave)?.key !== chave) throw EfiError.of('valor_invalido', 'Chave do favorecido é inválida');
  return { ...common, receiver: { key: chave, owner: null }, expectedDocument: readTaxId(ids, 'favorecido') };
}

type CobAt = (location: string) => Cob | undefined;

/**
 * Reads a request to pay a code. Only dynamic codes of this bank's charges can be paid: the simulator fetches nothing.
 *
 * @throws EfiError, Problem
 */
export function readQrcode(body: unknown, cobAt: CobAt): SendOrder {
  const { pagador, pixCopiaECola: text } = parsed(qrcodeBody, body);
  // Unverified: Efí documents the errors of a wrong code only where it describes one, and an unreadable code is a 422.
  const cob = cobOf(text, cobAt, 400);
  const { amount, key: receiverKey } = termsOf(cob);
  return {
    amount,
    payerKey: pagador.chave,
    message: pagador.infoPagador ?? null,
    receiver: { key: receiverKey, owner: null },
    expectedDocument: null,
    cob,
  };
}

/** Reads a request to describe a code. @throws EfiError, Problem */
export function readDetail(body: unknown, cobAt: CobAt): Cob {
  return cobOf(parsed(detailBody, body).pixCopiaECola, cobAt, 422);
}

export interface SendQuery {
  readonly inicio: string;
  readonly fim: string;
  readonly status?: string;
  readonly devolucaoPresente?: boolean;
  readonly exibirCodigoBanco?: boolean;
  readonly cpf?: string;
  readonly cnpj?: string;
  readonly page: number;
  readonly pageSize: number;
}

/** Efí's pages name a paid send CONCLUIDA in this filter, its SDK REALIZADO. */
export const STATUS_FILTERS: Readonly<Record<string, SendStatus>> = {
  EM_PROCESSAMENTO: 'EM_PROCESSAMENTO',
  REALIZADO: 'REALIZADO',
  CONCLUIDA: 'REALIZADO',
  NAO_REALIZADO: 'NAO_REALIZADO',
};

/** @throws EfiError valor_invalido */
export function readSendQuery(query: URLSearchParams): SendQuery {
  const reader = new QueryReader(query);
  const window = reader.window();
  const filters = {
    status: reader.take('status', (text) => (Object.hasOwn(STATUS_FILTERS, text) ? text : null)),
    devolucaoPresente: reader.flag('devolucaoPresente'),
    exibirCodigoBanco: reader.flag('exibirCodigoBanco'),
    cpf: reader.matching('cpf', /^\d{11}$/),
    cnpj: reader.matching('cnpj', /^[0-9A-Z]{14}$/),
  };
  const page = reader.page();
  const [first] = reader.violations;
  if (first) throw EfiError.of('valor_invalido', first.razao);
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  return { ...window, ...given, ...page };
}

/** @throws EfiError valor_invalido */
export function readBlocks(query: URLSearchParams): boolean {
  const text = query.get('bloqueios') ?? 'false';
  if (text !== 'true' && text !== 'false')
    throw EfiError.of('valor_invalido', 'Campo bloqueios deve ser true ou false');
  return text === 'true';
}

/** @throws EfiError json_invalido naming every field that is wrong */
function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const erros = result.error.issues.map(({ code, path, message }) => ({
    chave: code,
    caminho: ['.body', ...path.map(String)].join('.'),
    mensagem: message,
  }));
  throw EfiError.of('json_invalido', undefined, { erros });
}

/** Null: none was given. @throws EfiError valor_invalido */
function readTaxId(ids: { cpf?: string | undefined; cnpj?: string | undefined }, where: string): string | null {
  const given = (['cpf', 'cnpj'] as const).filter((name) => ids[name] !== undefined);
  const [name] = given;
  if (name === undefined) return null;
  const text = ids[name] ?? '';
  if (given.length > 1 || normalizeTaxId(text) !== text) {
    throw EfiError.of('valor_invalido', `Documento ${name.toUpperCase()} em ${where}.${name} é inválido`);
  }
  return text;
}

/** @param unreadable status of the refusal of a code that is none, or not of this bank */
function cobOf(text: string, cobAt: CobAt, unreadable: number): Cob {
  const code = readBrCode(text);
  if (code?.kind === 'static') throw wrongCode('O pixCopiaECola informado é referente a uma cobrança estática');
  const cob = code?.kind === 'dynamic' ? cobAt(code.location) : undefined;
  if (!cob) throw wrongCode('O pixCopiaECola informado é inválido.', unreadable);
  return cob;
}

function readBrCode(text: string): BrCode | null {
  try {
    return parseBrCode(text);
  } catch (error) {
    if (error instanceof BrCodeError) return null;
    throw error;
  }
}

export function wrongCode(razao: string, status = 400): Problem {
  return Problem.of('QrcodeOperacaoInvalida', [{ razao, propriedade: 'qrcode.pixCopiaECola' }], { status });
}
