import { normalizeTaxId } from '../brazil/index.js';
import type { Violation } from '../core/errors/index.js';
import { MAX_AMOUNT } from '../core/money/index.js';
import { hasControls, visibleLength } from '../core/text.js';
import type { AccountChanges } from './accounts.repository.js';
import { isAccent, isPicture, MAX_LOGO_BYTES } from './brand.js';
import { isMailAddress, normalizeEmail } from './email-address.js';
import { PAYOUT_SCHEDULE, readPayoutSchedule } from './payout-schedule.js';

/**
 * Schema of a value in the OpenAPI document: its JSON type, into which texts of the command line are converted, and its
 * bounds.
 */
type SettingSchema = {
  readonly nullable?: true;
  readonly [bound: string]: unknown;
} & (
  | { readonly type: 'string' | 'integer' | 'boolean' | 'array' }
  | { readonly type: 'object'; readonly additionalProperties: boolean; readonly required: string[] }
);

interface Setting {
  readonly schema: SettingSchema;
  /** The requirement on a value, for errors. */
  readonly rule: string;
  /** The change, or null when the value breaks the rule. */
  read(value: unknown): AccountChanges | null;
}

/** Limit of the block list: every request reads the account, including whether this list is empty. */
const MAX_BLOCKED_DOCUMENTS = 1_000;

function text(rule: string, change: (value: string) => AccountChanges | null, bounds: object = {}): Setting {
  const read = (value: unknown): AccountChanges | null => (typeof value === 'string' ? change(value) : null);
  return { schema: { type: 'string', ...bounds }, rule, read };
}

/**
 * Accepts names of merchants, accounts and people: visible, on one line, read in one direction.
 * @param max characters, before blanks around them are dropped
 */
export function isName(value: string, max: number): boolean {
  return visibleLength(value) > 0 && value.length <= max && !hasControls(value);
}

/** A name that is kept without the blanks around it. */
function label(rule: string, max: number, change: (value: string) => AccountChanges): Setting {
  return text(rule, (value) => (isName(value, max) ? change(value.trim()) : null), { maxLength: max });
}

function integer(rule: string, min: number, max: number, change: (value: number) => AccountChanges): Setting {
  const read = (value: unknown): AccountChanges | null =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? change(value) : null;
  return { schema: { type: 'integer', minimum: min, maximum: max }, rule, read };
}

function cents(what: string, change: (value: number) => AccountChanges): Setting {
  return integer(`${what}, 0 to ${MAX_AMOUNT}`, 0, MAX_AMOUNT, change);
}

function truth(change: (value: boolean) => AccountChanges): Setting {
  return {
    schema: { type: 'boolean' },
    rule: 'true or false',
    read: (value) => (typeof value === 'boolean' ? change(value) : null),
  };
}

function orNone(setting: Setting, none: AccountChanges): Setting {
  return {
    ...setting,
    rule: `${setting.rule}, or none (null in JSON)`,
    schema: {
      ...setting.schema,
      nullable: true,
      ...(setting.schema['enum'] instanceof Array ? { enum: [...(setting.schema['enum'] as unknown[]), null] } : {}),
    },
    read: (value) => (value === null ? none : setting.read(value)),
  };
}

function blockedDocuments(value: unknown): AccountChanges | null {
  if (!Array.isArray(value) || value.length > MAX_BLOCKED_DOCUMENTS) return null;
  const documents = value.map((item: unknown) => (typeof item === 'string' ? normalizeTaxId(item) : null));
  const valid = documents.filter((document) => document !== null);
  return valid.length === documents.length ? { fraudBlockedDocuments: [...new Set(valid)] } : null;
}

/** Every setting of an account that staff can change, with its rule: a new setting needs only one row here. */
export const SETTINGS = {
  name: label('1 to 120 characters on one line', 120, (name) => ({ name })),
  contact_email: text('an e-mail address', (value) => {
    const email = normalizeEmail(value);
    return isMailAddress(email) ? { contactEmail: email } : null;
  }),
  city: label('1 to 60 characters on one line; shown in the BR Code', 60, (city) => ({ city })),
  fee_bps: integer('basis points, 0 to 10000', 0, 10_000, (feeBps) => ({ feeBps })),
  fee_fixed: integer(`cents, 0 to ${MAX_AMOUNT}`, 0, MAX_AMOUNT, (feeFixed) => ({ feeFixed })),
  pix_out_fee: integer(
    `cents of a Pix-out, for refunds with passFeeToTenant; 0 to ${MAX_AMOUNT}`,
    0,
    MAX_AMOUNT,
    (pixOutFee) => ({ pixOutFee }),
  ),
  release_days: integer('calendar days, 0 to 365', 0, 365, (releaseDays) => ({ releaseDays })),
  reserve_bps: integer('basis points, 0 to 10000', 0, 10_000, (reserveBps) => ({ reserveBps })),
  reserve_days: integer('calendar days, 0 to 365', 0, 365, (reserveDays) => ({ reserveDays })),
  payer_lock: truth((payerLock) => ({ payerLock })),
  default_expires_in: integer('seconds, 60 to 86400', 60, 86_400, (defaultExpiresIn) => ({ defaultExpiresIn })),
  med_outcome_notifications: truth((medOutcomeNotifications) => ({ medOutcomeNotifications })),
  fraud_mode: text(
    'enforce, shadow or off',
    (value) => (value === 'enforce' || value === 'shadow' || value === 'off' ? { fraudMode: value } : null),
    { enum: ['enforce', 'shadow', 'off'] },
  ),
  fraud_velocity: integer('charges a minute for one customer document, 1 to 10000', 1, 10_000, (fraudVelocity) => ({
    fraudVelocity,
  })),
  fraud_max_amount: orNone(
    integer(`cents, 1 to ${MAX_AMOUNT}`, 1, MAX_AMOUNT, (fraudMaxAmount) => ({ fraudMaxAmount })),
    { fraudMaxAmount: null },
  ),
  fraud_blocked_documents: {
    schema: { type: 'array', items: { type: 'string' }, maxItems: MAX_BLOCKED_DOCUMENTS },
    rule: `a list of at most ${MAX_BLOCKED_DOCUMENTS} CPFs and CNPJs`,
    read: blockedDocuments,
  },
  accent: orNone(
    text(
      'a colour as #0b6b60 that stands out from white by 3:1 or more',
      (accent) => (isAccent(accent) ? { accent: accent.toLowerCase() } : null),
      { pattern: '^#[0-9a-fA-F]{6}$' },
    ),
    { accent: null },
  ),
  logo: orNone(
    text(`a PNG, JPEG or WebP picture of at most ${MAX_LOGO_BYTES / 1024} KiB as a data: URL in base64`, (logo) =>
      isPicture(logo, MAX_LOGO_BYTES) ? { logo } : null,
    ),
    { logo: null },
  ),
  negative_notice_days: integer('days, 0 to 365', 0, 365, (negativeNoticeDays) => ({ negativeNoticeDays })),
  payer_receipts: truth((payerReceipts) => ({ payerReceipts })),
  tax_id: orNone(
    text('a CPF or CNPJ', (value) => {
      const taxId = normalizeTaxId(value);
      return taxId === null ? null : { taxId };
    }),
    { taxId: null },
  ),
  payout_fee: cents('cents of each payout', (payoutFee) => ({ payoutFee })),
  payouts_to: orNone(
    text('own or anyone', (value) => (value === 'own' || value === 'anyone' ? { payoutsTo: value } : null), {
      enum: ['own', 'anyone'],
    }),
    { payoutsTo: null },
  ),
  payout_approval_above: orNone(
    cents('cents', (payoutApprovalAbove) => ({ payoutApprovalAbove })),
    { payoutApprovalAbove: null },
  ),
  payout_new_destination_hours: orNone(
    integer('hours, 0 to 720', 0, 720, (payoutNewDestinationHours) => ({ payoutNewDestinationHours })),
    { payoutNewDestinationHours: null },
  ),
  payout_max: orNone(
    cents('cents', (payoutMax) => ({ payoutMax })),
    { payoutMax: null },
  ),
  payout_daily_max: orNone(
    cents('cents', (payoutDailyMax) => ({ payoutDailyMax })),
    { payoutDailyMax: null },
  ),
  payout_night_max: orNone(
    cents('cents', (payoutNightMax) => ({ payoutNightMax })),
    { payoutNightMax: null },
  ),
  payout_schedule: orNone(
    {
      ...PAYOUT_SCHEDULE,
      read: (value) => {
        const payoutSchedule = readPayoutSchedule(value);
        return payoutSchedule && { payoutSchedule };
      },
    },
    { payoutSchedule: null },
  ),
  monthly_closing: truth((monthlyClosing) => ({ monthlyClosing })),
  suspended: truth((suspended) => ({ suspended })),
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** Settings by name, with values of their JSON types: "none" for an unlimited number is null. */
export type SettingValues = Readonly<Record<string, unknown>>;

/** Converts a text of the command line to a JSON value; the setting's rule then checks it. */
function fromText({ schema: { type, nullable } }: Setting, value: string): unknown {
  if (nullable === true && value === 'none') return null;
  switch (type) {
    case 'string':
      return value;
    case 'integer':
      // Number alone would accept ' 1', '1e3' and '0x10'.
      return /^\d{1,15}$/.test(value) ? Number(value) : value;
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    case 'array':
      return value === '' ? [] : value.split(',');
    case 'object':
      return fromJson(value);
  }
}

/** @returns the text itself if it is no JSON: no rule of an object accepts a text */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Reads `key=value` settings; lists every problem, not only the first. Dashes and underscores are equal. */
export function parseSettings(texts: Readonly<Record<string, string>>): {
  changes: AccountChanges;
  violations: Violation[];
} {
  return read(Object.entries(texts), (setting, value) => fromText(setting, value));
}

/** Reads settings given as JSON values. */
export function readSettings(values: SettingValues): { changes: AccountChanges; violations: Violation[] } {
  return read(Object.entries(values), (_setting, value) => value);
}

function read<V>(
  entries: readonly (readonly [string, V])[],
  valueOf: (setting: Setting, value: V) => unknown,
): { changes: AccountChanges; violations: Violation[] } {
  let changes: AccountChanges = {};
  const violations: Violation[] = [];
  for (const [key, value] of entries) {
    const setting = settingOf(key.replaceAll('-', '_'));
    const change = setting?.read(valueOf(setting, value));
    if (!setting) {
      violations.push({ param: key, code: 'unknown', message: `is not one of ${Object.keys(SETTINGS).join(', ')}` });
    } else if (!change) {
      violations.push({ param: key, code: 'invalid', message: `must be ${setting.rule}` });
    } else {
      changes = { ...changes, ...change };
    }
  }
  return { changes, violations };
}

function settingOf(name: string): Setting | undefined {
  return Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined;
}
