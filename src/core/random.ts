import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4_096;
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Random bytes of the system's generator for ids and nonces. Taken from it a page at a time, as Node.js does for its own
 * UUIDs: asking it for each was a sixteenth of a payment's processor time. Keys and tokens are asked for by themselves.
 * @param count at most 4096
 * @returns bytes that are given to nobody else
 */
export function uniqueBytes(count: number): Buffer {
  if (!Number.isInteger(count) || count < 1 || count > POOL_BYTES)
    throw new RangeError(`${count} bytes were asked for`);
  if (used + count > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}
