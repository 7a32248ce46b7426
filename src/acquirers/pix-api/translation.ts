/** Pure functions that translate between the port and API Pix. */
import {
  encodeBrCode,
  isTxid,
  normalizePixKey,
  normalizeTaxId,
  parseBrCode,
  parseEndToEndId,
  taxIdKind,
} from '../../brazil/index.js';
import { DAY_MS } from '../../core/clock.js';
import type { Amount } from '../../core/money/index.js';
import { cutText } from '../../core/text.js';
import type {
  Dispute,
  NotificationHint,
  PixChargeEnd,
  PixChargeRequest,
  ReceivedPix,
  ReturnState,
  StatementReturn,
  UnreadableLine,
} from '../acquirer.port.js';
import { type FeeSchedule, providerFee } from './fees.js';
import type { CobAnswer, CobRequest, Person, PixAnswer, ReturnAnswer } from './messages.js';
import { returnFailure } from './problem.js';
import { byMinute, earliest, latestPast, notBefore } from './written-time.js';

const MAX_NAME = 200;
/** How far back the payment of a charge is searched if its creation cannot be read. */
const UNKNOWN_CREATION_MS = 2 * DAY_MS;

/** Writes 11000 as "110.00". */
export function toDecimal(cents: Amount): string {
  if (!Number.isSafeInteger(cents) || cents < 0) throw new RangeError('an amount is an integer of cents');
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Reads "110.00" as 11000, digit by digit. Some PSPs write "110.0" or "110", which have only one meaning and are read
 * too. Returns null for a text that is no amount or could be two.
 */
export function toCents(decimal: string): Amount | null {
  const match = /^([0-9]{1,10})(?:\.([0-9]{1,2}))?$/.exec(decimal);
  return match === null ? null : Number(`${match[1] ?? ''}${(match[2] ?? '').padEnd(2, '0')}`);
}

/** Whether the text has the form of an end-to-end id that API Pix promises: it is safe in a path. */
export function isE2eId(text: string): boolean {
  return /^[a-zA-Z0-9]{32}$/.test(text);
}

/**
 * Compares a key that a PSP has written with ours. Punctuation and capitals do not count. A phone may lack its country,
 * a random key its dashes, and a tax id its leading zeros.
 */
export function isSameKey(written: string, ours: string): boolean {
  const key = normalizePixKey(ours);
  const text = written.trim();
  if (key === null || normalizePixKey(text)?.key === key.key) return key !== null || text === ours;
  const digits = text.replace(/[ ()+./-]/g, '');
  switch (key.kind) {
    case 'phone':
      // Eleven digits may be somebody's CPF, too, and then the key is another one.
      return `+${digits}` === key.key || (`+55${digits}` === key.key && normalizeTaxId(digits) === null);
    case 'random':
      return text.replace(/[{}-]/g, '').toLowerCase() === key.key.replaceAll('-', '');
    case 'cpf':
    case 'cnpj':
      return digits.length > 0 && digits.padStart(key.key.length, '0') === key.key;
    case 'email':
      return false;
  }
}

/**
 * The request for a charge. The PSP counts the time for paying from the creation, but our end is fixed: a late attempt
 * gets less time.
 * @returns null when no time is left
 */
export function cobRequest(request: PixChargeRequest, pixKey: string, now: Date): CobRequest | null {
  const leftMs = request.expiresAt.getTime() - now.getTime();
  if (leftMs <= 0) return null;
  const devedor = person(request.payer);
  return {
    calendario: { expiracao: Math.max(Math.floor(leftMs / 1000), 1) },
    ...(devedor ? { devedor } : {}),
    valor: { original: toDecimal(request.amount) },
    chave: pixKey,
  };
}

/** Name and tax id together, or none: the standard knows no debtor with a name alone. */
function person({ name, document }: PixChargeRequest['payer']): Person | null {
  const nome = cutText(name?.trim() ?? '', MAX_NAME).trimEnd();
  const taxId = document === null ? null : normalizeTaxId(document);
  if (nome === '' || taxId === null) return null;
  return taxIdKind(taxId) === 'cpf' ? { cpf: taxId, nome } : { cnpj: taxId, nome };
}

/**
 * The code that payers scan: the PSP's own, or made from the location if the PSP gives only that.
 * @param amount that the code must carry if it carries any; null: any
 * @returns null when there is none, or none that is right
 */
export function brCodeOf(
  answer: CobAnswer,
  amount: Amount | null,
  merchant: PixChargeRequest['merchant'] | null,
): string | null {
  const { pixCopiaECola } = answer;
  if (pixCopiaECola !== null) {
    try {
      const code = parseBrCode(pixCopiaECola);
      return code.amount === null || amount === null || code.amount === amount ? pixCopiaECola : null;
    } catch {
      // A code that no payer's app may be trusted to read; the location may still serve.
    }
  }
  const location = (answer.location ?? answer.loc?.location)?.replace(/^https?:\/\//i, '');
  if (location === undefined) return null;
  try {
    const { name: merchantName, city: merchantCity } = merchant ?? { name: '', city: '' };
    return encodeBrCode({ kind: 'dynamic', location, merchantName, merchantCity });
  } catch {
    return null;
  }
}

/**
 * How the charge ended without payment, or null: it is open, or was paid.
 * @param now for a removal, whose time is not reported
 */
export function chargeEnd(answer: CobAnswer, now: Date): PixChargeEnd | null {
  switch (answer.status) {
    case 'REMOVIDA_PELO_USUARIO_RECEBEDOR':
      return { end: 'removed', reason: 'The charge was taken back.', at: now };
    case 'REMOVIDA_PELO_PSP':
      return { end: 'refused', reason: 'The acquirer removed the charge.', at: now };
    case 'ATIVA': {
      const at = expiryOf(answer, now);
      if (at === null || at > now || (answer.pix ?? []).length > 0) return null;
      return { end: 'expired', reason: 'The charge expired without payment.', at };
    }
    default:
      return null;
  }
}

/**
 * The PSP's end of the time for paying. If the creation has two readings, the later one that has passed counts: a
 * charge that can still be paid must not count as over.
 */
function expiryOf({ calendario }: CobAnswer, now: Date): Date | null {
  if (!calendario?.criacao || calendario.expiracao === null) return null;
  return new Date(latestPast(calendario.criacao, now).getTime() + calendario.expiracao * 1000);
}

/** The earliest time at which a charge may have been paid. */
export function payableFrom({ calendario }: CobAnswer, now: Date): Date {
  return calendario?.criacao ? earliest(calendario.criacao) : new Date(now.getTime() - UNKNOWN_CREATION_MS);
}

/** The minute in which the payer's bank made an end-to-end id, in UTC; null if the id has no minute. */
export function minuteOf(endToEndId: string): Date | null {
  return parseEndToEndId(endToEndId)?.initiatedAt ?? null;
}

/** When the Pix was settled, by the PSP's clock or else by the end-to-end id; null if neither gives a time. */
export function settledAt({ endToEndId, horario }: PixAnswer): Date | null {
  const minute = minuteOf(endToEndId);
  return horario ? byMinute(horario, minute) : minute;
}

/** @returns null for an invalid amount or id @param fees of the PSP, which its answer does not report */
export function receivedPix(answer: PixAnswer, fees: readonly FeeSchedule[]): ReceivedPix | null {
  const amount = toCents(answer.valor);
  const at = settledAt(answer);
  if (amount === null || amount === 0 || at === null || !isE2eId(answer.endToEndId)) return null;
  const document = answer.pagador?.cpf ?? answer.pagador?.cnpj ?? null;
  return {
    endToEndId: answer.endToEndId,
    txid: answer.txid,
    amount,
    settledAt: at,
    fee: providerFee(fees, 'PIX', amount, at),
    // A masked document is dropped.
    payerDocument: document === null ? null : normalizeTaxId(document),
  };
}

export function isDisputeReturn({ natureza }: Pick<ReturnAnswer, 'natureza'>): boolean {
  return natureza?.startsWith('MED') === true;
}

const STATES = { EM_PROCESSAMENTO: 'in_progress', DEVOLVIDO: 'returned', NAO_REALIZADO: 'failed' } as const;

/** @returns undefined for a status that the standard does not know */
function stateOf(status: string): StatementReturn['state'] | undefined {
  return Object.hasOwn(STATES, status) ? STATES[status as keyof typeof STATES] : undefined;
}

/**
 * @param fee that the PSP charges for a return that was made
 * @returns null for a status that the standard does not know
 */
export function returnState(answer: ReturnAnswer, fee: Amount): Exclude<ReturnState, { kind: 'not_found' }> | null {
  switch (stateOf(answer.status)) {
    case 'in_progress':
      return { kind: 'in_progress' };
    case 'returned':
      return { kind: 'returned', bankReference: answer.rtrId, fee };
    case 'failed':
      return { kind: 'failed', reason: returnFailure(answer.motivo ?? '') };
    case undefined:
      return null;
  }
}

/** @returns null when the return cannot be read */
export function statementReturn(
  endToEndId: string,
  answer: ReturnAnswer,
  txid: string | null = null,
): StatementReturn | null {
  const amount = toCents(answer.valor);
  const state = stateOf(answer.status);
  if (amount === null || state === undefined || !isReturnName(answer.id)) return null;
  const cause = isDisputeReturn(answer) ? 'dispute' : 'requested';
  return { returnId: answer.id, amount, state, cause, hint: returnHint(endToEndId, answer, txid) };
}

export function returnHint(
  endToEndId: string,
  { id, status, natureza }: Pick<ReturnAnswer, 'id' | 'status' | 'natureza'>,
  txid: string | null = null,
): NotificationHint {
  return isDisputeReturn({ natureza })
    ? { kind: 'dispute', reference: `${endToEndId}/${id}`, ...(txid === null ? {} : { txid }) }
    : { kind: 'return', reference: `${endToEndId}/${id}/${status}` };
}

/**
 * The readable parts of a list entry that cannot be read as a whole. These parts are not trusted: the PSP is queried.
 */
export function unreadablePix(entry: unknown): UnreadableLine {
  const id = textOf(entry, 'endToEndId');
  const endToEndId = id !== null && isE2eId(id) ? id : null;
  const txid = textOf(entry, 'txid');
  const paid = txid !== null && isTxid(txid) ? { txid } : {};
  return {
    what: 'pix',
    endToEndId,
    returnId: null,
    hint: endToEndId === null ? null : { kind: 'pix', reference: endToEndId, ...paid },
  };
}

/** Whether the text may be a bank's id of a return. Only ids that we chose are put into paths. */
export function isReturnName(text: string): boolean {
  return /^[!-.0-~]{1,100}$/.test(text);
}

/**
 * An unreadable return of a readable Pix. If we requested the return, its refund follows it up. If the bank took the
 * money, the return is queried even without a readable id, so that operators see it.
 */
export function unreadableReturn(endToEndId: string, entry: unknown): UnreadableLine {
  const id = textOf(entry, 'id');
  const returnId = id !== null && isReturnName(id) ? id : null;
  const isDispute = isDisputeReturn({ natureza: textOf(entry, 'natureza')?.trim().toUpperCase() ?? null });
  return {
    what: 'return',
    endToEndId,
    returnId,
    hint: isDispute ? { kind: 'dispute', reference: `${endToEndId}/${returnId ?? ''}` } : null,
  };
}

/** Reads a text field of an unchecked value; a blank one counts as absent. */
export function textOf(entry: unknown, field: string): string | null {
  const value = (entry as Record<string, unknown> | null | undefined)?.[field];
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

const DISPUTE_REASONS: Readonly<Record<string, string>> = {
  MED_FRAUDE: 'Founded suspicion of fraud (MED_FRAUDE)',
  MED_OPERACIONAL: 'Operational failure of a bank (MED_OPERACIONAL)',
  MED_PIX_AUTOMATICO: 'Reimbursement of a Pix Automático (MED_PIX_AUTOMATICO)',
};

/** Reads money of a Pix that the bank takes back by MED. @returns null for another kind of return, or invalid data */
export function disputeOf(pix: PixAnswer, answer: ReturnAnswer): Dispute | null {
  const amount = toCents(answer.valor);
  const state = stateOf(answer.status);
  const paidAt = settledAt(pix);
  if (!isDisputeReturn(answer) || amount === null || state === undefined || paidAt === null) return null;
  if (!isReturnName(answer.id)) return null;
  const { solicitacao = null, liquidacao = null } = answer.horario ?? {};
  const openedAt = solicitacao ? notBefore(solicitacao, paidAt) : paidAt;
  const isFinal = state !== 'in_progress';
  const endedAt = liquidacao ? notBefore(liquidacao, openedAt) : openedAt;
  // The later of two states counts, so the end is made later than the beginning, even if the bank gives one time for
  // both.
  const updatedAt = isFinal ? new Date(Math.max(endedAt.getTime(), openedAt.getTime() + 1)) : openedAt;
  return {
    reference: `${pix.endToEndId}/${answer.id}`,
    type: 'med',
    accountId: null,
    paymentReference: pix.endToEndId,
    txid: pix.txid !== null && isTxid(pix.txid) ? pix.txid : null,
    amount,
    status: isFinal ? 'closed' : 'delivered',
    result: isFinal ? (state === 'returned' ? 'agreed' : 'disagreed') : null,
    // The bank reports fraud, but not its kind.
    method: null,
    reason: DISPUTE_REASONS[answer.natureza ?? ''] ?? answer.natureza,
    // The bank does not name who opened the dispute: the payer of the Pix may be somebody else, whom the merchant must
    // not see.
    payerName: null,
    payerDocument: null,
    responseDeadline: null,
    openedAt,
    updatedAt,
    closedAt: isFinal ? updatedAt : null,
  };
}

/** The fields by which a charge can be paid: its code, and the address from which a payer's bank reads the charge. */
export const PAYABLE_FIELDS = ['pixCopiaECola', 'location'] as const;

/** The fields of a charge's answer that name no person. The key may be a person's CPF, so it stays out too. */
export function publicCob(body: unknown): Record<string, unknown> {
  const fields = pick(bounded(body), ['txid', 'status', 'revisao', 'calendario', 'valor', ...PAYABLE_FIELDS, 'pix']);
  if (!Array.isArray(fields['pix'])) return fields;
  const returns = ['id', 'rtrId', 'valor', 'natureza', 'horario', 'status'];
  const pix = fields['pix'].map((entry: unknown) => {
    const one = pick(entry, ['endToEndId', 'txid', 'valor', 'horario', 'devolucoes']);
    const { devolucoes } = one;
    return Array.isArray(devolucoes) ? { ...one, devolucoes: devolucoes.map((each) => pick(each, returns)) } : one;
  });
  return { ...fields, pix };
}

const SHOWN_DEPTH = 6;
const SHOWN_ITEMS = 100;
const SHOWN_LETTERS = 1_000;

/** Cuts a PSP's answer to the depth and length that answers of the standard have. */
function bounded(value: unknown, depth = SHOWN_DEPTH): unknown {
  if (typeof value === 'string') return cutText(value, SHOWN_LETTERS);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.slice(0, SHOWN_ITEMS).map((item) => bounded(item, depth - 1));
  const entries = Object.entries(value).slice(0, SHOWN_ITEMS);
  return Object.fromEntries(entries.map(([name, item]) => [cutText(name, SHOWN_LETTERS), bounded(item, depth - 1)]));
}

function pick(value: unknown, names: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}
