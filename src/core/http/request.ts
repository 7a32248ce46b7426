import type { Request } from 'express';
import type { Mode } from '../mode.js';
import { bareAddress } from '../net/index.js';

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
    /** When it was received, by `performance.now()`. */
    receivedAt: number;
    callerForLog?: CallerForLog;
    /** Lets the caller in again, as of now; of a route that lets in only known ones. @throws ApiError 401, 403 */
    admitAgain?: () => Promise<void>;
    /** The mode in which a person at the dashboard asks for a route of keys: see `enterDoor`. */
    door?: Mode;
    /** The `error.code` it was answered with. */
    errorCode?: string;
  }
}

const DOOR = /^\/v1\/dashboard\/(test|live)(?=\/)/;

/**
 * The dashboard's door to the routes of keys: `/v1/dashboard/test/payments` is `/v1/payments`, in test mode, for a
 * person who is logged in. The guards decide who may pass.
 */
export function enterDoor(request: Pick<Request, 'url' | 'door'>): void {
  const [way, mode] = DOOR.exec(request.url) ?? [];
  if (way === undefined) return;
  request.door = mode as Mode;
  request.url = `/v1${request.url.slice(way.length)}`;
}

/** Whether nothing is written by it. */
export function isRead({ method }: Pick<Request, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Where the caller is, or the proxy that is not trusted; nothing is known of a connection that is gone. */
export function addressOf(request: { readonly ip?: string | undefined }): string {
  return bareAddress(request.ip ?? '');
}

/** The route's path as it was registered (`/v1/charges/:id`), for logs and limits; none has matched: undefined. */
export function routeOf(request: Request): string | undefined {
  return (request.route as { path: string } | undefined)?.path;
}
