import { Module } from '@nestjs/common';
import { AcquirersModule } from '../acquirers/index.js';
import { AccountsModule } from '../accounts/index.js';
import { PaymentsModule } from '../payments/index.js';
import { PayoutsModule } from '../payouts/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxPayoutsController } from './sandbox-payouts.controller.js';
import { SandboxPagesController } from './sandbox-pages.controller.js';
import { SandboxPagesService } from './sandbox-pages.service.js';
import { SandboxService } from './sandbox.service.js';

@Module({
  imports: [AccountsModule, AcquirersModule, PaymentsModule, PayoutsModule, TransactionsModule],
  controllers: [SandboxController, SandboxPayoutsController, SandboxPagesController],
  providers: [SandboxPagesService, SandboxService],
})
export class SandboxModule {}
