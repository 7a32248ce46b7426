export { addressBucket, networkOf, siteBucket, takeForAddress } from './address-bucket.js';
export { RateLimiter, type RateLimitPolicy, type RateLimitResult, type WindowResult } from './rate-limiter.js';
export { createRateLimiter } from './create-rate-limiter.js';
export { HELD_MS, perMinute, rateLimited, rateLimitHeaders, refuse } from './refusals.js';
export { MemoryRateLimiter } from './memory-rate-limiter.js';
