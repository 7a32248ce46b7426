import { Module } from '@nestjs/common';
import { AcquirersModule } from '../acquirers/index.js';
import { ChargesModule } from '../charges/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxService } from './sandbox.service.js';

@Module({
  imports: [AcquirersModule, ChargesModule, TransactionsModule],
  controllers: [SandboxController],
  providers: [SandboxService],
})
export class SandboxModule {}
