export { OperationsModule } from './operations.module.js';
export { NegativeBalances } from './negative-balances.service.js';
export { OperatorAlertEntity } from './operator-alerts.entity.js';
export { OperatorAlerts } from './operator-alerts.service.js';
