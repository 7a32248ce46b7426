/** Efí's messages about sent Pix. As in API Pix, only ids, amounts and states are needed (see ../../messages.ts). */
import * as z from 'zod';
import { amount, bonus, keyOrTxid, list, text, time, word } from '../../messages.js';

/** The answer to a send, and a sent Pix in look-ups and the list. */
export const sentPix = z.object({
  // The ids are read by name (`shownPayout`), also if the rest cannot be read.
  valor: amount,
  /** The payer's key. A Pix that was sent in Efí's app has none, and no `idEnvio`. */
  chave: keyOrTxid,
  status: word,
  horario: bonus(z.object({ solicitacao: bonus(time), liquidacao: bonus(time) })),
  // Each return is read separately: an unreadable one does not make a paid payout unknown.
  devolucoes: bonus(list),
});
export type SentPix = z.infer<typeof sentPix>;

const returnTime = z.union([
  time,
  z
    .object({ solicitacao: bonus(time), liquidacao: bonus(time) })
    .transform(({ solicitacao, liquidacao }) => liquidacao ?? solicitacao),
]);

/** A return of a sent Pix. The standard's returns have a state, Efí's have none: they have come back. */
export const sentReturn = z.object({
  rtrId: text,
  valor: amount,
  horario: bonus(returnTime),
  status: bonus(word),
  motivo: bonus(text),
});

/** The details of a dynamic Pix code. */
export const codeDetails = z.object({
  status: bonus(word),
  valor: z.object({ final: bonus(amount), original: bonus(amount) }),
});

export const balanceAnswer = z.object({ saldo: amount, bloqueios: z.record(z.string(), amount) });

/** The parts of a callback's entry that name a payout and the change. Everything else may be made up and is not read. */
export const sentEntry = z.object({
  tipo: bonus(word),
  status: bonus(word),
  gnExtras: bonus(z.object({ idEnvio: bonus(text), erro: bonus(z.object({ codigo: bonus(text) })) })),
  devolucoes: bonus(list),
});
