export { type AddressClass, addressClass } from './address-class.js';
export { boundAnswers, isStaleConnection } from './bounded-answers.js';
export { bareAddress, groupsOf } from './bare-address.js';
export {
  type AddressRules,
  allowsPrivate,
  checkAddress,
  checkUrl,
  httpUrlProblem,
  isLoopbackHost,
  MAX_URL_LENGTH,
  returnUrlProblem,
} from './check-url.js';
export { isNetwork, isWithin } from './networks.js';
