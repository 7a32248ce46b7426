import { describe, expect, it } from '@jest/globals';
import { aPaidTransaction } from '../../../test/support/a-transaction.js';
import { SecretBox } from '../../core/crypto/index.js';
import type { MedBlock } from '../transaction.entity.js';
import { MedPayers } from './med-payers.service.js';

const MED: MedBlock = {
  referenceId: 'E1',
  status: 'created',
  openedAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-21T12:00:00.000Z',
  lastEventAt: '2026-11-21T12:00:01.000Z',
  amountMismatch: false,
};

describe('the sealed opener of a MED', () => {
  const payers = new MedPayers(new SecretBox('a'.repeat(64)));
  const disputed = aPaidTransaction();
  const sealed = (name: string | null, document: string | null): string | undefined =>
    payers.seal(disputed.id, { name, document })?.toString('base64');

  it('is opened for the merchant, key by key in the order of the contract', () => {
    const med: MedBlock = {
      ...MED,
      status: 'closed',
      result: 'agreed',
      method: 'scam',
      reason: 'I did not make this payment.',
      closedAt: '2026-11-22T12:00:00.000Z',
      payerSealed: sealed('Maria', '52998224725') ?? '',
    };
    expect(JSON.stringify(payers.show({ ...disputed, med }).med)).toBe(
      JSON.stringify({
        referenceId: 'E1',
        status: 'closed',
        result: 'agreed',
        method: 'scam',
        reason: 'I did not make this payment.',
        payerName: 'Maria',
        payerDocument: '52998224725',
        openedAt: MED.openedAt,
        updatedAt: MED.updatedAt,
        closedAt: '2026-11-22T12:00:00.000Z',
        lastEventAt: MED.lastEventAt,
        amountMismatch: false,
      }),
    );
  });

  it('shows only the facts that the bank reported', () => {
    const of = (payerSealed: string | undefined): unknown =>
      payers.show({ ...disputed, med: { ...MED, ...(payerSealed === undefined ? {} : { payerSealed }) } }).med;
    expect(of(sealed(null, null))).toStrictEqual(MED);
    expect(of(sealed('Maria', null))).toStrictEqual({ ...MED, payerName: 'Maria' });
    expect(of(sealed(null, '52998224725'))).toStrictEqual({ ...MED, payerDocument: '52998224725' });
    expect(payers.show({ ...disputed, med: null })).toStrictEqual({ ...disputed, med: null });
  });

  it('cannot be moved to another transaction', () => {
    const med: MedBlock = { ...MED, payerSealed: sealed('Maria', null) ?? '' };
    expect(() => payers.show({ ...disputed, id: '019aa0f0-0000-7000-8000-00000000ffff', med })).toThrow();
  });
});
