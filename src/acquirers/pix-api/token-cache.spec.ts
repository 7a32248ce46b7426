import { describe, expect, it } from '@jest/globals';
import { type Token, TokenCache } from './token-cache.js';

describe('TokenCache', () => {
  let now = 0;
  let fetched = 0;
  const fetch = async (): Promise<Token> => {
    fetched += 1;
    return { value: `t${fetched}`, scope: null, expiresAt: now + 100_000 };
  };
  const start = (): TokenCache => {
    now = 0;
    fetched = 0;
    return new TokenCache(() => now);
  };

  it('fetches once for all concurrent callers, for each key', async () => {
    const cache = start();
    const tokens = await Promise.all([cache.get('a', fetch), cache.get('a', fetch), cache.get('b', fetch)]);
    expect(tokens.map(({ value }) => value)).toEqual(['t1', 't1', 't2']);
  });

  it('refreshes a token before it ends, while callers still use the old one', async () => {
    const cache = start();
    await cache.get('a', fetch);
    now = 85_000;
    expect((await cache.get('a', fetch)).value).toBe('t1');
    expect((await cache.get('a', fetch)).value).toBe('t2');
    expect(fetched).toBe(2);
  });

  it('keeps the old token when a refresh fails, and does not try again at once', async () => {
    const cache = start();
    await cache.get('a', fetch);
    now = 85_000;
    let failed = 0;
    const fail = async (): Promise<Token> => {
      failed += 1;
      throw new Error('down');
    };
    for (let call = 0; call < 3; call += 1) {
      expect((await cache.get('a', fail)).value).toBe('t1');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(failed).toBe(1);
    now = 95_000;
    await expect(cache.get('a', fail)).rejects.toThrow('down');
  });

  it('replaces a refused token once, whichever caller notices first', async () => {
    const cache = start();
    await cache.get('a', fetch);
    const [one, other] = await Promise.all([cache.get('a', fetch, 't1'), cache.get('a', fetch, 't1')]);
    expect([one.value, other.value]).toEqual(['t2', 't2']);
    expect((await cache.get('a', fetch, 't1')).value).toBe('t2');
  });

  it('lets a short-lived token serve for half its life', async () => {
    const cache = start();
    const brief = async (): Promise<Token> => ({ ...(await fetch()), expiresAt: now + 2_000 });
    await cache.get('a', brief);
    now = 900;
    expect((await cache.get('a', brief)).value).toBe('t1');
    now = 1_100;
    expect((await cache.get('a', brief)).value).toBe('t2');
  });
});
