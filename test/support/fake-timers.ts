import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, jest } from '@jest/globals';

/**
 * Jest's timers in each test of a `describe`: time moves only by `jest.advanceTimersByTimeAsync`. The named exports of
 * `node:timers/promises` change too; Jest alone replaces only the properties of that module.
 */
export function withFakeTimers(): void {
  beforeEach(() => {
    jest.useFakeTimers();
    syncBuiltinESMExports();
  });
  afterEach(() => {
    jest.useRealTimers();
    syncBuiltinESMExports();
  });
}
