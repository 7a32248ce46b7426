import { describe, expect, it } from '@jest/globals';
import { checkBrCode, encodeBrCode, parseBrCode } from './index.js';
import { crc16 } from './tlv.js';

const KEY = '123e4567-e12b-12d1-a456-426655440000';
const STATIC = encodeBrCode({
  kind: 'static',
  key: KEY,
  merchantName: 'Fulano de Tal',
  merchantCity: 'BRASILIA',
  amount: 1050,
});
const withCode = (code: string): unknown => expect.objectContaining({ name: 'BrCodeError', code });

/** Replaces a text in the payload and makes the CRC right again, so that only the tested rule can refuse it. */
function altered(from: string, to: string, payload: string = STATIC): string {
  expect(payload).toContain(from);
  const body = payload.replace(from, () => to).slice(0, -4);
  return body + crc16(body);
}

describe('parseBrCode, with a right CRC', () => {
  it.each([
    ['000201', '000202', 'format_invalid'],
    ['000201', '010211000201', 'format_invalid'],
    ['000201', '000201010213', 'initiation_invalid'],
    ['5303986', '5303840', 'currency_invalid'],
    ['52040000', '520400A0', 'category_invalid'],
    ['5913Fulano de Tal', `5926${'N'.repeat(26)}`, 'name_invalid'],
    ['5913Fulano de Tal', '5903   ', 'name_invalid'],
    ['540510.50', '540610.500', 'amount_invalid'],
    ['540510.50', '5404.500', 'amount_invalid'],
    ['540510.50', '5405-1.00', 'amount_invalid'],
    ['540510.50', '541499999999999.99', 'amount_invalid'],
    ['6008BRASILIA', '6008BRASILIA611101234567890', 'postal_code_invalid'],
    ['62070503***', '', 'txid_missing'],
    ['62070503***', '62070103***', 'txid_missing'],
    ['62070503***', '62080504a b*', 'txid_invalid'],
    [`26580014br.gov.bcb.pix0136${KEY}`, '26180014br.gov.bcb.pix', 'key_or_location_missing'],
    [`26580014br.gov.bcb.pix0136${KEY}`, '26350014br.gov.bcb.pix0111123456789092502a/', 'tlv_malformed'],
    [`26580014br.gov.bcb.pix0136${KEY}`, '26400014br.gov.bcb.pix0111123456789092503a/b', 'key_and_location'],
    [`26580014br.gov.bcb.pix0136${KEY}`, '26330014br.gov.bcb.pix011112345678900', 'key_invalid'],
    [`26580014br.gov.bcb.pix0136${KEY}`, '26420014br.gov.bcb.pix0308123456782508a.com/bc', 'withdrawal_invalid'],
    [`26580014br.gov.bcb.pix0136${KEY}`, '26450014br.gov.bcb.pix01111234567890903081234567a', 'withdrawal_invalid'],
    ['52040000', '27180014br.gov.bcb.pix52040000', 'gui_repeated'],
    ['52040000', '2705abcde52040000', 'tlv_malformed'],
    ['540510.50', '540510.50540520.50', 'tlv_malformed'],
    ['540510.50', '5400', 'tlv_malformed'],
    ['540510.50', '5499', 'tlv_malformed'],
    ['62070503***', '62070503***80180014br.gov.bcb.pix', 'location_invalid'],
  ])('refuses a code in which %s became %s: %s', (from, to, code) => {
    const payload = altered(from, to);
    expect(() => parseBrCode(payload)).toThrow(withCode(code));
  });

  it('refuses objects behind the CRC even when they hide a CRC of their own', () => {
    const first = STATIC;
    const body = `${first}6304`;
    expect(() => parseBrCode(body + crc16(body))).toThrow(withCode('tlv_malformed'));
  });

  it('refuses a closing 6304 that is the content of another object', () => {
    const body = `${STATIC.slice(0, -8)}61086304`;
    expect(() => parseBrCode(body + crc16(body))).toThrow(withCode('crc_missing'));
  });

  it('refuses more characters than an EMV QR code holds', () => {
    expect(() => parseBrCode('0'.repeat(513))).toThrow(withCode('too_long'));
  });

  it('accepts the GUI in upper case, as the BR Code manual writes it, and templates of other arrangements', () => {
    const payload = altered('br.gov.bcb.pix', 'BR.GOV.BCB.PIX');
    expect(parseBrCode(altered('52040000', '27160012BR.COM.OUTRO52040000', payload))).toMatchObject({ key: KEY });
  });

  it('accepts an amount of zero only for Pix Saque', () => {
    const payload = altered('540510.50', '54010');
    expect(() => parseBrCode(payload)).toThrow(withCode('amount_invalid'));
    const withdrawal = altered(`2658`, '2670', payload).replace(KEY, `${KEY}030812345678`).slice(0, -4);
    expect(parseBrCode(withdrawal + crc16(withdrawal))).toMatchObject({
      amount: 0,
      withdrawalFacilitator: '12345678',
    });
  });

  it.each([
    ['540210', 1000],
    ['540310.', null],
    ['540410.5', 1050],
  ])('reads %s as %s cents', (object, amount) => {
    const { valid } = checkBrCode(altered('540510.50', object));
    expect(valid).toBe(amount !== null);
    if (amount !== null) expect(parseBrCode(altered('540510.50', object)).amount).toBe(amount);
  });

  it('lists every violation of a payload at once', () => {
    const payload = altered('5802BR', '5802AR', altered('62070503***', '62080504a-b*'));
    expect(checkBrCode(payload)).toMatchObject({
      wellFormed: true,
      valid: false,
      strictValid: false,
      violations: [{ code: 'country_invalid' }, { code: 'txid_invalid', level: 'strict' }],
    });
  });
});

describe('crc16', () => {
  it.each([
    ['123456789', '29B1'],
    ['', 'FFFF'],
  ])('maps %j to %s', (text, crc) => {
    expect(crc16(text)).toBe(crc);
  });
});
