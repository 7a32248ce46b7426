import { Module } from '@nestjs/common';
import { AcquirersService } from './acquirers.service.js';
import { InboxRepository } from './inbox.repository.js';
import { InboxService } from './inbox.service.js';
import { LiveAcquirers } from './live-acquirers.js';
import { CallbackReader } from './pix-api/callback-reader.js';
import { CallbackSources } from './pix-api/callback-sources.js';
import { CallbacksController } from './pix-api/callbacks.controller.js';
import { CallbacksRepository } from './pix-api/callbacks.repository.js';
import { CallbacksService } from './pix-api/callbacks.service.js';
import { SandboxBankRepository } from './sandbox/sandbox-bank.repository.js';
import { SandboxDisputes } from './sandbox/sandbox-disputes.js';
import { SandboxDisputesRepository } from './sandbox/sandbox-disputes.repository.js';
import { SandboxOrders } from './sandbox/sandbox-orders.js';
import { SandboxOrdersRepository } from './sandbox/sandbox-orders.repository.js';
import { SandboxAcquirer } from './sandbox/sandbox.acquirer.js';

@Module({
  controllers: [CallbacksController],
  providers: [
    AcquirersService,
    CallbackReader,
    CallbackSources,
    CallbacksRepository,
    CallbacksService,
    InboxRepository,
    InboxService,
    LiveAcquirers,
    SandboxBankRepository,
    SandboxOrdersRepository,
    SandboxOrders,
    SandboxDisputesRepository,
    SandboxDisputes,
    SandboxAcquirer,
  ],
  exports: [AcquirersService, CallbackSources, InboxService, LiveAcquirers, SandboxAcquirer],
})
export class AcquirersModule {}
