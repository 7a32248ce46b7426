import { describe, expect, it } from '@jest/globals';
import type { Endpoint } from './endpoints.repository.js';
import {
  catalogItem,
  endpointItem,
  endpointList,
  registeredEndpoint,
  updatedEndpoint,
} from './endpoints.serializer.js';

const id = '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e';
// A row may carry more than its type says: none of it may leave.
const endpoint = {
  id,
  url: 'https://merchant.example/hook',
  events: ['charge.paid', '*'],
  status: 'ACTIVE',
  createdAt: new Date('2026-11-03T12:00:00.001Z'),
  updatedAt: new Date('2026-11-04T12:00:00.002Z'),
  accountId: '019a4c1e-0000-7c3d-9d52-6f1b2a3c4d5e',
  secretSealed: Buffer.from('sealed'),
  previousSecretSealed: Buffer.from('sealed before'),
  previousSecretUntil: new Date('2026-11-05T12:00:00Z'),
  failingSince: null as Date | null,
  signature: 'default',
} satisfies Endpoint & Record<string, unknown>;

describe('endpoint serializers', () => {
  it('give a registration the bare id and the secret', () => {
    expect(registeredEndpoint(endpoint, 'f'.repeat(64))).toStrictEqual({
      id,
      url: 'https://merchant.example/hook',
      events: ['charge.paid', '*'],
      secret: 'f'.repeat(64),
      status: 'ACTIVE',
    });
  });

  it('give a change the bare id, and no secret', () => {
    expect(updatedEndpoint(endpoint)).toStrictEqual({
      id,
      url: 'https://merchant.example/hook',
      events: ['charge.paid', '*'],
      status: 'ACTIVE',
    });
  });

  it('list endpoints with wh_ ids and times, without secrets', () => {
    const item = {
      id: `wh_${id}`,
      url: 'https://merchant.example/hook',
      events: ['charge.paid', '*'],
      status: 'ACTIVE',
      createdAt: '2026-11-03T12:00:00.001Z',
      updatedAt: '2026-11-04T12:00:00.002Z',
    };
    const now = new Date('2026-11-05T12:00:00Z');
    expect(endpointItem(endpoint, now)).toStrictEqual(item);
    expect(endpointItem({ ...endpoint, previousSecretUntil: null }, now)).toStrictEqual(item);
    const withTwoSecrets = { ...item, previousSecretUntil: '2026-11-05T12:00:00.000Z' };
    expect(endpointItem(endpoint, new Date(now.getTime() - 1))).toStrictEqual(withTwoSecrets);
    const since = new Date('2026-11-04T13:00:00Z');
    const failing = { ...endpoint, previousSecretUntil: null, failingSince: since };
    expect(endpointItem(failing, now)).toStrictEqual({ ...item, failingSince: since.toISOString() });
    expect(endpointItem({ ...failing, status: 'INACTIVE' }, now)).toStrictEqual({ ...item, status: 'INACTIVE' });
    expect(endpointList([endpoint], now)).toStrictEqual({ data: [item] });
    expect(endpointList([], now)).toStrictEqual({ data: [] });
  });

  it('show the three fields of a catalog item', () => {
    const item = { event: 'payment.created', description: 'A payment was created.', legacy: true, from: 'x' };
    expect(catalogItem(item)).toStrictEqual({
      event: 'payment.created',
      description: 'A payment was created.',
      legacy: true,
    });
  });
});
