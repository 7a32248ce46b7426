/** The bank's state as API Pix shows it. Pure. */
import { encodeBrCode, taxIdKind } from '../../src/brazil/index.js';
import { type Cob, type CobStatus, type Person, type Pix, type Return, type Webhook, termsOf } from './model.js';

export interface WirePix {
  readonly endToEndId: string;
  readonly txid?: string;
  readonly valor: string;
  readonly chave: string;
  readonly horario: string;
  readonly infoPagador?: string;
  /** PSPs report the payer here; the standard allows additional fields. */
  readonly pagador?: WirePerson;
  readonly devolucoes?: readonly WireReturn[];
}

export interface WireReturn {
  readonly id: string;
  readonly rtrId: string;
  readonly valor: string;
  readonly natureza: string;
  readonly descricao?: string;
  readonly horario: { readonly solicitacao: string; readonly liquidacao?: string };
  readonly status: string;
  readonly motivo?: string;
}

type WirePerson = { readonly cpf: string; readonly nome: string } | { readonly cnpj: string; readonly nome: string };

export interface WireCob {
  readonly calendario: { readonly criacao: string; readonly expiracao: number };
  readonly txid: string;
  readonly revisao: number;
  readonly loc: Readonly<Record<string, string | number>>;
  readonly location: string;
  readonly status: CobStatus;
  readonly devedor?: WirePerson;
  readonly valor: { readonly original: string; readonly modalidadeAlteracao: 0 };
  readonly chave: string;
  readonly solicitacaoPagador?: string;
  readonly infoAdicionais?: readonly { readonly nome: string; readonly valor: string }[];
  readonly pixCopiaECola: string;
  readonly pix?: readonly WirePix[];
}

export interface WireWebhook {
  readonly webhookUrl: string;
  readonly chave: string;
  readonly cnpj: string;
  readonly criacao: string;
}

/** A charge in the answer to its creation or revision; `revision` is the last one by default. */
export function wireCob(cob: Cob, revision = cob.revisions.length - 1): WireCob {
  const terms = cob.revisions[revision] ?? termsOf(cob);
  const createdAt = cob.createdAt.toISOString();
  return {
    calendario: { criacao: createdAt, expiracao: terms.expirationSeconds },
    txid: cob.txid,
    revisao: revision,
    loc: { id: cob.locationId, txid: cob.txid, location: cob.location, tipoCob: 'cob', criacao: createdAt },
    location: cob.location,
    status: cob.status,
    ...(terms.debtor && { devedor: wirePerson(terms.debtor) }),
    valor: { original: toReais(terms.amount), modalidadeAlteracao: 0 },
    chave: terms.key,
    ...(terms.question !== null && { solicitacaoPagador: terms.question }),
    ...(terms.notes.length > 0 && { infoAdicionais: terms.notes }),
    pixCopiaECola: encodeBrCode({
      kind: 'dynamic',
      location: cob.location,
      merchantName: cob.merchant.name,
      merchantCity: cob.merchant.city,
    }),
  };
}

/** A charge in the answer to a GET, with its payments. */
export function wireCobWithPix(cob: Cob, revision?: number): WireCob {
  return { ...wireCob(cob, revision), ...(cob.pix.length > 0 && { pix: cob.pix.map(wirePix) }) };
}

export function wirePix(pix: Pix): WirePix {
  return {
    endToEndId: pix.endToEndId,
    ...(pix.txid !== null && { txid: pix.txid }),
    valor: pix.written ?? toReais(pix.amount),
    chave: pix.key,
    horario: pix.at.toISOString(),
    ...(pix.message !== null && { infoPagador: pix.message }),
    ...(pix.payer && { pagador: wirePerson(pix.payer) }),
    ...(pix.returns.length > 0 && { devolucoes: pix.returns.map(wireReturn) }),
  };
}

export function wireReturn(moved: Return): WireReturn {
  return {
    id: moved.id,
    rtrId: moved.rtrId,
    valor: toReais(moved.amount),
    natureza: moved.nature,
    ...(moved.description !== null && { descricao: moved.description }),
    horario: {
      solicitacao: moved.requestedAt.toISOString(),
      ...(moved.settledAt && { liquidacao: moved.settledAt.toISOString() }),
    },
    status: moved.status,
    ...(moved.reason !== null && { motivo: moved.reason }),
  };
}

export function wireWebhook(webhook: Webhook): WireWebhook {
  return {
    webhookUrl: webhook.url,
    chave: webhook.key,
    cnpj: webhook.merchant.cnpj,
    criacao: webhook.createdAt.toISOString(),
  };
}

function wirePerson({ document, name }: Person): WirePerson {
  return taxIdKind(document) === 'cpf' ? { cpf: document, nome: name } : { cnpj: document, nome: name };
}

/** `11000` → `"110.00"`. */
export function toReais(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** `"110.00"` → `11000`; null when the text is no amount of API Pix. */
export function toCents(text: unknown): number | null {
  if (typeof text !== 'string') return null;
  const match = /^([0-9]{1,10})\.([0-9]{2})$/.exec(text);
  return match === null ? null : Number(`${match[1]}${match[2]}`);
}
