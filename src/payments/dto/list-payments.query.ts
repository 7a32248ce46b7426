import type { ApiPropertyOptions } from '@nestjs/swagger';
import {
  IsMetadataFilter,
  IsQueryInteger,
  OptionalEnum,
  OptionalField,
  OptionalText,
  QueryDate,
  QueryInteger,
  ReadsIds,
  rule,
} from '../../core/http/index.js';
import { isUuid } from '../../core/ids.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../transactions/index.js';
import { SORT_FIELDS, type SortField } from '../payments.repository.js';

const MAX_IDS = 100;

function isPaymentIds(value: unknown): boolean {
  const ids = typeof value === 'string' ? value.split(',') : [];
  return ids.length > 0 && ids.length <= MAX_IDS && ids.every((id) => isUuid(id.replace(/^(?:tx|ch)_/, '')));
}

const ORDERS = ['asc', 'desc'] as const;

export class ListPaymentsQuery {
  @OptionalField({ description: 'From 1.', minimum: 1, default: 1, type: 'integer' })
  @IsQueryInteger(1, 9_999_999_999, 'must be an integer from 1')
  page?: number;

  @QueryInteger('Payments a page.', 1, 100, 20)
  limit?: number;

  @OptionalEnum('Only payments of this status.', TRANSACTION_STATUSES)
  status?: TransactionStatus;

  @QueryDate('Inclusive lower bound on `createdAt`.', 'first')
  startDate?: Date;

  @QueryDate('Inclusive upper bound on `createdAt`.', 'last')
  endDate?: Date;

  @OptionalEnum(
    'Any field of an item. By `createdAt` (and `id`) every page takes the same time, however many payments there are; so does the beginning of an unfiltered list by `status`, `amount`, `customerName`, `customerDocument` or `paidAt`. Otherwise the time grows with what the filters leave: of more than can be sorted in five seconds it is a 503, and `startDate` and `endDate` have to be narrowed.',
    SORT_FIELDS,
    { default: 'createdAt' },
  )
  sortBy?: SortField;

  @OptionalEnum('Nulls are last in both.', ORDERS, { default: 'desc' })
  sortOrder?: (typeof ORDERS)[number];

  @OptionalText(
    'Finds payments by their id in any form, `txid`, end-to-end id, the customer’s e-mail or document, any text of `metadata` (each of them whole), or the beginnings of words of the customer’s name (`mar sou`; a single letter is a whole word). Capitals and accents do not count. With it, or with `metadata`, the newest 1 000 that match are found, and `total` counts these.',
    2,
    200,
    'pedido-1042',
  )
  query?: string;

  @OptionalField({
    description: 'Only payments whose `metadata` has this value under this key: `metadata[order_id]=1042`. At most 5.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { order_id: '1042' },
    style: 'deepObject',
    explode: true,
  } as ApiPropertyOptions)
  @IsMetadataFilter()
  metadata?: Record<string, string>;

  @OptionalField({
    description:
      'Only these payments, in this order: at most 100 ids with commas between, in any form. Other filters and the order have no effect. Unknown ids are left out, and count in `total`.',
    example: 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12,tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a13',
  })
  @ReadsIds()
  @rule('isPaymentIds', isPaymentIds, `must be 1 to ${MAX_IDS} ids of payments with commas between`)
  ids?: string;
}
