export { PayoutBody } from './dto/payout.body.js';
export { ListUncertainPayoutsQuery, ResolvePayoutDto } from './dto/payout.dto.js';
export { PayoutDecisions } from './payout-decisions.service.js';
export { payoutBody, payoutSnapshot } from './payout.serializer.js';
export { sendIdOf } from './payout.processor.js';
export { PAYOUT_MOVES, PAYOUT_STATUSES, type PayoutStatus } from './payouts.machine.js';
export { PayoutsModule } from './payouts.module.js';
export { PayoutsService } from './payouts.service.js';
export type { WholePayout } from './payouts.repository.js';
