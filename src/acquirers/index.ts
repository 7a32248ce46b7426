export * from './acquirer.port.js';
export { AcquirerDirectory, type ListedAcquirer } from './acquirer-directory.service.js';
export { AcquirersModule } from './acquirers.module.js';
export { AcquirersService } from './acquirers.service.js';
export type { UnreadableNews, WaitingDispute } from './inbox.repository.js';
export { InboxService } from './inbox.service.js';

export { AcquirerNotificationEntity } from './notification.entity.js';
export { callbackUrl, callbackUrlHint } from './pix-api/callback-url.js';
export type { ClientCertificate, PixApiConnection } from './pix-api/connection.js';
export { AcquirerConnectionEntity } from './pix-api/connections.entity.js';
export { acquirerNameOf, connectionIdOf } from './pix-api/pix-api-family.service.js';
export type { ConnectionSummary } from './pix-api/connections.repository.js';
export { type ConnectionSettings, ConnectionsService } from './pix-api/connections.service.js';
export { x509Of } from './pix-api/credentials.js';
export { CERTIFICATE_WARNINGS, check as checkPixApi, type Finding, type Registration } from './pix-api/doctor.js';
export type { PspProfile } from './pix-api/profile.js';
export { findProfile, PROFILES } from './pix-api/profiles.js';
export { type CallbackSource, CallbackSources } from './pix-api/callback-sources.service.js';
export { AcquirerCallbackEntity } from './pix-api/callbacks.entity.js';
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
