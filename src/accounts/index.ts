export { Account, AccountEntity, type FraudMode, type PayoutSchedule } from './account.entity.js';
export { InvitationEntity } from './invitation.entity.js';
export type { Role } from './role.js';
export type { UserEntity } from './user.entity.js';
export { AccountsModule } from './accounts.module.js';
export { accountSuspended, AccountsService } from './accounts.service.js';
export {
  ChangeOwnAccountDto,
  MerchantAccountBody,
  merchantAccountBody,
  MerchantSettingsDto,
  Setting,
  settingsBody,
  settingsOf,
} from './dto/merchant-account.js';
export { isPicture, type Picture, readPicture, textOn } from './brand.js';
export { normalizeEmail } from './email-address.js';
export { type Member } from './members.repository.js';
export { type LostPower, MembersService } from './members.service.js';
export { NoticeMails } from './notice-mails.service.js';
export { NoticesService, PAID_MAILS_MS } from './notices.service.js';
export { DASHBOARD_NOTICES, type DashboardNotice, MAIL_NOTICES, type MailNotice, noticesOf } from './notices.js';
export { PasswordChanges, wrongPassword } from './password-changes.service.js';
export { PASSWORD_COST, type PasswordCost, Passwords } from './passwords.service.js';
export { PersonMails } from './person-mails.service.js';
export { SecondFactor } from './second-factor.service.js';
export { type SettingName, SETTINGS, type SettingValues } from './settings.js';
export { type LoginUser } from './users.repository.js';
export { UsersService } from './users.service.js';
