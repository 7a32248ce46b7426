export * from './audit-event.js';
export { AuditEventEntity } from './audit-event.entity.js';
export { AuditModule } from './audit.module.js';
export { AuditTrail } from './audit-trail.service.js';
