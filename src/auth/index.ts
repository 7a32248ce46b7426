export {
  ApiKeyAuth,
  AsksOthers,
  Costs,
  CurrentActor,
  CurrentMember,
  CurrentPrincipal,
  CurrentScope,
  CurrentUser,
  DashboardAuth,
  LimitPerIp,
  Public,
  RoleRefusal,
  TestKeysOnly,
} from './access.decorators.js';
export { AuthModule } from './auth.module.js';
export { Authenticators } from './authenticators.service.js';
export {
  type ApiKeyPrincipal,
  type DashboardRole,
  type MemberPrincipal,
  type OperatorPrincipal,
  type Principal,
  type UserPrincipal,
} from './principal.js';
export { LoginFailureEntity } from './login-failure.entity.js';
export { SecondFactorRule } from './second-factor-rule.service.js';
