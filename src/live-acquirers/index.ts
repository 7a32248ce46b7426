export { CertificateWatch } from './certificate-watch.service.js';
export { type Configuration } from './configuration.js';
export { LiveAcquirersModule } from './live-acquirers.module.js';
export { type Configured, type LiveConnection, LiveAcquirersService } from './live-acquirers.service.js';
