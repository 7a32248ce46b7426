export { IdempotencyKeyEntity } from './idempotency-key.entity.js';
export { IdempotencyRepository, type IdempotentRequest } from './idempotency.repository.js';
export {
  type Admission,
  type Answer,
  type Claim,
  IdempotencyService,
  type IdempotentAnswer,
} from './idempotency.service.js';
