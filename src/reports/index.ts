export {
  REPORT_FORMATS,
  REPORT_LOCALES,
  REPORT_TYPES,
  type ReportFormat,
  type ReportLocale,
  type ReportType,
} from './report.entity.js';
export { ReportWriter } from './report-writer.service.js';
export { ReportsModule } from './reports.module.js';
export { ReportsService } from './reports.service.js';
