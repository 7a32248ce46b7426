/** Sends and balances as Efí shows them. Pure. */
import { maskTaxId, taxIdKind } from '../../src/brazil/index.js';
import { type Balance } from './books.js';
import { type Cob, type Receiver, type Send, type SendError, termsOf } from './model.js';
import { type Settings } from './settings.js';
import { toReais } from './wire.js';

type Form = Settings['sends'];

export interface WireSend {
  readonly endToEndId: string;
  readonly idEnvio?: string;
  readonly valor: string;
  /** The payer's key. */
  readonly chave?: string;
  readonly status: string;
  readonly infoPagador?: string;
  readonly horario: { readonly solicitacao: string; readonly liquidacao?: string };
  readonly favorecido: object;
  readonly devolucoes?: readonly { readonly rtrId: string; readonly valor: string; readonly horario: string }[];
}

/** An entry of a callback about a send. */
export interface WireSendNotice {
  readonly endToEndId: string;
  readonly chave: string;
  readonly tipo: 'SOLICITACAO';
  readonly status: string;
  readonly valor: string;
  /** Null: not paid. */
  readonly horario: string | null;
  readonly infoPagador?: string;
  readonly gnExtras?: { readonly idEnvio?: string; readonly tarifa?: string; readonly erro?: SendError };
  readonly devolucoes?: WireSend['devolucoes'];
}

/** The answer to a request to send. */
export function wireAccepted({ id, endToEndId, amount, requestedAt }: Send, { form }: Form): object {
  return {
    idEnvio: id,
    ...(form === 'sdk' ? { endToEndId } : { e2eId: endToEndId }),
    valor: toReais(amount),
    horario: { solicitacao: requestedAt.toISOString() },
    status: 'EM_PROCESSAMENTO',
  };
}

export function wireSend(send: Send, form: Form, showsBank = false): WireSend {
  return {
    endToEndId: send.endToEndId,
    ...(send.id !== null && { idEnvio: send.id }),
    valor: toReais(send.amount),
    ...(send.payerKey !== null && { chave: send.payerKey }),
    status: statusOf(send, form),
    ...(send.message !== null && { infoPagador: send.message }),
    horario: {
      solicitacao: send.requestedAt.toISOString(),
      ...(send.settledAt && { liquidacao: settlementTime(send.settledAt, form) }),
    },
    favorecido: wireReceiver(send.receiver, form, showsBank),
    ...(send.returns.length > 0 && { devolucoes: wireReturns(send) }),
  };
}

/** Null: the send was made in the bank's app, which calls nobody back. */
export function wireNotice(send: Send, form: Form, change: 'status' | 'return'): WireSendNotice | null {
  if (send.payerKey === null) return null;
  const isBare = change === 'return' && form.returnCallback === 'bare';
  return {
    endToEndId: send.endToEndId,
    chave: send.payerKey,
    tipo: 'SOLICITACAO',
    status: statusOf(send, form),
    valor: toReais(send.amount),
    horario: send.settledAt && send.settledAt.toISOString(),
    ...(send.message !== null && { infoPagador: send.message }),
    ...(!isBare && {
      gnExtras: {
        ...(send.id !== null && { idEnvio: send.id }),
        ...(send.fee > 0 && { tarifa: toReais(send.fee) }),
        ...(send.error && { erro: send.error }),
      },
    }),
    ...(send.returns.length > 0 && { devolucoes: wireReturns(send) }),
  };
}

/**
 * The charge of a dynamic code, as in the example of Efí's page. SDK 2 reads the code's location instead.
 *
 * Unverified: no public source shows the answer for an expired or paid charge. BACEN leaves it to the receiver's PSP
 * whether such a charge is shown; here it is, and only its `status` and `calendario` tell.
 */
export function wireCode(cob: Cob, now: Date): object {
  const { expirationSeconds, debtor, amount, key, question } = termsOf(cob);
  const { name, cnpj } = cob.merchant;
  return {
    tipoCob: 'cob',
    txid: cob.txid,
    revisao: cob.revisions.length - 1,
    calendario: {
      criacao: cob.createdAt.toISOString(),
      apresentacao: now.toISOString(),
      expiracao: expirationSeconds,
    },
    status: cob.status,
    ...(debtor && { devedor: { nome: debtor.name, ...wireDocument(debtor.document) } }),
    recebedor: { nome: name, ...wireDocument(cnpj) },
    valor: { final: toReais(amount) },
    chave: key,
    ...(question !== null && { solicitacaoPagador: question }),
  };
}

/** Unverified: Efí does not say whether `saldo` includes the blocked money. Here it is the money that can be sent. */
export function wireBalance({ available, blockedByCourt, blockedByMed }: Balance, withBlocks: boolean): object {
  return {
    saldo: signedReais(available),
    ...(withBlocks && {
      bloqueios: {
        judicial: toReais(blockedByCourt),
        med: toReais(blockedByMed),
        total: toReais(blockedByCourt + blockedByMed),
      },
    }),
  };
}

function statusOf({ status, inReview }: Send, { reviewStatus }: Form): string {
  return inReview ? reviewStatus : status;
}

/** Efí's examples have whole seconds, so that a settlement may be shown before the request for it. */
function settlementTime(at: Date, { form }: Form): string {
  return form === 'sdk' ? at.toISOString() : `${at.toISOString().slice(0, 19)}.000Z`;
}

function wireReturns({ returns }: Send): NonNullable<WireSend['devolucoes']> {
  return returns.map(({ rtrId, amount, at }) => ({ rtrId, valor: toReais(amount), horario: at.toISOString() }));
}

function wireReceiver(receiver: Receiver, { form }: Form, showsBank: boolean): object {
  if (receiver.account) {
    const { name, document, ispb, branch, number, type } = receiver.account;
    const documented = type === 'cacc' ? 'corrente' : 'poupanca';
    return {
      contaBanco: {
        nome: name,
        ...wireDocument(document),
        ...(showsBank && { codigoBanco: ispb }),
        agencia: branch,
        conta: number,
        tipoConta: form === 'sdk' ? type : documented,
      },
    };
  }
  const { key, owner } = receiver;
  const identified = form === 'documented' && owner;
  return { chave: key, ...(identified && { identificacao: { nome: owner.name, ...wireDocument(owner.document) } }) };
}

/** A person's number is masked, a company's is not. */
function wireDocument(document: string): object {
  return taxIdKind(document) === 'cpf' ? { cpf: maskTaxId(document) } : { cnpj: document };
}

function signedReais(cents: number): string {
  return cents < 0 ? `-${toReais(-cents)}` : toReais(cents);
}
