import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/index.js';
import { AccountsRepository } from './accounts.repository.js';
import { AccountsService } from './accounts.service.js';
import { MembersRepository } from './members.repository.js';
import { MembersService } from './members.service.js';
import { Passwords } from './passwords.js';

@Module({
  imports: [AuditModule],
  providers: [AccountsRepository, AccountsService, MembersRepository, MembersService, Passwords],
  exports: [AccountsService, MembersService, Passwords],
})
export class AccountsModule {}
