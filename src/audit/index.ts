export * from './audit-event.js';
export { AuditModule } from './audit.module.js';
export { AuditTrail } from './audit-trail.service.js';
