import { describe, expect, it } from '@jest/globals';
import { envelope } from './envelope.js';

const event = {
  id: '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
  sequence: 2,
  occurredAt: new Date('2026-11-03T12:00:00.045Z'),
};

describe('envelope', () => {
  it('wraps a canonical event with its id, version, type and time', () => {
    expect(envelope('canonical', event, 'charge.paid', { id: 'ch_1', amount: 100 })).toEqual({
      id: 'evt_019a4c1e8a007c3d9d526f1b2a3c4d5e',
      object: 'event',
      api_version: '2026-11-01',
      type: 'charge.paid',
      created_at: '2026-11-03T12:00:00.045Z',
      sequence: 2,
      data: { object: { id: 'ch_1', amount: 100 } },
    });
  });

  it('gives one event the same id under all of its names', () => {
    const ids = ['charge.failed', 'charge.expired'].map((name) => envelope('canonical', event, name, {}));
    expect(ids[0]).toHaveProperty('id', 'evt_019a4c1e8a007c3d9d526f1b2a3c4d5e');
    expect(ids[1]).toHaveProperty('id', 'evt_019a4c1e8a007c3d9d526f1b2a3c4d5e');
  });

  it('wraps a legacy event with its name and data only, and puts its number into the data', () => {
    expect(envelope('legacy', event, 'payment.completed', { status: 'PAID' })).toEqual({
      event: 'payment.completed',
      data: { status: 'PAID', sequence: 2 },
    });
  });
});
