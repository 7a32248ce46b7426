import { createSecretKey } from 'node:crypto';
import { Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { JwtService } from '@nestjs/jwt';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { type Config, CONFIG, localSecret } from '../core/config/index.js';
import { workers } from '../core/work/index.js';
import { AuthController } from './auth.controller.js';
import { Authenticators } from './authenticators.service.js';
import { AuthGuard, RateLimitGuard, RoleGuard } from './guards.js';
import { LoginFailuresProcessor } from './login-failures.processor.js';
import { LoginFailuresRepository } from './login-failures.repository.js';
import { LoginFailures } from './login-failures.service.js';
import { DeviceCookie } from './device-cookie.service.js';
import { DoorAuditInterceptor } from './door-audit.interceptor.js';
import { LoginService } from './login.service.js';
import { JWT_SECRET, LoginThrottle } from './login-throttle.service.js';
import { NoticesController } from './notices.controller.js';
import { PersonController } from './person.controller.js';
import { PersonService } from './person.service.js';
import { SecondFactorProof } from './second-factor-proof.service.js';
import { SecondFactorRule } from './second-factor-rule.service.js';
import { SessionCookie } from './session-cookie.service.js';
import { Sessions } from './sessions.service.js';
import { SessionsRepository } from './sessions.repository.js';
import { ConcurrencyInterceptor } from './concurrency.interceptor.js';

const ISSUER = 'recebe';
const AUDIENCE = 'recebe-dashboard';

/**
 * Accepts a single algorithm, whatever a token's header names. The key object is made once. Given a text, the library
 * would try it as a public key first, which costs forty times the verification at every request.
 */
function jwtService(secret: string): JwtService {
  return new JwtService({
    secret: createSecretKey(secret, 'utf8'),
    signOptions: { algorithm: 'HS256', issuer: ISSUER, audience: AUDIENCE },
    verifyOptions: { algorithms: ['HS256'], issuer: ISSUER, audience: AUDIENCE },
  });
}

/** Guards are global and deny by default; they run in this order. */
@Module({
  imports: [AccountsModule, AuditModule],
  controllers: [AuthController, NoticesController, PersonController],
  providers: [
    Authenticators,
    {
      provide: JWT_SECRET,
      useFactory: (config: Config) => config.jwtSecret ?? localSecret(config.dataDir, 'jwt-secret'),
      inject: [CONFIG],
    },
    { provide: JwtService, useFactory: jwtService, inject: [JWT_SECRET] },
    ...workers(LoginFailuresProcessor),
    LoginFailures,
    LoginFailuresRepository,
    LoginService,
    LoginThrottle,
    PersonService,
    SecondFactorProof,
    SecondFactorRule,
    SessionCookie,
    DeviceCookie,
    Sessions,
    SessionsRepository,
    { provide: APP_GUARD, useClass: AuthGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: RoleGuard },
    { provide: APP_INTERCEPTOR, useClass: ConcurrencyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: DoorAuditInterceptor },
  ],
  exports: [Authenticators, SecondFactorProof, SecondFactorRule],
})
export class AuthModule {}
