import { beforeAll, describe, expect, it } from '@jest/globals';
import { callbackUrl, LiveAcquirersService } from '../../../src/acquirers/index.js';
import { CLI } from '../../../src/audit/index.js';
import { newEndToEndId } from '../../../src/brazil/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { LiveStory } from '../../support/live-story.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('a stranger who knows the address of callbacks', () => {
  const service = TestService.forSpec({ env: { RATE_LIMIT: 'on' } });
  const story = LiveStory.forSpec(service);
  /** Changed by the first test. */
  let address: string;

  beforeAll(async () => {
    address = pathOf(story.live.callbackUrl);
  });

  const pathOf = (url: string): string => new URL(url).pathname;

  it('gets 404 after the secret was changed and the PSP calls the new address', async () => {
    const { accountId } = story.merchant;
    const id = story.live.acquirer.replace('pix-api:', '');
    const [first, second, third] = [1, 2, 3].map((number) =>
      pathOf(callbackUrl(service.url, service.get(SecretBox), id, number)),
    );
    const statuses = (): Promise<number[]> =>
      Promise.all([first, second, third].map(async (path) => (await service.call('POST', path ?? '')).status));
    const live = service.get(LiveAcquirersService);
    expect(await statuses()).toEqual([200, 404, 404]);
    expect(await live.rotateCallback(accountId, CLI)).toMatchObject({ id, psp: 'standard' });
    expect(await statuses()).toEqual([200, 200, 404]);

    const checked = live.check(accountId, { baseUrl: service.url, registration: 'replace' });
    const findings = [];
    for await (const finding of checked) findings.push(finding);
    expect(findings.at(-1)).toMatchObject({ step: 'webhook', ok: true });
    expect(await statuses()).toEqual([404, 200, 404]);
    address = second ?? '';
    await story.paid();
    const audited = await service.sql(
      `SELECT actor_type, data FROM audit_events WHERE account_id = $1 AND type = 'acquirer.callback_rotated'`,
      [accountId],
    );
    expect(audited).toEqual([{ actor_type: 'cli', data: { connection_id: id, psp: 'standard' } }]);
    // Forged secrets: the signature without its number, or under another number.
    const signature = (second ?? '').split('.').at(-1) ?? '';
    for (const secret of [signature, `3.${signature}`, `02.${signature}`, `1.${signature}`]) {
      expect((await service.call('POST', `/callbacks/pix/${id}/${secret}`)).status).toBe(404);
    }
  }, 60_000);

  it('causes at most 120 queries to the PSP a minute, and true payments are still credited', async () => {
    // More than the limit: confirmed notifications do not count towards it.
    const paid = await Promise.all(Array.from({ length: 130 }, () => story.charge()));
    for (const charge of paid) story.pay(charge);
    await waitFor(
      'all to be paid',
      async () => {
        const [row] = await service.sql<{ paid: string }>(
          `SELECT count(*) AS paid FROM transactions WHERE status = 'PAID' AND id = ANY ($1)`,
          [paid.map(({ id }) => id.slice(3))],
        );
        return row?.paid === '130';
      },
      30_000,
    );

    const before = story.asked('pix.get');
    const began = Date.now();
    const forged = (): object => ({ endToEndId: newEndToEndId('12345678', service.clock.now()) });
    // Fewer than one minute may store
    for (let batch = 0; batch < 2; batch++) {
      const body = { pix: Array.from({ length: 800 }, forged) };
      expect((await service.call('POST', address, { body })).status).toBe(200);
    }
    await waitFor(
      'all to be asked about or put off',
      async () => {
        const [row] = await service.sql<{ due: string }>(
          `SELECT count(*) AS due FROM acquirer_notifications
           WHERE status = 'pending' AND attempts = 0 AND next_attempt_at < received_at + interval '30 seconds'`,
        );
        return row?.due === '0';
      },
      30_000,
    );
    // Two questions become free each second until the count is read.
    const asked = story.asked('pix.get') - before;
    const seconds = Math.ceil((Date.now() - began) / 1000);
    expect(asked).toBeLessThanOrEqual(120 + 2 * seconds);
    expect(asked).toBeGreaterThan(60);

    const late = await story.charge();
    const { endToEndId } = story.pay(late);
    // A slow machine leaves time in which a question becomes free again.
    await waitFor('its callback to be put off or confirmed', async () => {
      const rows = await service.sql(
        `SELECT 1 FROM acquirer_notifications WHERE reference = $1
           AND (status <> 'pending' OR next_attempt_at > now() + interval '30 seconds')`,
        [endToEndId],
      );
      return rows.length === 1;
    });
    await story.sweepStatement();
    await story.becomes(late, 'paid');
    await story.expectSameBooks();
  }, 90_000);
});
