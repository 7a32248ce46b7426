export { AccountEntity, MemberEntity, UserEntity } from './account.entity.js';
export { AccountsModule } from './accounts.module.js';
export { ACCOUNT_COLUMNS, type Account, type AccountRow, type Role, toAccount } from './accounts.repository.js';
export { AccountsService } from './accounts.service.js';
