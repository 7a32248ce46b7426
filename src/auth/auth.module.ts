import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Authenticators } from './authenticators.js';
import { AuthGuard, IdempotencyKeyGuard, RateLimitGuard } from './guards.js';

/** Guards are global and deny by default; their order here is the order in which they run. */
@Module({
  providers: [
    Authenticators,
    { provide: APP_GUARD, useClass: AuthGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: IdempotencyKeyGuard },
  ],
  exports: [Authenticators],
})
export class AuthModule {}
