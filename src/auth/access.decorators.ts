import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiHeader, ApiSecurity } from '@nestjs/swagger';
import type { Scope } from '../core/mode.js';
import { ApiErrors } from '../core/http/index.js';
import { type ApiKeyPrincipal, principalOf } from './principal.js';

export type Access = 'public' | 'api-key';

export const ACCESS = Symbol('access');
export const IDEMPOTENT = Symbol('idempotent');
export const IP_LIMIT = Symbol('ip limit');
export const TEST_ONLY = Symbol('test keys only');

/** Nobody is asked who they are. The list of public routes is held by a test: adding one is a decision. */
export function Public(): MethodDecorator & ClassDecorator {
  return SetMetadata(ACCESS, 'public' satisfies Access);
}

/** Server-to-server: the `apikey` header. */
export function ApiKeyAuth(): MethodDecorator & ClassDecorator {
  return applyDecorators(
    SetMetadata(ACCESS, 'api-key' satisfies Access),
    ApiSecurity('apikey'),
    ApiErrors(401, 429, 500, 503),
  );
}

/** A financial write: without the header `Idempotency-Key` it is a 400. */
export function IdempotencyKeyRequired(): MethodDecorator {
  return applyDecorators(
    SetMetadata(IDEMPOTENT, true),
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description:
        '8 to 128 printable ASCII characters, new for each intended write. A repetition within 24 hours gets the first answer with `Idempotent-Replayed: true`.',
      schema: { type: 'string', minLength: 8, maxLength: 128 },
      example: 'order-1042-attempt-1',
    }),
  );
}

/** Limits a public route by the caller's address, to RATE_LIMIT_PUBLIC_PER_MINUTE. */
export function LimitPerIp(): MethodDecorator {
  return SetMetadata(IP_LIMIT, true);
}

/** A sandbox route: a live key gets 404, before its body is looked at. */
export function TestKeysOnly(): MethodDecorator & ClassDecorator {
  return SetMetadata(TEST_ONLY, true);
}

/** Account and mode of the caller: what every query of the request is restricted to. */
export const CurrentScope = createParamDecorator((_data: unknown, context: ExecutionContext): Scope => {
  const { accountId, mode } = principalOf(context.switchToHttp().getRequest());
  return { accountId, mode };
});

export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext): ApiKeyPrincipal =>
  principalOf(context.switchToHttp().getRequest()),
);
