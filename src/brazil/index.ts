export {
  bankBusinessDayFrom,
  businessDayWindow,
  type Day,
  isBankBusinessDay,
  isDay,
  plusDays,
  saoPauloDay,
  saoPauloDayBounds,
  saoPauloMonthBounds,
} from './bank-calendar.js';
export { boletoBarcode, boletoLine, formatBoletoLine, MAX_BOLETO_AMOUNT } from './boleto.js';
export { encodeBrCode } from './br-code.js';
export { checkBrCode, parseBrCode } from './br-code.parser.js';
export { BrCodeError, type BrCode, type DynamicBrCode, type StaticBrCode } from './br-code.types.js';
export {
  isEndToEndId,
  isReturnId,
  isTxid,
  newEndToEndId,
  newReturnId,
  newRtrId,
  newTxid,
  parseEndToEndId,
} from './end-to-end-id.js';
export { normalizePixKey } from './pix-key.js';
export { drawQr, qrPng, qrSvg } from './qr-code.js';
export { fromSaoPauloLocal, releaseTimeOf, SAO_PAULO, saoPauloLocal, saoPauloTime } from './sao-paulo.js';
export { formatTaxId, maskTaxId, normalizeTaxId, taxIdKind } from './tax-id.js';
