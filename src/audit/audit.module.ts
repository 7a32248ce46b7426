import { Module } from '@nestjs/common';
import { AuditRepository } from './audit.repository.js';
import { AuditTrail } from './audit-trail.service.js';

@Module({ providers: [AuditRepository, AuditTrail], exports: [AuditTrail] })
export class AuditModule {}
