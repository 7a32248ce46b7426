/** Settings of a running simulator, and the arguments of its methods; the control endpoint accepts the same. */
import * as z from 'zod';
import { newReturnId, normalizePixKey, normalizeTaxId } from '../../src/brazil/index.js';
import { SCOPES } from './model.js';

const milliseconds = z.number().int().min(0).max(3_600_000);
const cents = z.number().int().min(1).max(999_999_999_999);
const signedCents = z.number().int().min(-999_999_999_999).max(999_999_999_999);
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

/** Money out, as Efí does it. */
export const sendSettings = z.strictObject({
  /** How long an accepted send is EM_PROCESSAMENTO; null: until it is settled by hand. */
  delayMs: milliseconds.nullable(),
  /** Cents that each send costs; a rejected one gets them back. */
  feeCents: z.number().int().min(0).max(100_000),
  /** Efí's rules by amount and key in its test environment; without them everything is paid. */
  sandboxRules: z.boolean(),
  /** Whether a send is rejected later if another one of its merchant was under way when it began. */
  collisions: z.enum(['allow', 'reject']),
  /**
   * Form of the answers. `documented`: Efí's pages, with `e2eId` and the receiver's name. `sdk`: the schemas of Efí's
   * SDK 2, with `endToEndId` and no name.
   */
  form: z.enum(['documented', 'sdk']),
  /** Status of a send in review. No source at Efí names one of its own. */
  reviewStatus: z.string().min(1).max(40),
  /** Callback of a return: with the send's id, with the end-to-end id only, or none. No source at Efí shows one. */
  returnCallback: z.enum(['whole', 'bare', 'none']),
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
  sends: sendSettings,
});

export const settingsChange = settings
  .partial()
  .extend({ callbacks: callbackSettings.partial().optional(), sends: sendSettings.partial().optional() });

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
  sends: {
    delayMs: 1_000,
    feeCents: 0,
    sandboxRules: false,
    collisions: 'allow',
    form: 'documented',
    reviewStatus: 'EM_PROCESSAMENTO',
    returnCallback: 'whole',
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
  /** Default: all. */
  scopes: z.array(z.enum(SCOPES)).default(() => [...SCOPES]),
  /** Cents on the account before the first booking. */
  openingBalance: signedCents.default(0),
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

/** A send, by its merchant's id or by its end-to-end id. */
const sendName = {
  idEnvio: z.string().optional(),
  endToEndId: endToEndId.optional(),
  /** The merchant, if two merchants have a send with this id. */
  clientId: z.string().optional(),
};
const named = ({
  idEnvio,
  endToEndId: id,
}: {
  idEnvio?: string | undefined;
  endToEndId?: string | undefined;
}): boolean => idEnvio !== undefined || id !== undefined;

export const sendError = z.strictObject({
  codigo: z.string().max(40).default('AC03'),
  origem: z.string().max(200).default('PSP do usuário recebedor'),
  motivo: z
    .string()
    .max(500)
    .default('Número da agência e/ou conta transacional do usuário recebedor inexistente ou inválido'),
});

export const sendSettlement = z
  .strictObject({
    ...sendName,
    /** A paid send can still become NAO_REALIZADO. */
    status: z.enum(['REALIZADO', 'NAO_REALIZADO']).default('REALIZADO'),
    /** Null: the bank gives no reason. */
    error: sendError.nullable().default(sendError.parse({})),
  })
  .refine(named, 'idEnvio or endToEndId must be given');

export const sendReview = z
  .strictObject({
    ...sendName,
    /** How long; null: until it is settled by hand. */
    ms: milliseconds.nullable().default(null),
    /** How it ends. */
    status: z.enum(['REALIZADO', 'NAO_REALIZADO']).default('REALIZADO'),
  })
  .refine(named, 'idEnvio or endToEndId must be given');

export const sendReturn = z
  .strictObject({
    ...sendName,
    /** Cents; default: the part that has not come back. */
    amount: cents.optional(),
    /** Default: now. */
    at: z.iso.datetime({ offset: true }).optional(),
  })
  .refine(named, 'idEnvio or endToEndId must be given');

/** A Pix that somebody sends in the bank's app: it has no id of the merchant's. */
export const appSend = z.strictObject({
  clientId: z.string().optional(),
  amount: cents,
  key: z.string().max(77),
});

/** Money that the bank moves by itself, as a fee or a deposit; cents, negative: taken from the account. */
export const movement = z.strictObject({ clientId: z.string().optional(), amount: signedCents });

/** Cents that the bank blocks, beside what an open MED blocks. */
export const blocking = z.strictObject({
  clientId: z.string().optional(),
  judicial: z.number().int().min(0).max(999_999_999_999).optional(),
  med: z.number().int().min(0).max(999_999_999_999).optional(),
});

/** An entry of the key directory. Keys without entry exist and have an unknown owner. */
export const directoryEntry = z.strictObject({
  key: z.string().max(77),
  /** Null: the directory does not have the key. */
  owner: z.strictObject({ document, name: z.string().min(1).max(200) }).nullable(),
});

export const announcement = z.strictObject({
  endToEndId,
  times: z.number().int().min(1).max(1_000).default(1),
});
