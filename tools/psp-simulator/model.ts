/** Data of the simulated bank. Amounts are integer cents; `wire.ts` writes the form that clients see. */

/** Scopes of API Pix, and Efí's own scopes of money out. */
export const SCOPES = [
  'cob.write',
  'cob.read',
  'pix.write',
  'pix.read',
  'webhook.write',
  'webhook.read',
  'pix.send',
  'gn.pix.send.read',
  'gn.pix.sameownership.send',
  'gn.qrcodes.read',
  'gn.qrcodes.pay',
  'gn.balance.read',
] as const;
export type Scope = (typeof SCOPES)[number];

export interface Merchant {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly pixKeys: readonly string[];
  readonly name: string;
  readonly city: string;
  readonly cnpj: string;
  /** The scopes that its tokens can have. */
  readonly scopes: readonly Scope[];
  /** Cents on the account before the first booking. */
  readonly openingBalance: number;
}

export interface Person {
  /** CPF or CNPJ without punctuation. */
  readonly document: string;
  readonly name: string;
}

/** Terms that a merchant sets for a charge, and changes by a revision. */
export interface CobTerms {
  readonly expirationSeconds: number;
  readonly debtor: Person | null;
  readonly amount: number;
  readonly key: string;
  readonly question: string | null;
  readonly notes: readonly { readonly nome: string; readonly valor: string }[];
}

export type CobStatus = 'ATIVA' | 'CONCLUIDA' | 'REMOVIDA_PELO_USUARIO_RECEBEDOR' | 'REMOVIDA_PELO_PSP';

export interface Cob {
  readonly merchant: Merchant;
  readonly txid: string;
  readonly createdAt: Date;
  readonly locationId: number;
  /** Location as `host/path`. */
  readonly location: string;
  /** Revisions in order; the last one is valid. */
  readonly revisions: CobTerms[];
  status: CobStatus;
  /** When it was made to expire early. */
  expiredAt: Date | null;
  readonly pix: Pix[];
}

export interface Pix {
  readonly merchant: Merchant;
  readonly endToEndId: string;
  readonly txid: string | null;
  readonly key: string;
  readonly amount: number;
  /** The amount's text, if it deviates from the standard. */
  written: string | null;
  readonly at: Date;
  readonly payer: Person | null;
  readonly message: string | null;
  readonly returns: Return[];
}

export type ReturnStatus = 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO';
export type ReturnNature = 'ORIGINAL' | 'MED_FRAUDE' | 'MED_OPERACIONAL';

/** A devolution, requested by anybody. */
export interface Return {
  readonly id: string;
  readonly rtrId: string;
  readonly amount: number;
  readonly nature: ReturnNature;
  readonly description: string | null;
  readonly requestedAt: Date;
  status: ReturnStatus;
  settledAt: Date | null;
  reason: string | null;
}

export interface Webhook {
  readonly merchant: Merchant;
  readonly key: string;
  readonly url: string;
  readonly createdAt: Date;
}

export interface BankAccount {
  readonly name: string;
  /** CPF or CNPJ without punctuation. */
  readonly document: string;
  readonly ispb: string;
  readonly branch: string;
  readonly number: string;
  /** Checking (cacc) or savings (svgs). */
  readonly type: 'cacc' | 'svgs';
}

export type Receiver =
  | { readonly key: string; readonly owner: Person | null; readonly account?: never }
  | { readonly account: BankAccount; readonly key?: never };

export type SendStatus = 'EM_PROCESSAMENTO' | 'REALIZADO' | 'NAO_REALIZADO';

/** Why a send was rejected, as the webhook reports it. */
export interface SendError {
  readonly codigo: string;
  readonly origem: string;
  readonly motivo: string;
}

/** A part of a sent Pix that came back. */
export interface SendReturn {
  readonly rtrId: string;
  readonly amount: number;
  readonly at: Date;
}

/** A Pix that a merchant sent. */
export interface Send {
  readonly merchant: Merchant;
  /** `idEnvio`; null: sent in the bank's app. */
  readonly id: string | null;
  readonly endToEndId: string;
  readonly amount: number;
  readonly fee: number;
  /** Null: sent in the bank's app. */
  readonly payerKey: string | null;
  readonly message: string | null;
  readonly receiver: Receiver;
  /** The charge that this send pays, if it is one of this bank. */
  readonly cob: Cob | null;
  readonly requestedAt: Date;
  status: SendStatus;
  /** The bank examines it: it is EM_PROCESSAMENTO for longer. */
  inReview: boolean;
  settledAt: Date | null;
  error: SendError | null;
  readonly returns: SendReturn[];
}

/** The receiver's tax id, if it is known. */
export function documentOf(receiver: Receiver): string | undefined {
  return receiver.account ? receiver.account.document : receiver.owner?.document;
}

/** The current terms. */
export function termsOf(cob: Cob): CobTerms {
  const terms = cob.revisions.at(-1);
  if (terms === undefined) throw new Error('a charge has at least one revision');
  return terms;
}
