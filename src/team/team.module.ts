import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { AuthModule } from '../auth/index.js';
import { AccountController } from './account.controller.js';
import { AuditEventsController } from './audit-events.controller.js';
import { MailLimits } from './mail-limits.service.js';
import { MembersController } from './members.controller.js';

/** Routes for OWNERs and ADMINs: members, audit events, the account itself. No module imports it. */
@Module({
  imports: [AccountsModule, AuditModule, AuthModule],
  providers: [MailLimits],
  controllers: [AccountController, AuditEventsController, MembersController],
})
export class TeamModule {}
