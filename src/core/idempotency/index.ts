export { IsIdempotencyKey, keyOf } from './key.js';
export { Idempotent, IdempotencyInterceptor, REPLAYED_HEADER } from './idempotency.interceptor.js';
export { IdempotencyRepository, type IdempotentRequest } from './idempotency.repository.js';
export {
  type Admission,
  type Answer,
  type Begun,
  type Claim,
  IdempotencyService,
  type IdempotentAnswer,
  KeyChanged,
  keyReused,
} from './idempotency.service.js';
