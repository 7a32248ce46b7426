import { Injectable, type OnModuleInit } from '@nestjs/common';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { EventCatalog, type NewEvent } from '../outbox/index.js';
import { ReportBody } from './dto/report.body.js';
import type { ReportEntity } from './report.entity.js';
import { reportBody } from './report.serializer.js';

export interface ReportEventData {
  readonly report: ReportBody;
}

declare module '../outbox/index.js' {
  interface DomainEvents {
    'report.ready': ReportEventData;
    'report.failed': ReportEventData;
  }
}

export type ReportEventType = 'report.ready' | 'report.failed';

const DESCRIPTIONS: Readonly<Record<ReportEventType, string>> = {
  'report.ready': 'The file of a report is done.',
  'report.failed': 'The file of a report could not be made.',
};

export function reportEvent(type: ReportEventType, report: ReportEntity, now: Date): NewEvent<ReportEventType> {
  const { accountId, mode, id } = report;
  const body = reportBody(report, null);
  // Events are kept for longer than the report, and no customer is looked for in what they say of it.
  const filters = body.filters?.query ? { ...body.filters, query: null } : body.filters;
  return { type, accountId, mode, subjectId: id, occurredAt: now, data: { report: { ...body, filters } } };
}

/** An event of a report that never was, for merchants who try their receiver. */
function sample(type: ReportEventType, scope: Scope, now: Date): NewEvent<ReportEventType> {
  const isReady = type === 'report.ready';
  const report: ReportEntity = {
    id: newId(now),
    ...scope,
    type: 'statement',
    format: 'csv',
    locale: null,
    from: new Date(now.getTime() - 30 * 86_400_000),
    to: now,
    columns: null,
    filters: null,
    status: isReady ? 'ready' : 'failed',
    rows: isReady ? 1200 : 0,
    totalRows: 1200,
    size: isReady ? 204_800 : null,
    objectName: null,
    createdAt: now,
    readyAt: isReady ? now : null,
    expiresAt: isReady ? new Date(now.getTime() + 7 * 86_400_000) : null,
  };
  return reportEvent(type, report, now);
}

@Injectable()
export class ReportEvents implements OnModuleInit {
  constructor(private readonly catalog: EventCatalog) {}

  onModuleInit(): void {
    for (const [name, description] of Object.entries(DESCRIPTIONS) as [ReportEventType, string][]) {
      this.catalog.register({
        name,
        from: name,
        family: 'canonical',
        description,
        body: ReportBody,
        present: ({ data }) => data.report,
      });
      this.catalog.registerSample([name], sample);
    }
  }
}
