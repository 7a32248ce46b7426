import { isEmail } from 'class-validator';
import type { Violation } from '../core/errors/index.js';
import { MAX_AMOUNT } from '../core/money/index.js';
import type { AccountChanges } from './accounts.repository.js';

interface Setting {
  /** What a value must be, as the CLI's error says it. */
  readonly rule: string;
  /** The change, or null when the text breaks the rule. */
  parse(text: string): AccountChanges | null;
}

function whole(text: string, max: number): number | null {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value <= max ? value : null;
}

/** Every setting of an account that staff can change, with its rule: one row here is all a new one needs. */
export const SETTINGS: Record<string, Setting> = {
  name: {
    rule: '1 to 120 characters',
    parse: (text) => (text.trim() !== '' && text.length <= 120 ? { name: text.trim() } : null),
  },
  contact_email: {
    rule: 'an e-mail address',
    parse: (text) => (isEmail(text, { require_tld: false }) ? { contactEmail: text } : null),
  },
  city: {
    rule: '1 to 60 characters; shown in the BR Code',
    parse: (text) => (text.trim() !== '' && text.length <= 60 ? { city: text.trim() } : null),
  },
  fee_bps: {
    rule: 'basis points, 0 to 10000',
    parse: (text) => {
      const feeBps = whole(text, 10_000);
      return feeBps === null ? null : { feeBps };
    },
  },
  fee_fixed: {
    rule: `cents, 0 to ${MAX_AMOUNT}`,
    parse: (text) => {
      const feeFixed = whole(text, MAX_AMOUNT);
      return feeFixed === null ? null : { feeFixed };
    },
  },
  release_days: {
    rule: 'calendar days, 0 to 365',
    parse: (text) => {
      const releaseDays = whole(text, 365);
      return releaseDays === null ? null : { releaseDays };
    },
  },
  payer_lock: {
    rule: 'true or false',
    parse: (text) => (text === 'true' || text === 'false' ? { payerLock: text === 'true' } : null),
  },
  default_expires_in: {
    rule: 'seconds, 60 to 86400',
    parse: (text) => {
      const defaultExpiresIn = whole(text, 86_400);
      return defaultExpiresIn === null || defaultExpiresIn < 60 ? null : { defaultExpiresIn };
    },
  },
};

/** Reads `key=value` settings; every problem is listed, not only the first. Dashes and underscores are the same. */
export function parseSettings(texts: Record<string, string>): { changes: AccountChanges; violations: Violation[] } {
  let changes: AccountChanges = {};
  const violations: Violation[] = [];
  for (const [key, text] of Object.entries(texts)) {
    const name = key.replaceAll('-', '_');
    const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    const change = setting?.parse(text);
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
