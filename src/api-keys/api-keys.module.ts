import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { AuthModule } from '../auth/index.js';
import { ApiKeyAuthentication } from './api-key-authentication.service.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import { LeftAccessService } from './left-access.service.js';

@Module({
  imports: [AccountsModule, AuditModule, AuthModule],
  controllers: [ApiKeysController],
  providers: [ApiKeyAuthentication, ApiKeysRepository, ApiKeysService, LeftAccessService],
  exports: [ApiKeysService],
})
export class ApiKeysModule {}
