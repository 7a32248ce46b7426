import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { AcquirersService } from './acquirers.service.js';
import { ConfirmationService } from './confirmation.service.js';
import { InboxDispatcher } from './inbox-dispatcher.service.js';
import { InboxRepository } from './inbox.repository.js';
import { InboxService } from './inbox.service.js';
import { CertificateWatch } from './live/certificate-watch.service.js';
import { LiveAcquirersService } from './live/live-acquirers.service.js';
import { PixApiFamily } from './pix-api/pix-api-family.service.js';
import { ConnectionsRepository } from './pix-api/connections.repository.js';
import { ConnectionsService } from './pix-api/connections.service.js';
import { CallbacksController } from './pix-api/callbacks.controller.js';
import { CallbacksRepository } from './pix-api/callbacks.repository.js';
import { CallbackStore } from './pix-api/callback-store.service.js';
import { CallbacksService } from './pix-api/callbacks.service.js';
import { SandboxBankRepository } from './sandbox/sandbox-bank.repository.js';
import { SandboxDisputes } from './sandbox/sandbox-disputes.service.js';
import { SandboxDisputesRepository } from './sandbox/sandbox-disputes.repository.js';
import { SandboxOrders } from './sandbox/sandbox-orders.service.js';
import { SandboxOrdersRepository } from './sandbox/sandbox-orders.repository.js';
import { SandboxPayouts } from './sandbox/sandbox-payouts.service.js';
import { SandboxReturns } from './sandbox/sandbox-returns.service.js';
import { SandboxAcquirer } from './sandbox/sandbox.acquirer.js';
import { UnconfirmedReports } from './unconfirmed-reports.service.js';

@Module({
  imports: [AccountsModule, AuditModule],
  controllers: [CallbacksController],
  providers: [
    AcquirersService,
    CertificateWatch,
    ConfirmationService,
    LiveAcquirersService,
    CallbacksRepository,
    CallbackStore,
    CallbacksService,
    InboxDispatcher,
    InboxRepository,
    InboxService,
    ConnectionsRepository,
    ConnectionsService,
    PixApiFamily,
    SandboxBankRepository,
    SandboxOrdersRepository,
    SandboxOrders,
    SandboxDisputesRepository,
    SandboxDisputes,
    SandboxPayouts,
    SandboxReturns,
    SandboxAcquirer,
    UnconfirmedReports,
  ],
  exports: [
    AcquirersService,
    ConfirmationService,
    ConnectionsService,
    InboxService,
    LiveAcquirersService,
    SandboxAcquirer,
  ],
})
export class AcquirersModule {}
