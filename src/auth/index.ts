export {
  ApiKeyAuth,
  AsksOthers,
  AtDoorOnly,
  AuditedAtDoor,
  Costs,
  CurrentActor,
  CurrentCaller,
  CurrentMember,
  CurrentPerson,
  CurrentScope,
  CurrentUser,
  DashboardAuth,
  NeedsSecondFactor,
  LimitPerIp,
  OpenToMembers,
  Public,
  RoleRefusal,
  TestKeysOnly,
} from './access.decorators.js';
export { AuthModule } from './auth.module.js';
export { Authenticators, type KnownApiKey } from './authenticators.service.js';
export { type ApiKeyPrincipal, type MemberPrincipal, type ScopedCaller, type UserPrincipal } from './principal.js';
export { SecondFactorProof } from './second-factor-proof.service.js';
export { cookieNamed } from './session-cookie.service.js';
export { SecondFactorRule } from './second-factor-rule.service.js';
