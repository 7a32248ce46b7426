/** Settings of a running simulator, and the arguments of its methods; the control endpoint accepts the same. */
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
  /** Whether `/pix` is appended to the URL, as in the standard. */
  suffix: z.boolean(),
  /** `{"pix": […]}`, as in the standard, or the bare array. */
  shape: z.enum(['object', 'array']),
  /** Most Pix in one callback; more than 1 waits `batchWaitMs` for others. */
  batch: z.number().int().min(1).max(1_000),
  batchWaitMs: milliseconds,
  /** Waits after a failed attempt; after the last one the callback is given up. */
  retryDelaysMs: z.array(milliseconds).max(100),
  timeoutMs: milliseconds,
  /** Whether Pix without txid are called back too; the standard excludes them. */
  withoutTxid: z.boolean(),
});

export const settings = z.strictObject({
  /** Delay before each request is handled. */
  latencyMs: milliseconds,
  tokenSeconds: z.number().int().min(1).max(86_400),
  /** How long a devolution is EM_PROCESSAMENTO; null: until it is settled by hand. */
  returnDelayMs: milliseconds.nullable(),
  returnOutcome: z.enum(['DEVOLVIDO', 'NAO_REALIZADO']),
  /** Answer of PUT /cob for an existing txid: the standard revises the charge, but many PSPs refuse. */
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
    /** The txid of the paid charge. If it is omitted or no charge has it, `key` and `amount` are required. */
    txid: z
      .string()
      .regex(/^[a-zA-Z0-9]{1,35}$/, '1 to 35 letters and digits')
      .optional(),
    /** The charge's merchant, if two merchants have one with this txid. */
    clientId: z.string().optional(),
    /** Default: the charge's. */
    key: z.string().max(77).optional(),
    /** Cents; default: the charge's. */
    amount: cents.optional(),
    /** The amount's text, as of a PSP that deviates from the standard; default: as in the standard. */
    written: z.string().max(40).optional(),
    /** Null: the payer's bank did not report the payer. */
    payer: z
      .strictObject({ document, name: z.string().min(1).max(200) })
      .nullable()
      .default({ document: '12345678909', name: 'Maria Pagadora' }),
    endToEndId: endToEndId.optional(),
    message: z.string().max(140).nullable().default(null),
    /** When it was booked; default: now. */
    at: z.iso.datetime({ offset: true }).optional(),
    /** Books the Pix although the charge is paid, expired or removed. */
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
  /** Amount in cents; default: the part not returned yet. */
  amount: cents.optional(),
  nature: z.enum(['MED_FRAUDE', 'MED_OPERACIONAL']).default('MED_FRAUDE'),
  status: z.enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO']).default('EM_PROCESSAMENTO'),
  reason: z.string().max(140).nullable().default(null),
});

export const expiry = z.strictObject({
  txid: z.string(),
  clientId: z.string().optional(),
  /** Removes the charge too (REMOVIDA_PELO_PSP); otherwise it stays ATIVA, as in API Pix, and cannot be paid. */
  removed: z.boolean().default(false),
});

export const announcement = z.strictObject({
  endToEndId,
  times: z.number().int().min(1).max(1_000).default(1),
});
