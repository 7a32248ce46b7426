export * from './acquirer.port.js';
export { AcquirersModule } from './acquirers.module.js';
export { AcquirersService } from './acquirers.service.js';
export type { WaitingDispute } from './inbox.repository.js';
export { InboxService } from './inbox.service.js';
export { AcquirerNotificationEntity } from './notification.entity.js';
export { boletoPdf } from './sandbox/boleto.pdf.js';
export { moneyText } from './sandbox/pdf.js';
export { SandboxAcquirer } from './sandbox/sandbox.acquirer.js';
export {
  SandboxChargeEntity,
  SandboxDisputeEntity,
  SandboxOrderEventEntity,
  SandboxPixEntity,
  SandboxRefundFailureEntity,
  SandboxReturnEntity,
} from './sandbox/sandbox.entity.js';
