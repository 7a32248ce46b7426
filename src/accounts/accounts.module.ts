import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/index.js';
import { AccountsRepository } from './accounts.repository.js';
import { AccountsService } from './accounts.service.js';
import { MembersRepository } from './members.repository.js';
import { MembersService } from './members.service.js';
import { NoticeMails } from './notice-mails.service.js';
import { NoticesService } from './notices.service.js';
import { PasswordChanges } from './password-changes.service.js';
import { Passwords } from './passwords.service.js';
import { PersonMails } from './person-mails.service.js';
import { SecondFactor } from './second-factor.service.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [AuditModule],
  providers: [
    AccountsRepository,
    AccountsService,
    MembersRepository,
    MembersService,
    NoticeMails,
    NoticesService,
    PasswordChanges,
    Passwords,
    PersonMails,
    SecondFactor,
    UsersRepository,
    UsersService,
  ],
  exports: [
    AccountsService,
    MembersService,
    NoticeMails,
    NoticesService,
    PasswordChanges,
    Passwords,
    PersonMails,
    SecondFactor,
    UsersService,
  ],
})
export class AccountsModule {}
