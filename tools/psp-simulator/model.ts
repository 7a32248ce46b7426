/** Data of the simulated bank. Amounts are integer cents; `wire.ts` writes the form that clients see. */

export interface Merchant {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly pixKeys: readonly string[];
  readonly name: string;
  readonly city: string;
  readonly cnpj: string;
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

/** The current terms. */
export function termsOf(cob: Cob): CobTerms {
  const terms = cob.revisions.at(-1);
  if (terms === undefined) throw new Error('a charge has at least one revision');
  return terms;
}
