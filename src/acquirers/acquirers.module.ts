import { Module } from '@nestjs/common';
import { AcquirersService } from './acquirers.service.js';
import { InboxRepository } from './inbox.repository.js';
import { InboxService } from './inbox.service.js';
import { PixApiFamily } from './pix-api/connections.family.js';
import { ConnectionsRepository } from './pix-api/connections.repository.js';
import { ConnectionsService } from './pix-api/connections.service.js';
import { SandboxBankRepository } from './sandbox/sandbox-bank.repository.js';
import { SandboxDisputes } from './sandbox/sandbox-disputes.js';
import { SandboxDisputesRepository } from './sandbox/sandbox-disputes.repository.js';
import { SandboxOrders } from './sandbox/sandbox-orders.js';
import { SandboxOrdersRepository } from './sandbox/sandbox-orders.repository.js';
import { SandboxAcquirer } from './sandbox/sandbox.acquirer.js';

@Module({
  providers: [
    AcquirersService,
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
    SandboxAcquirer,
  ],
  exports: [AcquirersService, ConnectionsService, InboxService, SandboxAcquirer],
})
export class AcquirersModule {}
