import { describe, expect, it } from '@jest/globals';
import { aMedCase } from '../../../test/support/a-med-case.js';
import { medCaseBody } from './med-case.serializer.js';

describe('the public MED case', () => {
  it('has exactly the fields of the contract', () => {
    expect(medCaseBody(aMedCase())).toStrictEqual({
      id: 'med_019aa0f0-bbbb-7b8c-8d2e-5f6071829304',
      object: 'med_case',
      type: 'med',
      status: 'open',
      amount: 1990,
      currency: 'BRL',
      charge_id: 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
      reason: 'I did not make this payment.',
      response_deadline: '2026-11-28T12:00:00.000Z',
      evidence_requested_at: '2026-11-22T12:00:00.000Z',
      appeal_reason: 'The goods were delivered.',
      appealed_at: '2026-11-23T12:00:00.000Z',
      evidence_count: 2,
      money_outcome: null,
      opened_at: '2026-11-21T12:00:00.000Z',
      closed_at: '2026-11-24T12:00:00.000Z',
      created_at: '2026-11-21T12:00:01.000Z',
      updated_at: '2026-11-24T12:00:00.000Z',
    });
  });

  it('has null for missing values', () => {
    const bare = aMedCase({
      reason: null,
      responseDeadline: null,
      evidenceRequestedAt: null,
      appealReason: null,
      appealedAt: null,
      closedAt: null,
    });
    expect(Object.entries(medCaseBody(bare)).flatMap(([name, value]) => (value === null ? [name] : []))).toEqual([
      ...['reason', 'response_deadline', 'evidence_requested_at', 'appeal_reason', 'appealed_at'],
      ...['money_outcome', 'closed_at'],
    ]);
  });
});
