export { OperationsModule } from './operations.module.js';
export { NegativeBalances } from './negative-balances.service.js';
// Nothing else imports the entity, by which the ORM knows the table.
import './operator-alerts.entity.js';
export { OperatorQueueWatch } from './operator-queue-watch.service.js';
