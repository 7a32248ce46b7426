import { availableParallelism } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { Passwords } from './passwords.service.js';

describe('passwords', () => {
  const passwords = new Passwords();

  it('match only their own hash, and no password matches a missing hash', async () => {
    const hash = await passwords.hash('correct horse battery');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.hash('correct horse battery')).not.toBe(hash);
    expect(await passwords.verify(hash, 'correct horse battery', { stranger: null })).toBe(true);
    expect(await passwords.verify(hash, 'correct horse battery ', { stranger: null })).toBe(false);
    expect(await passwords.verify(null, 'correct horse battery', { stranger: null })).toBe(false);
    expect(await passwords.verify(null, '', { stranger: null })).toBe(false);
  });

  it('are hashed anew when their stored hash has another cost', async () => {
    const hash = await passwords.hash('correct horse battery');
    expect(passwords.isOutdated(hash)).toBe(false);
    expect(passwords.isOutdated(hash.replace('m=19456', 'm=65536'))).toBe(true);
    expect(passwords.isOutdated(hash.replace('t=2', 't=3'))).toBe(true);
  });

  it.each([
    ['', 'too_short'],
    ['123456789', 'too_short'],
    ['🧉'.repeat(9), 'too_short'],
    ['x'.repeat(257), 'too_long'],
    ['1234567890', 'too_common'],
    ['Q1w2e3r4t5y6', 'too_common'],
    ['          ', 'too_common'],
    ['abababababab', 'too_common'],
  ])('like "%s" are %s', async (password, code) => {
    expect(await passwords.check(password)).toEqual([{ param: 'password', code, message: expect.any(String) }]);
  });

  it.each(['correct horse battery', 'at least ten characters', '🧉🥖🍞'.repeat(85)])(
    'like "%s" are accepted',
    async (password) => {
      expect(await passwords.check(password)).toEqual([]);
    },
  );

  it.each(['Ana.Souza@example.com', 'my ana.souza 2026', 'X Padaria São João'])(
    'like "%s" are refused because they contain the person’s own name or e-mail',
    async (password) => {
      const person = { email: 'ana.souza@example.com', name: 'Padaria São João' };
      expect(await passwords.check(password, person, 'new_password')).toEqual([
        { param: 'new_password', code: 'personal', message: expect.any(String) },
      ]);
      expect(await passwords.check(password, { email: 'rui@example.com', name: 'Rui' })).toEqual([]);
    },
  );

  it('take turns by network, however many addresses of one network try', async () => {
    const order: string[] = [];
    const flood = Array.from({ length: 150 }, (_, index) =>
      passwords.verify(null, 'x', { stranger: `192.0.2.${index}` }).then(
        () => order.push('flood'),
        () => undefined,
      ),
    );
    const own = passwords.verify(null, 'x', { stranger: '198.51.100.7' }).then(() => order.push('own'));
    await Promise.all([...flood, own]);
    // At most two comparisons under way come first, and one of the flood's network in its turn.
    expect(order.indexOf('own')).toBeLessThanOrEqual(3);
  }, 60_000);

  it('wait for no strangers when the user is known, however many networks strangers come from', async () => {
    const order: string[] = [];
    const flood = Array.from({ length: 400 }, (_, index) =>
      passwords.verify(null, 'x', { stranger: `10.${index >> 8}.${index & 255}.1` }).then(
        () => order.push('stranger'),
        () => undefined,
      ),
    );
    const own = passwords.verify(null, 'x', { known: 'maria@example.com' }).then(() => order.push('own'));
    await Promise.all([...flood, own]);
    expect(order.indexOf('own')).toBeLessThanOrEqual(4);
  }, 60_000);

  it('for one e-mail leave the places of other e-mails free, however many devices send them', async () => {
    const order: string[] = [];
    const flood = Array.from({ length: 200 }, () =>
      passwords.verify(null, 'x', { known: 'attacker@example.com' }).then(
        () => order.push('flood'),
        () => undefined,
      ),
    );
    const own = passwords.verify(null, 'x', { known: 'maria@example.com' }).then(() => order.push('own'));
    await Promise.all([...flood, own]);
    expect(order.indexOf('own')).toBeLessThanOrEqual(4);
  }, 60_000);

  it('are compared a few at a time; a hundred wait, and any further one is refused', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 105 }, (_, index) => passwords.verify(null, 'x', { stranger: `192.0.2.${index}` })),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(105 - 100 - (availableParallelism() > 2 ? 2 : 1));
    expect(refused[0]).toMatchObject({ reason: { status: 503, code: 'service_unavailable' } });
    // The places are free again.
    expect(
      await Promise.all([
        passwords.verify(null, 'x', { stranger: null }),
        passwords.verify(null, 'x', { stranger: null }),
      ]),
    ).toEqual([false, false]);
  }, 60_000);
});
