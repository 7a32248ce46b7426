export { RequestLogsModule } from './request-logs.module.js';
export { RequestLogsService } from './request-logs.service.js';
