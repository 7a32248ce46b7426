/** What can be changed of a running simulator, and the arguments of its methods; the control endpoint takes the same. */
import * as z from 'zod';
import { newReturnId, normalizePixKey, normalizeTaxId } from '../../src/brazil/index.js';

const milliseconds = z.number().int().min(0).max(3_600_000);
const cents = z.number().int().min(1).max(999_999_999_999);
const endToEndId = z.string().regex(/^[a-zA-Z0-9]{32}$/, '32 letters and digits');
const document = z
  .string()
  .transform((text) => normalizeTaxId(text) ?? '')
  .refine((text) => text !== '', 'a valid CPF or CNPJ');

export const callbackSettings = z.strictObject({
  /** Whether `/pix` is put behind the URL, as the standard has it. */
  suffix: z.boolean(),
  /** `{"pix": […]}`, as the standard has it, or the bare array. */
  shape: z.enum(['object', 'array']),
  /** How many Pix at most go into one callback; more than 1 waits `batchWaitMs` for others. */
  batch: z.number().int().min(1).max(1_000),
  batchWaitMs: milliseconds,
  /** Waits after a failed attempt; when they are used up it is given up. */
  retryDelaysMs: z.array(milliseconds).max(100),
  timeoutMs: milliseconds,
  /** Whether Pix without txid are called back as well; the standard says no. */
  withoutTxid: z.boolean(),
});

export const settings = z.strictObject({
  /** Every request waits so long before it is worked on. */
  latencyMs: milliseconds,
  tokenSeconds: z.number().int().min(1).max(86_400),
  /** How long a devolution is EM_PROCESSAMENTO; null: until it is settled by hand. */
  returnDelayMs: milliseconds.nullable(),
  returnOutcome: z.enum(['DEVOLVIDO', 'NAO_REALIZADO']),
  /** What PUT /cob answers for a txid that exists: by the standard it revises it, but many PSPs refuse. */
  repeatedTxid: z.enum(['revise', 'refuse']),
  callbacks: callbackSettings,
});

export const settingsChange = settings.partial().extend({ callbacks: callbackSettings.partial().optional() });

export type Settings = z.output<typeof settings>;
export type SettingsChange = z.input<typeof settingsChange>;

export const DEFAULT_SETTINGS: Settings = {
  latencyMs: 0,
  tokenSeconds: 3_600,
  returnDelayMs: 1_000,
  returnOutcome: 'DEVOLVIDO',
  repeatedTxid: 'revise',
  callbacks: {
    suffix: true,
    shape: 'object',
    batch: 1,
    batchWaitMs: 200,
    retryDelaysMs: [1_000, 2_000, 5_000, 15_000, 30_000, 60_000, 300_000, 900_000],
    timeoutMs: 10_000,
    withoutTxid: false,
  },
};

export const newMerchant = z.strictObject({
  clientId: z.string().min(1).max(200),
  clientSecret: z.string().min(1).max(200),
  pixKeys: z
    .array(z.string().refine((key) => normalizePixKey(key)?.key === key, 'a Pix key as DICT writes it'))
    .min(1)
    .max(20),
  name: z.string().min(1).max(200).default('Loja Simulada'),
  city: z.string().min(1).max(100).default('Sao Paulo'),
  cnpj: document.default('11222333000181'),
});

export const payment = z
  .strictObject({
    /** Of the charge that is paid, or of none that exists: then `key` and `amount` are needed. */
    txid: z
      .string()
      .regex(/^[a-zA-Z0-9]{1,35}$/, '1 to 35 letters and digits')
      .optional(),
    /** Whose charge, where two merchants have one with this txid. */
    clientId: z.string().optional(),
    /** Default: the charge's. */
    key: z.string().max(77).optional(),
    /** Cents; default: the charge's. */
    amount: cents.optional(),
    /** How the amount is shown, as by a PSP that does not keep to the standard; default: as it has it. */
    written: z.string().max(40).optional(),
    /** Null: the payer's bank did not tell who paid. */
    payer: z
      .strictObject({ document, name: z.string().min(1).max(200) })
      .nullable()
      .default({ document: '12345678909', name: 'Maria Pagadora' }),
    endToEndId: endToEndId.optional(),
    message: z.string().max(140).nullable().default(null),
    /** When it was booked; default: now. */
    at: z.iso.datetime({ offset: true }).optional(),
    /** Books it although the charge is paid, expired or removed. */
    force: z.boolean().default(false),
  })
  .refine(({ txid, key }) => txid !== undefined || key !== undefined, 'txid or key must be given');

export const returnSettlement = z.strictObject({
  endToEndId,
  id: z.string(),
  status: z.enum(['DEVOLVIDO', 'NAO_REALIZADO']).default('DEVOLVIDO'),
  reason: z.string().max(140).nullable().default(null),
});

export const medReturn = z.strictObject({
  endToEndId,
  id: z
    .string()
    .regex(/^[a-zA-Z0-9]{1,35}$/, '1 to 35 letters and digits')
    .default(() => newReturnId()),
  /** Cents; default: what has not gone back yet. */
  amount: cents.optional(),
  nature: z.enum(['MED_FRAUDE', 'MED_OPERACIONAL']).default('MED_FRAUDE'),
  status: z.enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO']).default('EM_PROCESSAMENTO'),
  reason: z.string().max(140).nullable().default(null),
});

export const expiry = z.strictObject({
  txid: z.string(),
  clientId: z.string().optional(),
  /** Also takes it away (REMOVIDA_PELO_PSP); otherwise it stays ATIVA, as API Pix has it, and cannot be paid. */
  removed: z.boolean().default(false),
});

export const announcement = z.strictObject({
  endToEndId,
  times: z.number().int().min(1).max(1_000).default(1),
});
