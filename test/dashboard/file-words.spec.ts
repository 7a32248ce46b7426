import { describe, expect, it } from '@jest/globals';
import type { Translate } from '../../dashboard/src/format.js';
import { linkStatus } from '../../dashboard/src/link-words.js';
import { payoutFailure, payoutStatus } from '../../dashboard/src/payout-words.js';
import {
  bucketName,
  caseStatus,
  caseType,
  deliveryStatus,
  entryType,
  metadataName,
  methodName,
  moneyOutcome,
  refundStatus,
  saleStatus,
} from '../../dashboard/src/words.js';
import * as words from '../../src/reports/formats/words.js';

const portuguese: Translate = (text) => text;

describe('the words of files', () => {
  it.each([
    ['statuses of sales', words.SALE_STATUS_WORDS, saleStatus],
    ['methods', words.METHOD_WORDS, methodName],
    ['statuses of refunds', words.REFUND_STATUS_WORDS, refundStatus],
    ['types of disputes', words.DISPUTE_TYPE_WORDS, caseType],
    ['statuses of disputes', words.DISPUTE_STATUS_WORDS, caseStatus],
    ['outcomes of disputes', words.MONEY_OUTCOME_WORDS, moneyOutcome],
    ['statuses of payouts', words.PAYOUT_STATUS_WORDS, payoutStatus],
    ['statuses of links', words.LINK_STATUS_WORDS, linkStatus],
    ['statuses of deliveries', words.DELIVERY_STATUS_WORDS, deliveryStatus],
    ['failures of payouts', words.PAYOUT_FAILURE_WORDS, payoutFailure],
    ['types of entries', words.ENTRY_TYPE_WORDS, entryType],
    ['buckets', words.BUCKET_WORDS, bucketName],
  ])('are those of the dashboard for %s', (_, ours, ofDashboard) => {
    const shown = Object.keys(ours).map((value) => [value, ofDashboard(value, portuguese)]);
    expect(Object.entries(ours)).toEqual(shown);
  });

  it('are those of the dashboard for keys of the metadata', () => {
    for (const key of ['order_id', 'description']) {
      expect(words.HEADING_WORDS[`metadata.${key}`]).toBe(metadataName(key, portuguese));
    }
  });
});
