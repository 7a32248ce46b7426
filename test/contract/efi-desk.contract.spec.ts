import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sendRequest } from '../../src/acquirers/pix-api/desks/efi/translation.js';
import type { PayoutOrder, PayoutTarget } from '../../src/acquirers/index.js';
import { encodeBrCode } from '../../src/brazil/index.js';
import { PspSimulator } from '../../tools/psp-simulator/simulator.js';
import { EfiSdk } from '../support/efi-sdk.js';
import { describeWith } from '../support/needs.js';

const MERCHANT = { merchantName: 'Loja', merchantCity: 'SAO PAULO' };
const LOCATION = 'pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25';
const ACCOUNT = {
  type: 'bank_account',
  ispb: '09089356',
  branch: '1',
  number: '123453',
  name: 'José Carvalho',
  taxId: '52998224725',
} as const;

// Efí's SDK has the only published schemas of its endpoints.
describeWith('efiSdk')("Efí's own schemas", () => {
  let simulator: PspSimulator;
  let sdk: EfiSdk;

  beforeAll(async () => {
    simulator = await PspSimulator.start();
    sdk = new EfiSdk(simulator);
  });
  afterAll(async () => {
    sdk.stop();
    await simulator.stop();
  });

  it.each<[string, PayoutTarget]>([
    ['a key', { type: 'pix_key', key: 'm@example.com', taxId: null }],
    ['a key of a person', { type: 'pix_key', key: 'm@example.com', taxId: '52998224725' }],
    ['a key of a company', { type: 'pix_key', key: '11222333000181', taxId: '11222333000181' }],
    ['a checking account', { ...ACCOUNT, accountType: 'checking' }],
    ['a savings account of a company', { ...ACCOUNT, accountType: 'savings', taxId: '11222333000181' }],
    [
      'a static code',
      { type: 'br_code', brCode: encodeBrCode({ kind: 'static', key: 'm@example.com', ...MERCHANT }), taxId: null },
    ],
    [
      'a dynamic code',
      { type: 'br_code', brCode: encodeBrCode({ kind: 'dynamic', location: LOCATION, ...MERCHANT }), taxId: null },
    ],
  ])('accept a send to %s', (_, target) => {
    for (const [ownTaxId, description] of [
      [null, null],
      [target.taxId, 'Repasse'],
    ] as const) {
      const order: PayoutOrder = { accountId: 'a1', sendId: 's1', amount: 1234, target, ownTaxId, description };
      const { path, body } = sendRequest(order, 'shop@example.com') ?? {};
      const schema = path?.endsWith('/qrcode')
        ? 'PixQrCodeBodySchema'
        : path?.endsWith('/mesma-titularidade')
          ? 'PixSendSameOwnershipBodySchema'
          : 'PixSendBodySchema';
      expect(sdk.faultsOf(schema, body)).toEqual([]);
    }
  });
});
