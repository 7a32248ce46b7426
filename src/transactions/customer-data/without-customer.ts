import { personalColumnsOf } from '../../core/database/index.js';
import { TransactionEntity } from '../transaction.entity.js';

const PERSONAL = personalColumnsOf(TransactionEntity).filter(
  ({ erased, path }) => erased === 'always' && path.length === 0,
);
/** The names of a payer's data in events, in bodies of payments and in stored answers. */
const NULLED = new Set(PERSONAL.map(({ property }) => property));
/** Names that are absent where there is no customer. */
const DROPPED = new Set(['payerName', 'payerDocument', 'payerSealed', ...PERSONAL.map(({ name }) => name)]);

/**
 * The JSON text with a payer's data taken out, in the shape that a transaction without a customer has.
 * @param withMetadata whether the merchant's metadata goes too
 * @returns null where nothing of a payer is in it, or it is no JSON
 */
export function withoutCustomer(json: string, withMetadata: boolean): string | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return null;
  }
  const before = JSON.stringify(parsed);
  const after = JSON.stringify(cleaned(parsed, withMetadata));
  return after === before ? null : after;
}

function cleaned(value: unknown, withMetadata: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => cleaned(item, withMetadata));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]: [string, unknown]): [string, unknown][] => {
      if (DROPPED.has(key)) return [];
      if (NULLED.has(key)) return [[key, null]];
      // Why a refund was made are the merchant's own words, as metadata are.
      if (withMetadata && (key === 'refundReason' || (key === 'reason' && isRefund(value)))) return [[key, null]];
      if (key === 'customer') return [[key, {}]];
      if (key === 'metadata') return [[key, cleanedMetadata(inner, withMetadata)]];
      return [[key, cleaned(inner, withMetadata)]];
    }),
  );
}

/** Whether a value is a refund, in the form of an answer or of an event. */
function isRefund(value: object): boolean {
  return ('object' in value && value.object === 'refund') || 'transactionId' in value;
}

/** Names in it are the merchant's own, but for `med`, which tells who opened a dispute. */
function cleanedMetadata(value: unknown, withMetadata: boolean): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const med = 'med' in value ? { med: cleaned(value.med, false) } : {};
  return withMetadata ? med : { ...value, ...med };
}
