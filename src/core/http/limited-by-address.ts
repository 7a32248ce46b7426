import type { RequestHandler } from 'express';
import type { Config } from '../config/index.js';
import { perMinute, refuse, type RateLimiter, takeForAddress } from '../rate-limit/index.js';
import { sendError, toApiError } from './error.filter.js';
import { addressOf } from './request.js';

/** @param times how many times RATE_LIMIT_PUBLIC_PER_MINUTE */
export type Limited = (route: string, times: number) => RequestHandler;

/** Limits what Express serves by itself, where no guard stands before it. */
export function limitedByAddress({ enabled, publicPerMinute }: Config['rateLimit'], limiter: RateLimiter): Limited {
  return (route, times) => async (request, response, next) => {
    if (enabled) {
      const taken = await takeForAddress(
        limiter,
        `ip:${route}`,
        addressOf(request),
        perMinute(publicPerMinute * times),
      );
      if (!taken.allowed) {
        await refuse(taken).catch((error: unknown) => sendError(request, response, toApiError(error)));
        return;
      }
    }
    next();
  };
}
