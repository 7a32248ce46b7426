export * from './acquirer.port.js';
export { AcquirersModule } from './acquirers.module.js';
export { AcquirersService } from './acquirers.service.js';
export { Bulkhead } from './bulkhead.js';
export { ConfirmationService } from './confirmation.service.js';
export type { UnreadableNews, WaitingDispute } from './inbox.repository.js';
export { InboxService } from './inbox.service.js';

export { CertificateWatch } from './live/certificate-watch.service.js';
export type { Configuration } from './live/configuration.js';
export { type Configured, type LiveConnection, LiveAcquirersService } from './live/live-acquirers.service.js';
export { callbackUrl, callbackUrlHint } from './pix-api/callback-url.js';
export { connectionIdOf, type PixApiConnection } from './pix-api/connection.js';
export { FEE_OPERATIONS, type FeeOperation, type FeeSchedule } from './pix-api/fees.js';
export { ConnectionsService } from './pix-api/connections.service.js';
export { findProfile } from './pix-api/profiles.js';
export { boletoPdf } from './sandbox/boleto.pdf.js';
export { SandboxAcquirer } from './sandbox/sandbox.acquirer.js';
export type { SandboxPayer } from './sandbox/sandbox-orders.service.js';
