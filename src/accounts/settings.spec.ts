import { describe, expect, it } from '@jest/globals';
import { parseSettings, readSettings, type SettingName, SETTINGS } from './settings.js';

const PNG = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`;

const DESTINATION = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const SCHEDULE = { every: 'week', on: 1, at: '09:00', destination: `pd_${DESTINATION}`, leave: 0, minimum: 5_000 };
const KEPT = { every: 'week', on: 1, at: '09:00', destination: DESTINATION, leave: 0, minimum: 5_000 };

describe('settings as texts', () => {
  it('have exactly the listed names', () => {
    expect(Object.keys(SETTINGS).sort()).toEqual([
      'accent',
      'city',
      'contact_email',
      'default_expires_in',
      'fee_bps',
      'fee_fixed',
      'fraud_blocked_documents',
      'fraud_max_amount',
      'fraud_mode',
      'fraud_velocity',
      'logo',
      'med_outcome_notifications',
      'monthly_closing',
      'name',
      'negative_notice_days',
      'payer_lock',
      'payer_receipts',
      'payout_approval_above',
      'payout_daily_max',
      'payout_fee',
      'payout_max',
      'payout_new_destination_hours',
      'payout_night_max',
      'payout_schedule',
      'payouts_to',
      'pix_out_fee',
      'release_days',
      'reserve_bps',
      'reserve_days',
      'suspended',
      'tax_id',
    ]);
  });

  it.each([
    ['accent', '#0B6B60', { accent: '#0b6b60' }],
    ['accent', 'none', { accent: null }],
    ['logo', PNG, { logo: PNG }],
    ['logo', 'none', { logo: null }],
    ['name', ' Padaria ', { name: 'Padaria' }],
    ['name', 'x'.repeat(120), { name: 'x'.repeat(120) }],
    ['contact_email', 'owner@demo.local', { contactEmail: 'owner@demo.local' }],
    ['city', ' São Paulo', { city: 'São Paulo' }],
    ['fee_bps', '0', { feeBps: 0 }],
    ['fee_bps', '10000', { feeBps: 10_000 }],
    ['fee_fixed', '999999999999', { feeFixed: 999_999_999_999 }],
    ['pix_out_fee', '0', { pixOutFee: 0 }],
    ['pix_out_fee', '999999999999', { pixOutFee: 999_999_999_999 }],
    ['release_days', '365', { releaseDays: 365 }],
    ['reserve_bps', '0', { reserveBps: 0 }],
    ['reserve_bps', '10000', { reserveBps: 10_000 }],
    ['reserve_days', '365', { reserveDays: 365 }],
    ['payer_lock', 'true', { payerLock: true }],
    ['payer_lock', 'false', { payerLock: false }],
    ['default_expires_in', '60', { defaultExpiresIn: 60 }],
    ['default_expires_in', '86400', { defaultExpiresIn: 86_400 }],
    ['fraud_mode', 'enforce', { fraudMode: 'enforce' }],
    ['fraud_mode', 'shadow', { fraudMode: 'shadow' }],
    ['fraud_mode', 'off', { fraudMode: 'off' }],
    ['fraud_velocity', '1', { fraudVelocity: 1 }],
    ['fraud_velocity', '10000', { fraudVelocity: 10_000 }],
    ['fraud_max_amount', '1', { fraudMaxAmount: 1 }],
    ['fraud_max_amount', 'none', { fraudMaxAmount: null }],
    ['payout_schedule', JSON.stringify(SCHEDULE), { payoutSchedule: KEPT }],
    ['payout_schedule', 'none', { payoutSchedule: null }],
    ['payout_schedule', 'null', { payoutSchedule: null }],
    ['fraud_blocked_documents', '', { fraudBlockedDocuments: [] }],
    [
      'fraud_blocked_documents',
      '529.982.247-25,11144477735,52998224725',
      { fraudBlockedDocuments: ['52998224725', '11144477735'] },
    ],
  ])('accept %s=%s', (key, text, changes) => {
    expect(parseSettings({ [key]: text })).toStrictEqual({ changes, violations: [] });
    expect(parseSettings({ [key.replaceAll('_', '-')]: text })).toStrictEqual({ changes, violations: [] });
  });

  it.each([
    ...['', ' ', 'x'.repeat(121), 'a\nb', '\u202eairadaP'].map((text) => ['name', text]),
    ...['', 'x', 'a@', 'a b@example.com'].map((text) => ['contact_email', text]),
    ...['', ' ', 'x'.repeat(61)].map((text) => ['city', text]),
    ...['', '-1', '10001', '1.5', '1e3', ' 1', '0x10', '１', 'NaN', 'Infinity'].map((text) => ['fee_bps', text]),
    ...['-1', '1000000000000', '9'.repeat(16), '9'.repeat(400)].map((text) => ['fee_fixed', text]),
    ...['-1', '1.5', '1000000000000'].map((text) => ['pix_out_fee', text]),
    ...['366', '-1', ''].map((text) => ['release_days', text]),
    ...['10001', '-1', '1.5', ''].map((text) => ['reserve_bps', text]),
    ...['366', '-1', ''].map((text) => ['reserve_days', text]),
    ...['TRUE', '1', 'yes', ''].map((text) => ['payer_lock', text]),
    ...['59', '86401', '0', ''].map((text) => ['default_expires_in', text]),
    ...['Enforce', 'on', ''].map((text) => ['fraud_mode', text]),
    ...['0', '10001', 'none', '1.5'].map((text) => ['fraud_velocity', text]),
    ...['0', 'null', '-1', '1000000000000', ''].map((text) => ['fraud_max_amount', text]),
    ...['none', '52998224726', '52998224725,', 'x'].map((text) => ['fraud_blocked_documents', text]),
    ...['', 'red', '#fff', '#ffffff', '#ffee00', '#0b6b6', '#0b6b60;}'].map((text) => ['accent', text]),
    ...[
      '',
      PNG.replace('png', 'svg+xml'),
      PNG.replace('png', 'jpeg'),
      `${PNG}${'A'.repeat(22_000)}`,
      'https://shop.example/logo.png',
    ].map((text) => ['logo', text]),
    ...['', '{', '{}', '[]', '"day"', 'day', '09:00'].map((text) => ['payout_schedule', text]),
    ['fee_bps', 'none'],
  ])('refuse %s=%j and say what it must be', (key = '', text = '') => {
    const { changes, violations } = parseSettings({ [key]: text });
    expect(changes).toEqual({});
    expect(violations).toEqual([
      { param: key, code: 'invalid', message: `must be ${SETTINGS[key as SettingName].rule}` },
    ]);
  });

  it('list every problem, including unknown names and names of object members', () => {
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

describe('settings as JSON', () => {
  it.each<[SettingName, unknown, object]>([
    ['name', 'Padaria', { name: 'Padaria' }],
    ['fee_bps', 150, { feeBps: 150 }],
    ['payer_lock', true, { payerLock: true }],
    ['fraud_max_amount', 5_000, { fraudMaxAmount: 5_000 }],
    ['fraud_max_amount', null, { fraudMaxAmount: null }],
    ['fraud_blocked_documents', ['12.ABC.345/01DE-35'], { fraudBlockedDocuments: ['12ABC34501DE35'] }],
    ['payout_schedule', null, { payoutSchedule: null }],
    ...[
      [
        { every: 'day', on: undefined },
        { every: 'day', on: null },
      ],
      [
        { every: 'day', on: null },
        { every: 'day', on: null },
      ],
      [{ on: 5 }, { on: 5 }],
      [
        { every: 'month', on: 31 },
        { every: 'month', on: 31 },
      ],
      [{ at: '00:00' }, { at: '00:00' }],
      [{ at: '23:59' }, { at: '23:59' }],
      [{ destination: DESTINATION }, {}],
      [{ destination: `pd_${DESTINATION.toUpperCase()}` }, {}],
      [
        { leave: 999_999_999_999, minimum: 0 },
        { leave: 999_999_999_999, minimum: 0 },
      ],
    ].map(([sent, kept]): [SettingName, unknown, object] => [
      'payout_schedule',
      { ...SCHEDULE, ...sent },
      { payoutSchedule: { ...KEPT, ...kept } },
    ]),
  ])('accept %s = %j', (name, value, changes) => {
    expect(readSettings({ [name]: value })).toStrictEqual({ changes, violations: [] });
  });

  it.each<[SettingName, unknown]>([
    ...[1, null, {}, [], '\u200b', '\u2060 \u3164\u2800', '\u00ad\u202e'].map((value): [SettingName, unknown] => [
      'name',
      value,
    ]),
    ...['150', 1.5, null, true, Number.NaN].map((value): [SettingName, unknown] => ['fee_bps', value]),
    ...['true', 1, null].map((value): [SettingName, unknown] => ['payer_lock', value]),
    ...['none', '5000', 0].map((value): [SettingName, unknown] => ['fraud_max_amount', value]),
    ...['52998224725', [52998224725], [null], {}].map((value): [SettingName, unknown] => [
      'fraud_blocked_documents',
      value,
    ]),
    ...[
      ...[{ every: 'year' }, { every: 'Day' }, { every: undefined }, { every: 'constructor' }],
      ...[{ every: 'day' }, { on: undefined }, { on: 0 }, { on: 6 }, { on: 1.5 }, { on: '1' }, { on: [1] }],
      ...[
        { every: 'month', on: 32 },
        { every: 'month', on: null },
      ],
      ...[{ at: '24:00' }, { at: '9:00' }, { at: '09:60' }, { at: '09:00:00' }, { at: '09:00\n' }, { at: undefined }],
      ...[{ destination: 'pd_1' }, { destination: `po_${DESTINATION}` }, { destination: null }],
      ...[{ destination: `pd_pd_${DESTINATION}` }, { destination: { type: 'pix_key', key: '52998224725' } }],
      ...[{ leave: -1 }, { leave: 0.5 }, { leave: '0' }, { leave: undefined }, { leave: 1_000_000_000_000 }],
      ...[{ minimum: -1 }, { minimum: null }, { minimum: undefined }, { amount: 1 }, { hasOwnProperty: 1 }],
    ].map((wrong): [SettingName, unknown] => ['payout_schedule', { ...SCHEDULE, ...wrong }]),
    ...[{}, [], [SCHEDULE], JSON.stringify(SCHEDULE), true].map((value): [SettingName, unknown] => [
      'payout_schedule',
      value,
    ]),
  ])('refuse %s = %j: a value has its JSON type', (name, value) => {
    expect(readSettings({ [name]: value })).toEqual({
      changes: {},
      violations: [{ param: name, code: 'invalid', message: `must be ${SETTINGS[name].rule}` }],
    });
  });

  it('refuse a block list that is too long', () => {
    const documents = Array<string>(1_001).fill('52998224725');
    expect(readSettings({ fraud_blocked_documents: documents }).violations).toHaveLength(1);
    expect(readSettings({ fraud_blocked_documents: documents.slice(1) }).violations).toEqual([]);
  });
});
