import type { Request } from 'express';

/** What the guards found out about the caller, for the request log: of a key, or of a user. */
export interface CallerForLog {
  accountId?: string;
  mode?: string;
  apiKeyFingerprint?: string;
  userId?: string;
}

declare module 'express-serve-static-core' {
  interface Request {
    id: string;
    /** Of `performance.now()`. */
    receivedAt: number;
    callerForLog?: CallerForLog;
    /** The `error.code` it was answered with. */
    errorCode?: string;
  }
}

/** Where the caller is, or the proxy that is not trusted; nothing is known of a connection that is gone. */
export function addressOf(request: Request): string {
  return request.ip ?? '';
}

/** The route's path as it was registered (`/v1/charges/:id`), for logs and limits; none has matched: undefined. */
export function routeOf(request: Request): string | undefined {
  return (request.route as { path: string } | undefined)?.path;
}
