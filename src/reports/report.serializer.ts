import type { ReportBody } from './dto/report.body.js';
import type { ReportEntity } from './report.entity.js';

export function reportId(id: string): string {
  return `rep_${id}`;
}

/** @param downloadUrl null in lists and events, and unless ready */
export function reportBody(report: ReportEntity, downloadUrl: string | null): ReportBody {
  return {
    id: reportId(report.id),
    object: 'report',
    type: report.type,
    format: report.format,
    locale: report.locale,
    from: report.from.toISOString(),
    to: report.to.toISOString(),
    columns: report.columns,
    filters: report.filters,
    status: report.status,
    rows: report.rows,
    progress: progressOf(report),
    size: report.size,
    download_url: downloadUrl,
    created_at: report.createdAt.toISOString(),
    ready_at: report.readyAt?.toISOString() ?? null,
    expires_at: report.expiresAt?.toISOString() ?? null,
  };
}

/** The progress to the hundredth, rounded down; at most 1, even if rows were added after they were counted. */
function progressOf({ readyAt, rows, totalRows }: ReportEntity): number {
  if (readyAt !== null) return 1;
  if (totalRows === null || totalRows === 0) return 0;
  return Math.min(Math.floor((rows * 100) / totalRows), 99) / 100;
}
