import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { mergeMap, type Observable } from 'rxjs';
import { AuditTrail } from '../audit/index.js';
import { Database } from '../core/database/index.js';
import { AUDITED_AT_DOOR, type DoorAudit } from './access.decorators.js';
import { actorOf } from './principal.js';

/**
 * Records writes by a person at the dashboard's door that programs make all day, and that no use case records. The
 * event is written after the write. If recording fails, the answer is an error, and the repetition is recorded. Stored
 * answers are not recorded.
 */
@Injectable()
export class DoorAuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly database: Database,
    private readonly audit: AuditTrail,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<unknown> {
    const audited = this.reflector.get<DoorAudit | undefined>(AUDITED_AT_DOOR, context.getHandler());
    const request = context.switchToHttp().getRequest<Request>();
    const { principal, door: mode } = request;
    if (audited === undefined || mode === undefined || principal?.kind !== 'member') return next.handle();
    return next.handle().pipe(
      mergeMap(async (answer) => {
        // A financial write returns its body and whether it is a stored answer.
        const { body, replayed } =
          'replayed' in answer && 'body' in answer ? answer : { body: answer, replayed: false };
        if (replayed === true || !audited.isDone(body as Record<string, unknown>)) return answer;
        const id = request.params['evidence_id'] ?? request.params['id'] ?? (body as { id?: string }).id;
        await this.database.transaction(async (tx) => {
          this.audit.record(tx, actorOf(request), audited.type, principal.accountId, { data: { id, mode } });
        });
        return answer;
      }),
    );
  }
}
