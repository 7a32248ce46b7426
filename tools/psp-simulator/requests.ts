/** Reads requests of API Pix clients, and lists all their faults at once. Pure. */
import { normalizeTaxId, taxIdKind } from '../../src/brazil/index.js';
import { type CobTerms, type Person } from './model.js';
import { Problem, type ProblemKind, type Violation } from './problems.js';
import { toCents } from './wire.js';

type Fields = Readonly<Record<string, unknown>>;

const DAY_SECONDS = 86_400;
const MAX_EXPIRATION = 2 ** 31 - 1;

const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length <= max;

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

class Reading {
  readonly #violations: Violation[] = [];

  constructor(
    private readonly prefix: string,
    private readonly kind: ProblemKind,
  ) {}

  wrong(property: string, reason: string, value?: unknown): void {
    this.#violations.push({
      razao: reason,
      propriedade: `${this.prefix}${property}`,
      ...(value !== undefined && { valor: typeof value === 'string' ? value : JSON.stringify(value) }),
    });
  }

  malformed(property: string, value?: unknown): void {
    this.wrong(property, `O campo ${this.prefix}${property} não respeita o _schema_.`, value);
  }

  /** @throws Problem with all violations found */
  finish(): void {
    if (this.#violations.length > 0) throw Problem.of(this.kind, this.#violations);
  }
}

/**
 * Reads a charge that is created (`before` null) or revised; a revision keeps omitted fields. @throws Problem
 * CobOperacaoInvalida
 */
export function readTerms(body: unknown, before: CobTerms | null, ownKeys: readonly string[]): CobTerms {
  const reading = new Reading('cob.', 'CobOperacaoInvalida');
  const fields = fieldsOf(body) ?? {};
  const terms: CobTerms = {
    expirationSeconds: readExpiration(fields['calendario'], before, reading),
    debtor: fields['devedor'] === undefined ? (before?.debtor ?? null) : readDebtor(fields['devedor'], reading),
    amount: readAmount(fields['valor'], before, reading),
    key: readKey(fields['chave'], before, ownKeys, reading),
    question: readQuestion(fields['solicitacaoPagador'], before, reading),
    notes: readNotes(fields['infoAdicionais'], before, reading),
  };
  if (fields['loc'] !== undefined) {
    reading.wrong('loc.id', 'O location referenciado por loc.id inexiste.', fieldsOf(fields['loc'])?.['id']);
  }
  reading.finish();
  return terms;
}

/** Reads a PATCH: removes the charge or revises it. @throws Problem CobOperacaoInvalida */
export function readRevision(body: unknown, before: CobTerms, ownKeys: readonly string[]): CobTerms | 'remove' {
  const { status, ...rest } = fieldsOf(body) ?? {};
  if (status === undefined) return readTerms(body, before, ownKeys);
  const reading = new Reading('cob.', 'CobOperacaoInvalida');
  if (status !== 'REMOVIDA_PELO_USUARIO_RECEBEDOR') reading.malformed('status', status);
  if (Object.keys(rest).length > 0) {
    reading.wrong('status', 'Não faz sentido remover uma cobrança ao mesmo tempo em que se realizam alterações.');
  }
  reading.finish();
  return 'remove';
}

function readExpiration(value: unknown, before: CobTerms | null, reading: Reading): number {
  if (value === undefined && before) return before.expirationSeconds;
  const calendar = fieldsOf(value);
  if (!calendar) {
    reading.malformed('calendario', value);
    return 0;
  }
  const seconds = calendar['expiracao'] ?? DAY_SECONDS;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds > MAX_EXPIRATION) {
    reading.malformed('calendario.expiracao', seconds);
    return 0;
  }
  if (seconds <= 0) {
    reading.wrong('calendario.expiracao', 'O campo cob.calendario.expiracao é igual ou menor que zero.', seconds);
  }
  return seconds;
}

function readDebtor(value: unknown, reading: Reading): Person | null {
  const debtor = fieldsOf(value);
  const kinds = (['cpf', 'cnpj'] as const).filter((kind) => debtor?.[kind] !== undefined);
  const [kind] = kinds;
  const document = kind === undefined ? undefined : debtor?.[kind];
  const name = debtor?.['nome'];
  const valid =
    kinds.length === 1 &&
    typeof document === 'string' &&
    normalizeTaxId(document) === document &&
    taxIdKind(document) === kind &&
    isText(name, 200);
  if (valid) return { document, name };
  reading.wrong('devedor', 'O objeto cob.devedor não respeita o _schema_.');
  return null;
}

function readAmount(value: unknown, before: CobTerms | null, reading: Reading): number {
  if (value === undefined && before) return before.amount;
  const fields = fieldsOf(value);
  const original = fields?.['original'];
  if (original === undefined && before) return before.amount;
  const cents = toCents(original);
  if (cents === null) reading.malformed('valor.original', original);
  if (cents === 0) reading.wrong('valor.original', 'O campo cob.valor.original é zero.', original);
  if ((fields?.['modalidadeAlteracao'] ?? 0) !== 0) {
    reading.malformed('valor.modalidadeAlteracao', fields?.['modalidadeAlteracao']);
  }
  if (fields?.['retirada'] !== undefined) reading.malformed('valor.retirada');
  return cents ?? 0;
}

function readKey(value: unknown, before: CobTerms | null, ownKeys: readonly string[], reading: Reading): string {
  if (value === undefined && before) return before.key;
  if (!isText(value, 77)) {
    reading.malformed('chave', value);
    return '';
  }
  if (!ownKeys.includes(value)) {
    reading.wrong(
      'chave',
      'O campo cob.chave corresponde a uma conta que não pertence a este usuário recebedor.',
      value,
    );
  }
  return value;
}

function readQuestion(value: unknown, before: CobTerms | null, reading: Reading): string | null {
  if (value === undefined) return before?.question ?? null;
  if (isText(value, 140)) return value;
  reading.malformed('solicitacaoPagador', value);
  return null;
}

function readNotes(value: unknown, before: CobTerms | null, reading: Reading): CobTerms['notes'] {
  if (value === undefined) return before?.notes ?? [];
  const notes = (Array.isArray(value) ? (value as unknown[]) : [null]).map((item) => {
    const note = fieldsOf(item);
    const [nome, valor] = [note?.['nome'], note?.['valor']];
    return isText(nome, 50) && isText(valor, 200) ? { nome, valor } : null;
  });
  const good = notes.filter((note) => note !== null);
  if (good.length < notes.length || notes.length > 50) {
    reading.wrong('infoAdicionais', 'O objeto infoAdicionais não respeita o _schema_.');
  }
  return good;
}

/** Reads a requested devolution. @throws Problem PixDevolucaoInvalida */
export function readReturn(body: unknown): { amount: number; description: string | null } {
  const reading = new Reading('devolucao.', 'PixDevolucaoInvalida');
  const fields = fieldsOf(body) ?? {};
  const amount = toCents(fields['valor']);
  if (amount === null || amount === 0) reading.malformed('valor', fields['valor']);
  // Pix Saque, whose devolutions are a RETIRADA, is not simulated.
  if ((fields['natureza'] ?? 'ORIGINAL') !== 'ORIGINAL') reading.malformed('natureza', fields['natureza']);
  const description = fields['descricao'] ?? null;
  if (description !== null && !isText(description, 140)) reading.malformed('descricao', description);
  reading.finish();
  return { amount: amount ?? 0, description: typeof description === 'string' ? description : null };
}

/** @throws Problem WebhookOperacaoInvalida */
export function readWebhookUrl(body: unknown): string {
  const url = fieldsOf(body)?.['webhookUrl'];
  // Plain http is allowed although no PSP accepts it: developers have no certificate.
  if (typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw Problem.of('WebhookOperacaoInvalida', [
    {
      razao: 'Campo webhook.webhookUrl não respeita o _schema_.',
      propriedade: 'webhook.webhookUrl',
      ...(typeof url === 'string' && { valor: url }),
    },
  ]);
}
