import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension, ApiSecurity } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Actor, AuditEventType, Origin } from '../audit/index.js';
import type { Scope } from '../core/mode.js';
import { ApiErrors, ApiRefusal, AT_DOOR } from '../core/http/index.js';
import {
  actorOf,
  type DashboardRole,
  type MemberPrincipal,
  originOf,
  principalOf,
  type ScopedCaller,
  scopedCallerOf,
  type UserPrincipal,
} from './principal.js';

export type Access = 'public' | 'api-key' | 'dashboard';

export const ACCESS = Symbol('access');
export const ASKS_OTHERS = Symbol('asks others');
export const COST = Symbol('cost');
export const IP_LIMIT = Symbol('ip limit');
export const ROLES = Symbol('roles');
export const ROLE_REFUSAL = Symbol('role refusal');
export const BEFORE_SECOND_FACTOR = Symbol('before the second factor');
export const NEEDS_SECOND_FACTOR = Symbol('needs a second factor');
export const AUDITED_AT_DOOR = Symbol('audited at the door');
export const OPEN_TO_MEMBERS = Symbol('open to members');
export const TEST_ONLY = Symbol('test keys only');
export const DOOR_ONLY = Symbol('at the door only');

/** A route without credentials. A test lists all such routes: adding a route is a decision. */
export function Public(): MethodDecorator & ClassDecorator {
  return SetMetadata(ACCESS, 'public' satisfies Access);
}

/**
 * A route for servers, with the `apikey` header. Members of the account may use it through the dashboard's door:
 * everybody reads, and OWNER and ADMIN write.
 */
export function ApiKeyAuth(): MethodDecorator & ClassDecorator {
  return applyDecorators(
    SetMetadata(ACCESS, 'api-key' satisfies Access),
    ApiSecurity('apikey'),
    ApiErrors('unauthorized', 'api_key_expired', 'ip_not_allowed', 'account_suspended'),
    ApiErrors('rate_limited', 'internal_error', 'service_unavailable'),
  );
}

/**
 * A route for people: `Authorization: Bearer` with the token of the login. Without roles, every member of an account is
 * let in. Operators need 'OPERATOR' among the roles. Everybody else gets 403.
 */
export function DashboardAuth(...roles: DashboardRole[]): MethodDecorator & ClassDecorator {
  const allowed: readonly DashboardRole[] = roles.length > 0 ? roles : ['OWNER', 'ADMIN', 'MEMBER'];
  return applyDecorators(
    SetMetadata(ACCESS, 'dashboard' satisfies Access),
    SetMetadata(ROLES, allowed),
    ApiBearerAuth('dashboard'),
    ApiErrors('unauthorized', 'rate_limited', 'internal_error', 'service_unavailable'),
    ApiErrors(...(allowed.length < 4 ? (['forbidden', 'totp_setup_required'] as const) : [])),
  );
}

/** Sets the `error.code` for callers without the role, if it is not `forbidden`. */
export function RoleRefusal(code: string): MethodDecorator & ClassDecorator {
  return applyDecorators(
    SetMetadata(ROLE_REFUSAL, code),
    ApiRefusal(403, { [code]: 'The role of the caller does not allow it.' }),
  );
}

/** Opens a route to an operator who must still set a second factor. */
export function BeforeSecondFactor(): MethodDecorator {
  return SetMetadata(BEFORE_SECOND_FACTOR, true);
}

/** Requires a second factor in production: the route lets people issue live keys, or takes that right from them. */
export function NeedsSecondFactor(): MethodDecorator {
  return SetMetadata(NEEDS_SECOND_FACTOR, true);
}

/** Limit of a public route by the caller's address. */
export interface IpLimit {
  /** Factor on RATE_LIMIT_PUBLIC_PER_MINUTE; default 1. More where many people come from one address. */
  readonly times?: number;
  /** Gives loopback and private addresses twenty times as many: the orchestrator or Prometheus on the same network. */
  readonly isForMachines?: boolean;
}

/** Limits a public route by the caller's address. */
export function LimitPerIp(limit: IpLimit = {}): MethodDecorator {
  return applyDecorators(SetMetadata(IP_LIMIT, limit), ApiErrors('rate_limited'));
}

/**
 * Returns the tokens that a request takes beyond those of its body.
 * @param tokens of its query, which is not validated yet
 */
export type Cost = (query: Readonly<Record<string, unknown>>) => number;

/** Marks a read whose work depends on its query. */
export function Costs(tokens: Cost): MethodDecorator {
  return SetMetadata(COST, tokens);
}

/** Marks a read that waits for an acquirer: it does not delay the caller's other reads. */
export function AsksOthers(): MethodDecorator {
  return SetMetadata(ASKS_OTHERS, true);
}

/** Marks a write through the dashboard's door that only changes its caller's own view: MEMBER may make it too. */
export function OpenToMembers(): MethodDecorator {
  return SetMetadata(OPEN_TO_MEMBERS, true);
}

/** Entry of the audit trail when a person makes the request. */
export interface DoorAudit {
  readonly type: AuditEventType;
  /** Whether the answer shows that something was done. */
  readonly isDone: (answer: Readonly<Record<string, unknown>>) => boolean;
}

/**
 * Marks a write that records no actor when a program makes it. If a person makes it through the dashboard's door, the
 * audit trail records them.
 */
export function AuditedAtDoor(type: AuditEventType, isDone: DoorAudit['isDone'] = () => true): MethodDecorator {
  return SetMetadata(AUDITED_AT_DOOR, { type, isDone } satisfies DoorAudit);
}

/** A sandbox route: a live key gets 404, before its body is read. */
export function TestKeysOnly(): MethodDecorator & ClassDecorator {
  return SetMetadata(TEST_ONLY, true);
}

/**
 * A route of people at the dashboard's door: an API key gets 404, and the OpenAPI document shows it at the door.
 * @param roles who may use it; none: as on other routes at the door
 */
export function AtDoorOnly(...roles: DashboardRole[]): MethodDecorator {
  return applyDecorators(SetMetadata(DOOR_ONLY, roles), ApiExtension(AT_DOOR, true));
}

function requestOf(context: ExecutionContext): Request {
  return context.switchToHttp().getRequest<Request>();
}

/** Account and mode of the caller, to which every query of the request is restricted. */
export const CurrentScope = createParamDecorator((_data: unknown, context: ExecutionContext): Scope => {
  const { accountId, mode } = scopedCallerOf(requestOf(context));
  return { accountId, mode };
});

/** Account, mode and the account's settings. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): ScopedCaller =>
  scopedCallerOf(requestOf(context)),
);

/** The calling member: every query is restricted to the account that the member is logged in to. */
export const CurrentMember = createParamDecorator((_data: unknown, context: ExecutionContext): MemberPrincipal =>
  principalOf(requestOf(context), 'member'),
);

export const CurrentUser = createParamDecorator((_data: unknown, context: ExecutionContext): UserPrincipal =>
  principalOf(requestOf(context), 'member', 'operator'),
);

/** The caller, a person or an API key, in the form of the audit trail. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor =>
  actorOf(requestOf(context)),
);

/** The person who makes the request, or who issued its API key; null if nobody knows. */
export const CurrentPerson = createParamDecorator((_data: unknown, context: ExecutionContext): string | null => {
  const principal = principalOf(requestOf(context), 'member', 'api-key');
  return principal.kind === 'api-key' ? principal.issuedBy : principal.userId;
});

/** The anonymous caller of a public route. */
export const RequestOrigin = createParamDecorator((_data: unknown, context: ExecutionContext): Origin =>
  originOf(requestOf(context)),
);
