/** What the simulated bank keeps. Amounts are integer cents; what clients see is written by `wire.ts`. */

export interface Merchant {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly pixKeys: readonly string[];
  readonly name: string;
  readonly city: string;
  readonly cnpj: string;
}

export interface Person {
  /** CPF or CNPJ, bare. */
  readonly document: string;
  readonly name: string;
}

/** What a merchant may say of a charge, and change by a revision. */
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
  /** `host/path`. */
  readonly location: string;
  /** By number of the revision; the last one holds. */
  readonly revisions: CobTerms[];
  status: CobStatus;
  /** When it was made to expire before its time. */
  expiredAt: Date | null;
  readonly pix: Pix[];
}

export interface Pix {
  readonly merchant: Merchant;
  readonly endToEndId: string;
  readonly txid: string | null;
  readonly key: string;
  readonly amount: number;
  /** How the amount is shown, where that is not as the standard has it. */
  written: string | null;
  readonly at: Date;
  readonly payer: Person | null;
  readonly message: string | null;
  readonly returns: Return[];
}

export type ReturnStatus = 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO';
export type ReturnNature = 'ORIGINAL' | 'MED_FRAUDE' | 'MED_OPERACIONAL';

/** A devolution, whoever asked for it. */
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

/** The terms that hold now. */
export function termsOf(cob: Cob): CobTerms {
  const terms = cob.revisions.at(-1);
  if (terms === undefined) throw new Error('a charge has at least one revision');
  return terms;
}
