export { CoherenceService } from './coherence.service.js';
export { FeeComparisons, type FeeReconciliation } from './fee-comparison.service.js';
export type { BalanceComparison, PayoutComparison } from './payout-comparison.service.js';
export type { PayoutDifference, PayoutDifferenceKind, PayoutSide } from './payout-differences.js';
export { ReconciliationModule } from './reconciliation.module.js';
export type { Difference, DifferenceKind, Side } from './reconciliation.rules.js';
export { type Reconciliation, ReconciliationService } from './reconciliation.service.js';
export { StatementsService } from './statements.service.js';
