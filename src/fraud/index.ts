export { type FraudCode, FraudGuard, type FraudOperation, type GuardedOperation } from './fraud-guard.service.js';
export { FraudHitEntity, type FraudHitEntity as FraudHit } from './fraud-hit.entity.js';
export { FraudHits } from './fraud-hits.service.js';
export { type FraudHitFilter } from './fraud-hits.repository.js';
export { FraudModule } from './fraud.module.js';
