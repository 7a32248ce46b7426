/** Pure functions that translate between the port and Efí's endpoints for sending Pix. */
import { isReturnId, normalizePixKey, parseBrCode, taxIdKind } from '../../../../brazil/index.js';
import { cutText } from '../../../../core/text.js';
import type { PayoutOrder, PayoutRefusal, PayoutReturn } from '../../../payout-desk.port.js';
import type { Problem } from '../../problem.js';
import { isE2eId, isReturnName, minuteOf, textOf, toCents, toDecimal } from '../../translation.js';
import { byMinute, latestPast, type WrittenTime } from '../../written-time.js';
import type { ShownPayout } from '../shown-payout.js';
import { type SentPix, sentReturn } from './messages.js';

/** How long a Pix takes without an examination. Efí has no word for one: a longer processing is taken for it. */
const USUAL_MS = 2 * 60_000;
const MAX_DESCRIPTION = 140;
const MAX_NAME = 199;
/** Efí documents no code for payment accounts. */
const ACCOUNT_TYPES = { checking: 'cacc', savings: 'svgs', payment: null } as const;

export interface SendRequest {
  readonly path: string;
  readonly body: object;
  /** The code whose amount has to be looked up before it is paid; null: the request itself has the amount. */
  readonly code: string | null;
}

/** @returns null for a destination that Efí cannot send to */
export function sendRequest(order: PayoutOrder, pixKey: string): SendRequest | null {
  const { sendId, amount, target, description } = order;
  const infoPagador = cutText(description?.trim() ?? '', MAX_DESCRIPTION);
  const pagador = { chave: pixKey, ...(infoPagador === '' ? {} : { infoPagador }) };
  const path = order.ownTaxId === null ? `/v3/gn/pix/${sendId}` : `/v2/gn/pix/${sendId}/mesma-titularidade`;
  const send = (favorecido: object): SendRequest => ({
    path,
    body: { valor: toDecimal(amount), pagador, favorecido },
    code: null,
  });
  switch (target.type) {
    case 'pix_key':
      return send({ chave: target.key, ...holder(target.taxId) });
    case 'bank_account': {
      const { ispb, branch, number, accountType, name, taxId } = target;
      const tipoConta = ACCOUNT_TYPES[accountType];
      if (tipoConta === null) return null;
      const account = { codigoBanco: ispb, agencia: branch, conta: number, tipoConta };
      return send({ contaBanco: { nome: cutText(name.trim(), MAX_NAME), ...holder(taxId), ...account } });
    }
    case 'br_code': {
      const code = readCode(target.brCode);
      if (code?.kind === 'dynamic') {
        const body = { pagador, pixCopiaECola: target.brCode };
        return { path: `/v2/gn/pix/${sendId}/qrcode`, body, code: target.brCode };
      }
      // Efí's endpoint for codes takes dynamic ones only. A static code is a key, and perhaps an amount.
      if (code?.kind !== 'static' || code.withdrawalFacilitator !== null) return null;
      const key = normalizePixKey(code.key);
      const isOtherAmount = code.amount !== null && code.amount !== amount;
      return key && !isOtherAmount ? send({ chave: key.key, ...holder(target.taxId) }) : null;
    }
  }
}

/** Efí compares the tax id with the holder of the key. */
function holder(taxId: string | null): object {
  if (taxId === null) return {};
  return taxIdKind(taxId) === 'cpf' ? { cpf: taxId } : { cnpj: taxId };
}

function readCode(brCode: string): ReturnType<typeof parseBrCode> | null {
  try {
    return parseBrCode(brCode);
  } catch {
    return null;
  }
}

/** Efí's names of refusals. Names without a comment are in its document. */
const REFUSALS: Readonly<Record<string, PayoutRefusal>> = {
  chave_nao_pertence_ao_documento: 'destination_mismatch',
  // Integrators report this name, with HTTP 404.
  chave_favorecido_nao_encontrada: 'destination_invalid',
  // Our amounts are always valid, so the destination is wrong.
  valor_invalido: 'destination_invalid',
  QrcodeOperacaoInvalida: 'destination_invalid',
  // Efí's name in its Open Finance API; unverified for this one.
  saldo_insuficiente: 'insufficient_funds',
  // Faults of the connection: the account is blocked, or the payer's key is not its own.
  documento_bloqueado: 'refused',
  chave_invalida: 'refused',
  // Efí's name for a charge that does not fit its schema; unverified for a send.
  json_invalido: 'refused',
  pagamento_negado: 'refused',
};

/** @returns null for a name that Efí does not document: then the money may be on its way */
export function refusalOf({ code, words }: Problem): PayoutRefusal | null {
  const reason = Object.hasOwn(REFUSALS, code) ? (REFUSALS[code] ?? null) : null;
  return code === 'QrcodeOperacaoInvalida' && /saldo/i.test(words) ? 'insufficient_funds' : reason;
}

/** Whether a 404 is Efí's own: a gateway's 404 says nothing about a payout. */
export function isNotFound(problem: Problem | undefined): boolean {
  return problem?.code === 'PixEnviadoNaoEncontrado';
}

const STATES: Readonly<Record<string, ShownPayout['state']>> = {
  EM_PROCESSAMENTO: 'processing',
  REALIZADO: 'paid',
  // The reason is in Efí's callback only, which is not believed.
  NAO_REALIZADO: 'failed',
};

/** @param pix null: not readable; the ids of `entry` count all the same */
export function shownPayout(pix: SentPix | null, entry: unknown, now: Date): ShownPayout {
  const id = textOf(entry, 'idEnvio');
  const endToEndId = textOf(entry, 'endToEndId') ?? textOf(entry, 'e2eId');
  const minute = endToEndId !== null && isE2eId(endToEndId) ? minuteOf(endToEndId) : null;
  const timeOf = (written: WrittenTime | null | undefined): Date | null => (written ? byMinute(written, minute) : null);
  const since = pix?.horario?.solicitacao;
  const isLong = since != null && now.getTime() - latestPast(since, now).getTime() > USUAL_MS;
  const state = (pix && Object.hasOwn(STATES, pix.status) && STATES[pix.status]) || null;
  return {
    sendId: id !== null && isReturnId(id) ? id : null,
    endToEndId,
    pixKey: pix?.chave ?? null,
    amount: pix ? toCents(pix.valor) : null,
    status: pix?.status ?? 'UNREADABLE',
    state: state === 'processing' && isLong ? 'review' : state,
    requestedAt: timeOf(since) ?? minute,
    paidAt: timeOf(pix?.horario?.liquidacao),
    ...returnsOf(pix?.devolucoes ?? [], now),
  };
}

/** Reads the returns of a sent Pix, each once. */
function returnsOf(entries: readonly unknown[], now: Date): Pick<ShownPayout, 'returns' | 'unreadReturns'> {
  const byId = new Map<string, PayoutReturn>();
  let unreadReturns = 0;
  for (const entry of entries) {
    const read = sentReturn.safeParse(entry).data;
    // Efí's returns have no status. By the standard's statuses, a return may be on its way or not made.
    const status = read?.status ?? 'DEVOLVIDO';
    if (status === 'EM_PROCESSAMENTO' || status === 'NAO_REALIZADO') continue;
    const amount = read ? toCents(read.valor) : null;
    if (!read || !amount || status !== 'DEVOLVIDO' || !isReturnName(read.rtrId)) {
      unreadReturns += 1;
      continue;
    }
    const { rtrId: returnId, motivo: reason, horario } = read;
    const at = horario ? latestPast(horario, now) : now;
    byId.set(returnId, { returnId, endToEndId: returnId, amount, reason, at });
  }
  return { returns: [...byId.values()], unreadReturns };
}
