import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { defer, lastValueFrom } from 'rxjs';
import { type Config } from '../core/config/index.js';
import { ANSWERED } from '../core/http/index.js';
import { AsksOthers } from './access.decorators.js';
import type { Principal } from './principal.js';
import { ConcurrencyInterceptor } from './concurrency.interceptor.js';
import { waitFor } from '../../test/support/wait.js';

class Routes {
  read(): void {}
  @AsksOthers()
  ask(): void {}
}

/** A request, which is begun when it is its turn and goes on until it is told to end. */
class Asked {
  isBegun = false;
  end: () => void = () => undefined;
  readonly #response = Object.assign(new EventEmitter(), { destroyed: false, writableEnded: false });
  readonly answered: Promise<unknown>;

  constructor(
    turns: ConcurrencyInterceptor,
    accountId: string,
    method = 'GET',
    route: keyof Routes = 'read',
    userId: string | null = null,
    bytes = 100,
  ) {
    const principal = (
      userId === null ? { kind: 'api-key', accountId, mode: 'test' } : { kind: 'member', accountId, userId }
    ) as Principal;
    const context = {
      switchToHttp: () => ({ getRequest: () => ({ method, principal }), getResponse: () => this.#response }),
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
    this.answered = lastValueFrom(turns.intercept(context, next)).then((value) => {
      this.#response.emit(ANSWERED, bytes);
      return value;
    });
  }

  hangUp(): void {
    this.#response.destroyed = true;
    this.#response.emit('close');
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('reads of one caller', () => {
  const turnsOf = (enabled = true): ConcurrencyInterceptor =>
    new ConcurrencyInterceptor({ rateLimit: { enabled } } as Config, new Reflector());

  it('run two at a time and delay no other caller', async () => {
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

  it('take turns with other reads of their account, and wait for at most two reads of another caller', async () => {
    const turns = turnsOf();
    const member = Array.from({ length: 9 }, () => new Asked(turns, 'a', 'GET', 'read', 'member'));
    await settled();
    const key = new Asked(turns, 'a');
    const owner = new Asked(turns, 'a', 'GET', 'read', 'owner');
    await settled();
    expect([...member, key, owner].filter(({ isBegun }) => isBegun)).toHaveLength(2);
    member[0]?.end();
    member[1]?.end();
    await Promise.all([member[0]?.answered, member[1]?.answered]);
    await settled();
    expect([key.isBegun, owner.isBegun]).toEqual([true, true]);
    expect(member.filter(({ isBegun }) => isBegun)).toHaveLength(2);
  });

  it('pause after a large answer without delaying others', async () => {
    const turns = turnsOf();
    const large = Array.from({ length: 2 }, () => new Asked(turns, 'a', 'GET', 'read', null, 600_000));
    const next = new Asked(turns, 'a', 'GET', 'read', 'member');
    await settled();
    const started = performance.now();
    for (const one of large) one.end();
    expect(await Promise.all(large.map(({ answered }) => answered))).toEqual(['a', 'a']);
    const other = new Asked(turns, 'b');
    await settled();
    expect([next.isBegun, other.isBegun]).toEqual([false, true]);
    await waitFor('the next one', () => next.isBegun);
    expect(performance.now() - started).toBeGreaterThan(90);
  });

  it('pause after a large answer also when the client has hung up', async () => {
    const turns = turnsOf();
    const large = Array.from({ length: 2 }, () => new Asked(turns, 'a', 'GET', 'read', null, 600_000));
    const next = new Asked(turns, 'a', 'GET', 'read', 'member');
    await settled();
    const started = performance.now();
    for (const one of large) {
      one.hangUp();
      one.end();
    }
    await Promise.all(large.map(({ answered }) => answered));
    await settled();
    expect(next.isBegun).toBe(false);
    await waitFor('the next one', () => next.isBegun);
    expect(performance.now() - started).toBeGreaterThan(90);
  });

  it('are not begun when the client hung up in the queue', async () => {
    const turns = turnsOf();
    const asked = Array.from({ length: 4 }, () => new Asked(turns, 'a'));
    await settled();
    const refused = expect(asked[2]?.answered).rejects.toMatchObject({ code: 'client_closed_request' });
    asked[2]?.hangUp();
    asked[0]?.end();
    await refused;
    await settled();
    expect(asked.map(({ isBegun }) => isBegun)).toEqual([true, true, false, true]);
  });

  it('wait for each other with HEAD too, which is as much work', async () => {
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

  it('do not wait when limits are off', async () => {
    const turns = turnsOf(false);
    const asked = Array.from({ length: 5 }, () => new Asked(turns, 'a'));
    await settled();
    expect(asked.every(({ isBegun }) => isBegun)).toBe(true);
  });
});
