export { FraudGuard } from './fraud-guard.service.js';
export { type FraudHitEntity as FraudHit } from './fraud-hit.entity.js';
export { FraudHits } from './fraud-hits.service.js';
export { FraudModule } from './fraud.module.js';
