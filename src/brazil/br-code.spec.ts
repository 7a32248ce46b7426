import { describe, expect, it } from '@jest/globals';
import { checkBrCode, parseBrCode, type BrCode } from './index.js';

/**
 * Pix BR Codes of known validity; `kind` names the kind of a valid one. Official examples: BACEN Manual de Padrões para
 * Iniciação do Pix, Manual do BR Code 2.0.1, API Pix 2.9.0. Examples of open-source suites: thalesog/pix-utils,
 * iricardofernandes/jupiter. Further codes break a rule, with a deliberately right CRC.
 */
interface BrCodeVector {
  readonly payload: string;
  readonly valid: boolean;
  readonly strictValid: boolean;
  readonly kind: string;
  readonly note: string;
}

const BR_CODE_VECTORS: readonly BrCodeVector[] = [
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
    valid: true,
    strictValid: true,
    kind: 'static',
    note: 'static, EVP key, no amount',
  },
  {
    payload:
      '00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4',
    valid: true,
    strictValid: true,
    kind: 'dynamic',
    note: 'dynamic, POI 12, location URL',
  },
  {
    payload:
      '00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80740014br.gov.bcb.pix2552pix.example.com/rec/2353c790eefb11eaadc10242ac1200026304F2DA',
    valid: true,
    strictValid: true,
    kind: 'recurrence',
    note: 'Pix Automatico journey 2: only template 80; 26 has GUI only',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865406100.505802BR5913Fulano de Tal6008BRASILIA62070503***80740014br.gov.bcb.pix2552pix.example.com/rec/2353c790eefb11eaadc10242ac12000263042875',
    valid: true,
    strictValid: true,
    kind: 'static+recurrence',
    note: 'static with amount plus recurrence',
  },
  {
    payload:
      '00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80740014br.gov.bcb.pix2552pix.example.com/rec/2353c790eefb11eaadc10242ac1200026304FB42',
    valid: true,
    strictValid: true,
    kind: 'dynamic+recurrence',
    note: 'composite dynamic + recurrence',
  },
  {
    payload:
      '00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002630462C9',
    valid: true,
    strictValid: true,
    kind: 'recurrence',
    note: 'official example',
  },
  {
    payload:
      '00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741',
    valid: true,
    strictValid: true,
    kind: 'dynamic+recurrence',
    note: 'official example (2)',
  },
  {
    payload:
      '00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e75204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/3ffa640fa4f14080adccb949fa2dc0d06304A441',
    valid: true,
    strictValid: true,
    kind: 'dynamic+recurrence',
    note: 'official example (3)',
  },
  {
    payload:
      '00020104141234567890123426580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-42665544000027300012BR.COM.OUTRO011001234567895204000053039865406123.455802BR5917NOME DO RECEBEDOR6008BRASILIA61087007490062190515RP12345678-201980390012BR.COM.OUTRO01190123.ABCD.3456.WXYZ6304AD38',
    valid: true,
    strictValid: false,
    kind: 'static',
    note: 'multi-arrangement; uppercase GUI; NB this is the doc example with id 04 (legacy card arrangement); txid contains hyphen => CRC/TLV valid but Pix-strict txid invalid',
  },
  {
    payload:
      '00020126440014BR.GOV.BCB.PIX0122FULANO2019 EXAMPLE.COM5204000053039865802BR5913FULANO DE TAL6008BRASILIA62410503***50300017BR.GOV.BCB.BRCODE01051.0.0630427E9',
    valid: true,
    strictValid: false,
    kind: 'static',
    note: 'legacy: e-mail key with @ replaced by space, 62-50 version template',
  },
  {
    payload:
      '00020126180014br.gov.bcb.pix5204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***80780014br.gov.bcb.pix2556payload.psp.com/rec/3ec9d2f9-5f03-4e0e-820d-63a81e769e876304A8B8',
    valid: true,
    strictValid: true,
    kind: 'recurrence',
    note: 'thalesog/pix-utils tests/emvCodes.ts',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR6008BRASILIA62070503***630452B8',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'name (59) missing',
  },
  {
    payload:
      '00020126560012br.com.outro0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63045803',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'GUI not br.gov.bcb.pix',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000520400005303986540510,005802BR5913Fulano de Tal6008BRASILIA62070503***63042756',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'decimal comma in 54',
  },
  {
    payload:
      '00020126780014br.gov.bcb.pix0136f4c6089a-bfde-4c00-a2d9-9eaa584b02190216CobrancaEstatica5204000053039865406650.345802BR5903Pix6008BRASILIA6229052580a2d0a923984e8dbb80b4adf80950014br.gov.bcb.pix2573qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/d7913bcbfc4947c9811669db12b403746304595A',
    valid: true,
    strictValid: true,
    kind: 'static+recurrence',
    note: 'from BACEN sandbox host',
  },
  {
    payload:
      '00020126510014br.gov.bcb.pix0114123456780001950211Pedido 10515204000053039865406350.005802BR5921Fornecedor Exemplo SA6009SAO PAULO62140510NF2026081563049524',
    valid: true,
    strictValid: true,
    kind: 'static',
    note: 'CNPJ key + info + txid',
  },
  {
    payload:
      '00020101021226940014br.gov.bcb.pix2572qr-h.sandbox.pix.bcb.gov.br/rest/api/v2/7b2d64c4eb744a2d92a4dd5f8cfc4dfa5204000053039865802BR5913FULANO DE TAL6008BRASILIA62070503***80950014br.gov.bcb.pix2573qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/3d29b94249c54b3f8c533d729f59b5e56304DBE0',
    valid: true,
    strictValid: true,
    kind: 'dynamic+recurrence',
    note: 'BACEN sandbox host',
  },
  {
    payload:
      '00020126480014br.gov.bcb.pix2526pix.example.com/qr/v2/12345204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041420',
    valid: true,
    strictValid: true,
    kind: 'dynamic',
    note: 'no POI',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62300526abcdefghijklmnopqrstuvwxyz6304F965',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'static txid 26 chars > 25',
  },
  {
    payload:
      '00020126950014br.gov.bcb.pix01364004901d-bd85-4769-8e52-cb4c42c506dc0221Jornada pagador 431070308999990085204000053039865406577.575802BR5903Pix6008BRASILIA6229052599ed983ea570413d8d336301d630418B7',
    valid: true,
    strictValid: true,
    kind: 'static',
    note: '26-03 fss (Pix Saque) + 25-char txid',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-42665544000052040000530398654040.005802BR5913Fulano de Tal6008BRASILIA62070503***63042451',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'amount 0.00 (semantic: meaningless for a charge)',
  },
  {
    payload:
      '00020101021226720014br.gov.bcb.pix2550bx.com.br/pix/8b3da2f3-9a41-40d1-a91a-bd93113bd4415204000053039865406123.455802BR5913Fulano de Tal6008BRASILIA62190515RP12345678-2019630445C8',
    valid: true,
    strictValid: false,
    kind: 'dynamic',
    note: '54 and txid filled on a dynamic code (payer ignores both); txid has hyphen',
  },
  {
    payload:
      '00020101021126480014br.gov.bcb.pix2526pix.example.com/qr/v2/12345204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***6304F299',
    valid: true,
    strictValid: true,
    kind: 'dynamic',
    note: 'POI 11',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal62070503***63047718',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'city (60) missing',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-42665544000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630405E3',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'MCC (52) missing',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6016ABCDEFGHIJKLMNOP62070503***6304C258',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'city 16 chars > 15',
  },
  {
    payload:
      '00020101021226330014br.gov.bcb.pix0111123456789095204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63043CAC',
    valid: true,
    strictValid: true,
    kind: 'static',
    note: 'static one-time (POI 12 with key)',
  },
  {
    payload:
      '00020101021226470014br.gov.bcb.pix2525https://pix.example.com/x5204000053039865802BR5901A6001B62070503***6304F843',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'URL with scheme',
  },
  {
    payload:
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802AR5913Fulano de Tal6008BRASILIA62070503***6304F417',
    valid: false,
    strictValid: false,
    kind: 'static',
    note: 'country AR',
  },
];

function kindOf(code: BrCode): string {
  return code.kind !== 'recurrence' && code.recurrenceLocation !== null ? `${code.kind}+recurrence` : code.kind;
}

describe('BR Codes of known validity', () => {
  it.each(BR_CODE_VECTORS)(
    'are judged as listed: $note is valid $valid, strictly valid $strictValid',
    ({ payload, valid, strictValid, kind }) => {
      expect(checkBrCode(payload)).toMatchObject({ wellFormed: true, valid, strictValid });
      if (strictValid) {
        expect(kindOf(parseBrCode(payload))).toBe(kind);
      } else {
        expect(() => parseBrCode(payload)).toThrow(expect.objectContaining({ level: valid ? 'strict' : 'rule' }));
      }
    },
  );

  it.each([
    ['name (59) missing', 'name_invalid'],
    ['GUI not br.gov.bcb.pix', 'gui_missing'],
    ['decimal comma in 54', 'amount_invalid'],
    ['static txid 26 chars > 25', 'txid_too_long'],
    ['amount 0.00 (semantic: meaningless for a charge)', 'amount_invalid'],
    ['city (60) missing', 'city_invalid'],
    ['MCC (52) missing', 'category_invalid'],
    ['city 16 chars > 15', 'city_invalid'],
    ['URL with scheme', 'location_has_scheme'],
    ['country AR', 'country_invalid'],
    ['legacy: e-mail key with @ replaced by space, 62-50 version template', 'key_invalid'],
    ['54 and txid filled on a dynamic code (payer ignores both); txid has hyphen', 'txid_invalid'],
  ])('%s is refused for this reason only: %s', (note, code) => {
    const vector = BR_CODE_VECTORS.find((candidate) => candidate.note === note);
    expect(checkBrCode(vector?.payload ?? '').violations.map((violation) => violation.code)).toEqual([code]);
  });

  it('reads the Pix Saque code field by field', () => {
    const vector = BR_CODE_VECTORS.find((candidate) => candidate.note.includes('Pix Saque'));
    expect(parseBrCode(vector?.payload ?? '')).toEqual({
      kind: 'static',
      key: '4004901d-bd85-4769-8e52-cb4c42c506dc',
      info: 'Jornada pagador 43107',
      withdrawalFacilitator: '99999008',
      recurrenceLocation: null,
      merchantName: 'Pix',
      merchantCity: 'BRASILIA',
      merchantCategoryCode: '0000',
      postalCode: null,
      amount: 57757,
      txid: '99ed983ea570413d8d336301d',
      singleUse: false,
    });
  });
});
