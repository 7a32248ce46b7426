import { parseId } from '../core/ids.js';
import { MED_CASE_STATUSES, MED_CASE_TYPES } from '../med/index.js';
import { LINK_STATUSES } from '../payment-links/index.js';
import { PUBLIC_PAYOUT_STATUSES } from '../payouts/index.js';
import { TRANSACTION_STATUSES } from '../transactions/index.js';
import { ENTRY_TYPES, MERCHANT_BUCKETS } from '../wallets/index.js';
import { DELIVERY_STATUSES } from '../webhooks/index.js';
import { type ReportFilters, type ReportType, SALE_BASES } from './report.entity.js';

type Name = keyof ReportFilters;
/** Values that a filter takes; null: any text that the request's schema takes. */
type Values = readonly string[] | null;

/** Filters of each type, named as in the list that has the same rows. */
export const FILTERS_OF: Readonly<Record<ReportType, Readonly<Partial<Record<Name, Values>>>>> = {
  statement: { bucket: MERCHANT_BUCKETS, currency: null, type: ENTRY_TYPES },
  sales: { basis: SALE_BASES, status: TRANSACTION_STATUSES, query: null },
  refunds: {},
  disputes: { status: MED_CASE_STATUSES, type: MED_CASE_TYPES },
  payouts: { status: PUBLIC_PAYOUT_STATUSES, destination: null },
  closing: {},
  customers: { query: null },
  payment_links: { status: LINK_STATUSES },
  deliveries: { status: DELIVERY_STATUSES, endpointId: null },
};

const valuesOf = (name: Name): string[] => [
  ...new Set(Object.values(FILTERS_OF).flatMap((filters) => filters[name] ?? [])),
];

export const FILTER_STATUSES = valuesOf('status');
export const FILTER_TYPES = valuesOf('type');

/**
 * Returns the filters of a report with null for each that is not set; null for none.
 * @param refuse is called for each filter or value that the type does not have
 */
export function readFilters(
  type: ReportType,
  sent: Readonly<Partial<Record<Name, string>>> | undefined,
  refuse: (param: string, message: string) => void,
): ReportFilters | null {
  if (sent === undefined) return null;
  const known = FILTERS_OF[type];
  if (Object.keys(known).length === 0) {
    refuse('filters', 'are not of this type: leave them out');
    return null;
  }
  for (const [name, value] of Object.entries(sent) as [Name, string | undefined][]) {
    if (value === undefined) continue;
    const values = known[name];
    if (values === undefined) refuse(`filters.${name}`, 'is not of this type: leave it out');
    else if (values?.includes(value) === false) refuse(`filters.${name}`, `must be one of ${values.join(', ')}`);
  }
  const { basis = 'paid', status, query, type: kind, bucket, currency, destination, endpointId } = sent;
  const all: Readonly<Record<Name, string | undefined>> = {
    ...{ basis, status, query: query?.trim(), type: kind, bucket, currency },
    destination: prefixed('pd_', destination),
    endpointId: prefixed('wh_', endpointId),
  };
  return Object.fromEntries((Object.keys(known) as Name[]).map((name) => [name, all[name] ?? null]));
}

function prefixed(prefix: string, id: string | undefined): string | undefined {
  return id === undefined ? undefined : `${prefix}${parseId(id, [prefix], 'filter')}`;
}
