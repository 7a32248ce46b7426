export * from './access.decorators.js';
export { AuthModule } from './auth.module.js';
export { Authenticators } from './authenticators.js';
export { type ApiKeyPrincipal } from './principal.js';
