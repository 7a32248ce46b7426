/**
 * The few messages of BACEN's API Pix (2.9.0) that are spoken here. Requests are types, for we write them; answers are
 * schemas, for others do. Answers may grow fields and enumerations may grow values (the standard says so): what is not
 * needed is not looked at, and a status is any text.
 */
import * as z from 'zod';

export type Person = { readonly cpf: string; readonly nome: string } | { readonly cnpj: string; readonly nome: string };

/** `PUT /cob/{txid}`. */
export interface CobRequest {
  /** Seconds from its creation. */
  readonly calendario: { readonly expiracao: number };
  readonly devedor?: Person;
  /** An amount like "110.00". */
  readonly valor: { readonly original: string };
  readonly chave: string;
}

/** `PATCH /cob/{txid}`, to take it back. */
export interface CobRemoval {
  readonly status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR';
}

/** `PUT /pix/{e2eid}/devolucao/{id}`. */
export interface ReturnBody {
  readonly valor: string;
}

/** `PUT /webhook/{chave}`. */
export interface WebhookBody {
  readonly webhookUrl: string;
}

export const dateTime = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const text = z.string().max(1_000);
/** Missing and null mean the same. */
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);

export const returnAnswer = z.object({
  id: text,
  rtrId: optional(text),
  valor: text,
  natureza: optional(text),
  horario: z.object({ solicitacao: optional(dateTime), liquidacao: optional(dateTime) }),
  status: text,
  motivo: optional(text),
});
export type ReturnAnswer = z.infer<typeof returnAnswer>;

export const pixAnswer = z.object({
  endToEndId: text,
  txid: optional(text),
  valor: text,
  chave: optional(text),
  horario: dateTime,
  // Not in every version of the standard; who leaves the payer out does not report it.
  pagador: optional(z.object({ cpf: optional(text), cnpj: optional(text), nome: optional(text) })),
  // Each is read by itself: one that cannot be read does not keep the payment from being credited.
  devolucoes: optional(z.array(z.unknown())),
});
export type PixAnswer = z.infer<typeof pixAnswer>;

export const cobAnswer = z.object({
  calendario: z.object({
    criacao: dateTime,
    // The standard's own default is a text.
    expiracao: z.union([z.int().nonnegative(), z.string().regex(/^[0-9]{1,9}$/)]).transform(Number),
  }),
  txid: text,
  status: text,
  valor: z.object({ original: text }),
  chave: text,
  location: optional(text),
  loc: optional(z.object({ location: optional(text) })),
  pixCopiaECola: optional(text),
  // As the returns above.
  pix: optional(z.array(z.unknown())),
});
export type CobAnswer = z.infer<typeof cobAnswer>;

/** The id by which a Pix that paid a charge is asked about. */
export const paymentAnswer = z.object({ endToEndId: z.string().regex(/^[a-zA-Z0-9]{32}$/) });

/** One page of `GET /pix`. Each Pix is read by itself, so that one that cannot be read does not hide the others. */
export const pixPage = z.object({
  parametros: optional(z.object({ paginacao: optional(z.object({ quantidadeDePaginas: z.int().nonnegative() })) })),
  pix: optional(z.array(z.unknown())),
});

export const webhookAnswer = z.object({ webhookUrl: text });

export const tokenAnswer = z.object({
  access_token: z.string().min(1).max(16_384),
  // Seconds; some write it as a text. Who leaves it out gets the least that is usual.
  expires_in: z
    .union([z.number().positive(), z.string().regex(/^[0-9]{1,9}$/)])
    .nullish()
    .transform((value) => Number(value ?? 300)),
  scope: optional(z.string().max(4_096)),
});
