export {
  Account,
  AccountEntity,
  type FraudMode,
  InvitationEntity,
  MemberEntity,
  type Role,
  UserEntity,
} from './account.entity.js';
export { AccountsModule } from './accounts.module.js';
export { AccountsService } from './accounts.service.js';
export { type Member } from './members.repository.js';
export { type Invitation, MembersService } from './members.service.js';
export { PASSWORD_COST, type PasswordCost, Passwords } from './passwords.service.js';
export { type SettingName, SETTINGS, type SettingValues } from './settings.js';
export { type LoginUser } from './users.repository.js';
export { UsersService } from './users.service.js';
