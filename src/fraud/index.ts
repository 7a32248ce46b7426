export { type FraudCode, FraudGuard, type FraudOperation, type GuardedOperation } from './fraud-guard.js';
export { FraudHitEntity, type FraudHitEntity as FraudHit } from './fraud-hit.entity.js';
export { FraudHits } from './fraud-hits.js';
export { type FraudHitFilter } from './fraud-hits.repository.js';
export { FraudModule } from './fraud.module.js';
