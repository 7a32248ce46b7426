import { describe, expect, it } from '@jest/globals';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { defer, lastValueFrom } from 'rxjs';
import { type Config } from '../core/config/index.js';
import { AsksOthers } from './access.decorators.js';
import type { Principal } from './principal.js';
import { TurnsInterceptor } from './turns.interceptor.js';

class Routes {
  read(): void {}
  @AsksOthers()
  ask(): void {}
}

/** A request, which is begun when it is its turn and goes on until it is told to end. */
class Asked {
  isBegun = false;
  end: () => void = () => undefined;
  readonly answered: Promise<unknown>;

  constructor(turns: TurnsInterceptor, accountId: string, method = 'GET', route: keyof Routes = 'read') {
    const principal = { kind: 'api-key', accountId, mode: 'test' } as Principal;
    const context = {
      switchToHttp: () => ({ getRequest: () => ({ method, principal }) }),
      getHandler: () => Object.getOwnPropertyDescriptor(Routes.prototype, route)?.value as unknown,
    } as unknown as ExecutionContext;
    const next: CallHandler = {
      handle: () =>
        defer(() => {
          this.isBegun = true;
          return new Promise((resolve) => {
            this.end = () => resolve(accountId);
          });
        }),
    };
    this.answered = lastValueFrom(turns.intercept(context, next));
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('reads of one caller', () => {
  const turnsOf = (enabled = true): TurnsInterceptor =>
    new TurnsInterceptor({ rateLimit: { enabled } } as Config, new Reflector());

  it('are two at a time, and keep nobody else waiting', async () => {
    const turns = turnsOf();
    const ours = Array.from({ length: 5 }, () => new Asked(turns, 'a'));
    const theirs = new Asked(turns, 'b');
    await settled();
    expect(ours.map(({ isBegun }) => isBegun)).toEqual([true, true, false, false, false]);
    expect(theirs.isBegun).toBe(true);
    ours[1]?.end();
    expect(await ours[1]?.answered).toBe('a');
    await settled();
    expect(ours.map(({ isBegun }) => isBegun)).toEqual([true, true, true, false, false]);
  });

  it('wait for each other where only the head of an answer is asked for, which is as much work', async () => {
    const turns = turnsOf();
    const asked = Array.from({ length: 5 }, () => new Asked(turns, 'a', 'HEAD'));
    await settled();
    expect(asked.filter(({ isBegun }) => isBegun)).toHaveLength(2);
  });

  it.each([
    ['a write', 'POST', 'read'],
    ['what asks an acquirer', 'GET', 'ask'],
  ] as const)('do not hold up %s', async (_what, method, route) => {
    const turns = turnsOf();
    const asked = Array.from({ length: 5 }, () => new Asked(turns, 'a', method, route));
    await settled();
    expect(asked.every(({ isBegun }) => isBegun)).toBe(true);
  });

  it('do not wait where nothing is limited', async () => {
    const turns = turnsOf(false);
    const asked = Array.from({ length: 5 }, () => new Asked(turns, 'a'));
    await settled();
    expect(asked.every(({ isBegun }) => isBegun)).toBe(true);
  });
});
