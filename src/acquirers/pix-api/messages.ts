/**
 * The messages of BACEN's API Pix (2.9.0) that we use. Requests are types, because we write them; answers are schemas.
 * The standard lets answers gain fields and enumerations gain values, so other fields are ignored, and a status is any
 * text. Only ids, amounts and states are required. Every other field may be missing, null, blank or of another type,
 * and is null then. `""` is always absent. If a key or txid has another type, the message cannot be read: the field may
 * decide whose money it is.
 */
import * as z from 'zod';
import { readTime, type WrittenTime } from './written-time.js';

export type Person = { readonly cpf: string; readonly nome: string } | { readonly cnpj: string; readonly nome: string };

/** Body of `PUT /cob/{txid}`. */
export interface CobRequest {
  /** Seconds from its creation. */
  readonly calendario: { readonly expiracao: number };
  readonly devedor?: Person;
  /** An amount like "110.00". */
  readonly valor: { readonly original: string };
  readonly chave: string;
}

/** Body of `PATCH /cob/{txid}`, which cancels the charge. */
export interface CobRemoval {
  readonly status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR';
}

/** Body of `PUT /pix/{e2eid}/devolucao/{id}`. */
export interface ReturnBody {
  readonly valor: string;
}

/** Body of `PUT /webhook/{chave}`. */
export interface WebhookBody {
  readonly webhookUrl: string;
}

/** A text without any visible character counts as absent. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

export const text = z
  .string()
  .max(1_000)
  .refine((value) => !isAbsent(value));
/** Amounts. Some PSPs write them as numbers. */
export const amount = z.union([text, z.number().transform(String)]);
export const time = z.string().transform((value, context): WrittenTime => {
  const read = readTime(value.trim());
  if (read) return read;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

/** A state. Some PSPs write it in small letters. */
export const word = text.transform((value) => value.trim().toUpperCase());
const count = z.union([z.int().nonnegative(), z.string().regex(/^[0-9]{1,9}$/)]).transform(Number);

/** An optional field: null when it is absent or cannot be read. */
export function bonus<T>(schema: z.ZodType<T>) {
  return z
    .unknown()
    .optional()
    .transform((value): T | null => (isAbsent(value) ? null : (schema.safeParse(value).data ?? null)));
}

/** A key or a txid, which may be absent. PSPs write digit-only ones as numbers, too. Any other type cannot be read. */
export const keyOrTxid = z
  .unknown()
  .optional()
  .transform((value) => (isAbsent(value) ? null : value))
  .pipe(z.union([z.null(), text, z.int().nonnegative().transform(String)]));

/** A list. Some PSPs write a single entry without the list around it. */
export const list = z.union([
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()).transform((entry) => (Object.keys(entry).length === 0 ? [] : [entry])),
]);

/** The paths of fields that are present but could not be read. @param read the output of a schema for `body` */
export function unreadFields(body: unknown, read: unknown): string[] {
  if (typeof read !== 'object' || read === null || Array.isArray(read) || read instanceof Date) return [];
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(read).flatMap(([name, value]) => {
    const written = (body as Record<string, unknown>)[name];
    if (value === null) return isAbsent(written) ? [] : [name];
    return unreadFields(written, value).map((path) => `${name}.${path}`);
  });
}

export const returnAnswer = z.object({
  id: text,
  rtrId: bonus(text),
  valor: amount,
  natureza: bonus(word),
  horario: bonus(z.object({ solicitacao: bonus(time), liquidacao: bonus(time) })),
  status: word,
  motivo: bonus(text),
});
export type ReturnAnswer = z.infer<typeof returnAnswer>;

export const pixAnswer = z.object({
  endToEndId: text,
  txid: keyOrTxid,
  valor: amount,
  chave: keyOrTxid,
  horario: bonus(time),
  // Not in every version of the standard; PSPs may leave the payer out.
  pagador: bonus(z.object({ cpf: bonus(text), cnpj: bonus(text), nome: bonus(text) })),
  // Each return is read separately: an unreadable one does not keep the payment from being credited.
  devolucoes: bonus(list),
});
export type PixAnswer = z.infer<typeof pixAnswer>;

export const cobAnswer = z.object({
  // The standard's own default of `expiracao` is a text.
  calendario: bonus(z.object({ criacao: bonus(time), expiracao: bonus(count) })),
  txid: text,
  status: word,
  valor: z.object({ original: amount }),
  chave: keyOrTxid,
  location: bonus(text),
  loc: bonus(z.object({ location: bonus(text) })),
  pixCopiaECola: bonus(text),
  // Each payment is read separately, like the returns above.
  pix: bonus(list),
});
export type CobAnswer = z.infer<typeof cobAnswer>;

/** The id for querying a Pix that paid a charge. */
export const paymentAnswer = z.object({ endToEndId: z.string().regex(/^[a-zA-Z0-9]{32}$/) });

/**
 * A page of `GET /pix`. Each Pix is read separately, so an unreadable one does not hide the others. If an object has
 * neither `pix` nor `parametros`, it is another message and not an empty page.
 */
export const pixPage = z
  .record(z.string(), z.unknown())
  .refine((page) => 'pix' in page || 'parametros' in page)
  .pipe(
    z.object({
      parametros: bonus(z.object({ paginacao: bonus(z.object({ quantidadeDePaginas: bonus(count) })) })),
      pix: z.preprocess((value) => (isAbsent(value) ? [] : value), list),
    }),
  );

export const webhookAnswer = z.object({ webhookUrl: text });

/** The shortest usual life of a token, for PSPs that report none, or 0. */
const TOKEN_SECONDS = 300;
const life = z.union([z.number(), z.string().regex(/^[0-9]{1,9}(?:\.[0-9]+)?$/)]).transform(Number);

export const tokenAnswer = z.object({
  access_token: z.string().min(1).max(16_384),
  expires_in: bonus(life.pipe(z.number().positive())).transform((value) => value ?? TOKEN_SECONDS),
  scope: bonus(
    z.union([
      z.string().max(4_096),
      z
        .array(z.string().max(200))
        .max(100)
        .transform((scopes) => scopes.join(' ')),
    ]),
  ),
});
