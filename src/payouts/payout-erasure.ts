import { declareErasedKind, type ErasedKind } from '../transactions/index.js';

const OBJECTS = 'id = ANY ($1::uuid[])';

/** Payouts and destinations of a person, which are erased with the copies of the payouts. */
export const PAYOUTS: ErasedKind = {
  name: 'payouts',
  tie: 'payout_id',
  subjects: 'SELECT unnest($1::uuid[])',
  rows: { payouts: OBJECTS, payout_destinations: OBJECTS },
  clean: withoutWords,
};
declareErasedKind(PAYOUTS);

/**
 * Takes the merchant's own words out of a copy of a payout. Nothing else in it names a person: receivers are masked.
 * @returns null where none are in it, or it is no JSON
 */
export function withoutWords(json: string, withMetadata: boolean): string | null {
  if (!withMetadata) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return null;
  }
  const after = JSON.stringify(blanked(parsed));
  return after === JSON.stringify(parsed) ? null : after;
}

function blanked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blanked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]): [string, unknown] => {
      if (name === 'metadata') return [name, {}];
      if (name === 'description') return [name, null];
      return [name, blanked(inner)];
    }),
  );
}
