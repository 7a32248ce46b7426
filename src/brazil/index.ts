export { encodeBrCode } from './br-code.js';
export { checkBrCode, parseBrCode, type BrCodeCheck } from './br-code.parser.js';
export {
  BrCodeError,
  type BrCode,
  type BrCodeErrorCode,
  type BrCodeLevel,
  type BrCodeViolation,
  type DynamicBrCode,
  type StaticBrCode,
} from './br-code.types.js';
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
export { SAO_PAULO, releaseTimeOf } from './sao-paulo.js';
export { maskTaxId, normalizeTaxId, taxIdKind, type TaxIdKind } from './tax-id.js';
