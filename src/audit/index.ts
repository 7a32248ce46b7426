export * from './audit-event.js';
export { AUDIT_EVENT_TYPES, type ActorType, type AuditEventType, type Origin } from './audit-event.entity.js';
export { AuditModule } from './audit.module.js';
export { AuditTrail } from './audit-trail.service.js';
