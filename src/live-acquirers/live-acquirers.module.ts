import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { AuditModule } from '../audit/index.js';
import { CertificateWatch } from './certificate-watch.service.js';
import { LiveAcquirersService } from './live-acquirers.service.js';

@Module({
  imports: [AccountsModule, AcquirersModule, AuditModule],
  providers: [CertificateWatch, LiveAcquirersService],
  exports: [LiveAcquirersService],
})
export class LiveAcquirersModule {}
