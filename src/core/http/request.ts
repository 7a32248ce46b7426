import type { Request } from 'express';
import type { Mode } from '../mode.js';
import { bareAddress } from '../net/index.js';

/** Facts about the caller for the request log, set by the guards: about a key, or a user. */
export interface CallerForLog {
  accountId?: string;
  mode?: string;
  apiKeyFingerprint?: string;
  userId?: string;
}

declare module 'express-serve-static-core' {
  interface Request {
    id: string;
    /** Time at which it was received, by `performance.now()`. */
    receivedAt: number;
    callerForLog?: CallerForLog;
    /** Authenticates the caller again; set on routes that need a login or key. @throws ApiError 401, 403 */
    admitAgain?: () => Promise<void>;
    /** The mode in which a person at the dashboard calls a route of keys: see `enterDoor`. */
    door?: Mode;
    /** The `error.code` of its answer. */
    errorCode?: string;
  }
}

const DOOR = /^\/v1\/dashboard\/(test|live)(?=\/)/;

/**
 * Rewrites addresses of the dashboard's door to the routes of keys: `/v1/dashboard/test/payments` is `/v1/payments`, in
 * test mode, for a logged-in person. The guards decide who may pass.
 */
export function enterDoor(request: Pick<Request, 'url' | 'door'>): void {
  const [way, mode] = DOOR.exec(request.url) ?? [];
  if (way === undefined) return;
  request.door = mode as Mode;
  request.url = `/v1${request.url.slice(way.length)}`;
}

/** Returns whether the request writes nothing. */
export function isRead({ method }: Pick<Request, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Returns the address of the caller, or of a proxy that is not trusted; no address is known once the connection is
 * gone.
 */
export function addressOf(request: { readonly ip?: string | undefined }): string {
  return bareAddress(request.ip ?? '');
}

/**
 * Returns the route's path as it was registered (`/v1/charges/:id`), for logs and limits; undefined if none has
 * matched.
 */
export function routeOf(request: Request): string | undefined {
  return (request.route as { path: string } | undefined)?.path;
}
