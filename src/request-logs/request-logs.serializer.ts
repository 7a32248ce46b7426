import type { RequestLogBody } from './dto/request-log.body.js';
import type { RequestLogEntity as RequestLog } from './request-log.entity.js';

export function requestLogBody(log: RequestLog): RequestLogBody {
  return {
    id: log.id,
    object: 'request_log',
    requestId: log.requestId,
    mode: log.mode,
    apiKeyFingerprint: log.apiKeyFingerprint,
    userId: log.userId,
    method: log.method,
    route: log.route,
    path: log.path,
    status: log.status,
    errorCode: log.errorCode,
    durationMs: log.durationMs,
    ip: log.ip,
    createdAt: log.createdAt.toISOString(),
  };
}
