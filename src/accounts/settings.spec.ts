import { describe, expect, it } from '@jest/globals';
import { parseSettings, SETTINGS } from './settings.js';

describe('settings as texts', () => {
  it('are these', () => {
    expect(Object.keys(SETTINGS).sort()).toEqual([
      'city',
      'contact_email',
      'default_expires_in',
      'fee_bps',
      'fee_fixed',
      'name',
      'payer_lock',
      'release_days',
    ]);
  });

  it.each([
    ['name', ' Padaria ', { name: 'Padaria' }],
    ['name', 'x'.repeat(120), { name: 'x'.repeat(120) }],
    ['contact_email', 'owner@demo.local', { contactEmail: 'owner@demo.local' }],
    ['city', ' São Paulo', { city: 'São Paulo' }],
    ['fee_bps', '0', { feeBps: 0 }],
    ['fee_bps', '10000', { feeBps: 10_000 }],
    ['fee_fixed', '999999999999', { feeFixed: 999_999_999_999 }],
    ['release_days', '365', { releaseDays: 365 }],
    ['payer_lock', 'true', { payerLock: true }],
    ['payer_lock', 'false', { payerLock: false }],
    ['default_expires_in', '60', { defaultExpiresIn: 60 }],
    ['default_expires_in', '86400', { defaultExpiresIn: 86_400 }],
  ])('take %s=%s', (key, text, changes) => {
    expect(parseSettings({ [key]: text })).toStrictEqual({ changes, violations: [] });
    expect(parseSettings({ [key.replaceAll('_', '-')]: text })).toStrictEqual({ changes, violations: [] });
  });

  it.each([
    ...['', ' ', 'x'.repeat(121)].map((text) => ['name', text]),
    ...['', 'x', 'a@', 'a b@example.com'].map((text) => ['contact_email', text]),
    ...['', ' ', 'x'.repeat(61)].map((text) => ['city', text]),
    ...['', '-1', '10001', '1.5', '1e3', ' 1', '0x10', '１', 'NaN', 'Infinity'].map((text) => ['fee_bps', text]),
    ...['-1', '1000000000000', '9'.repeat(16), '9'.repeat(400)].map((text) => ['fee_fixed', text]),
    ...['366', '-1', ''].map((text) => ['release_days', text]),
    ...['TRUE', '1', 'yes', ''].map((text) => ['payer_lock', text]),
    ...['59', '86401', '0', ''].map((text) => ['default_expires_in', text]),
  ])('refuse %s=%j and say what it must be', (key = '', text = '') => {
    const { changes, violations } = parseSettings({ [key]: text });
    expect(changes).toEqual({});
    expect(violations).toEqual([{ param: key, code: 'invalid', message: `must be ${SETTINGS[key]?.rule}` }]);
  });

  it('list every problem, unknown names and those that every object has among them', () => {
    const names = ['feebps', 'constructor', 'toString', 'hasOwnProperty'];
    const unknown = Object.fromEntries(names.map((name) => [name, '1']));
    const { changes, violations } = parseSettings({ ...unknown, fee_bps: 'x', city: 'Recife' });
    expect(changes).toEqual({ city: 'Recife' });
    expect(violations.map(({ param, code }) => `${param} ${code}`)).toEqual([
      ...names.map((name) => `${name} unknown`),
      'fee_bps invalid',
    ]);
    expect(violations[0]?.message).toContain('fee_bps');
  });
});
