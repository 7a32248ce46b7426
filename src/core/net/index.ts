export type { AddressClass } from './address-class.js';
export {
  type AddressRules,
  allowsPrivate,
  checkAddress,
  checkUrl,
  httpUrlProblem,
  MAX_URL_LENGTH,
} from './check-url.js';
