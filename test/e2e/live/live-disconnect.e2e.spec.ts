import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { CLI } from '../../../src/audit/index.js';
import { type Config, CONFIG } from '../../../src/core/config/index.js';
import { LiveAcquirersService } from '../../../src/acquirers/index.js';
import { goLive } from '../../support/live-acquirer.js';
import { LiveStory } from '../../support/live-story.js';
import { refundEnd, requestRefund } from '../../support/refunds.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Refused {
  error: { code: string };
}

describe('an account that is disconnected from its PSP', () => {
  const service = TestService.forSpec();
  const story = LiveStory.forSpec(service);

  afterEach(() => story.expectSameBooks());

  const live = () => service.get(LiveAcquirersService);
  const disconnect = () => live().disconnect(story.merchant.accountId, CLI);
  const reconnect = () => goLive(service, story.bank, story.merchant.accountId, { pixKey: story.live.pixKey });

  it('takes no new live charges, while older ones are settled, expired, disputed and refunded as before', async () => {
    const { acquirer, pixKey } = story.live;
    const before = await story.paid();
    const [called, listed, unpaid] = [
      await story.charge(),
      await story.charge(),
      await story.charge({ expires_in: 60 }),
    ];
    const id = acquirer.split(':')[1] ?? '';
    expect(await disconnect()).toEqual({ id, acquirer, psp: 'standard', pixKey });

    const cobs = story.bank.state().cobs.length;
    const charge = await service.createCharge<Refused>(story.key);
    const payment = await service.call<Refused>('POST', '/v1/payments', {
      key: story.key,
      body: { amount: 4990, paymentMethods: ['PIX'], idempotencyKey: randomUUID() },
    });
    for (const { status, body } of [charge, payment]) {
      expect([status, body.error.code]).toEqual([422, 'no_provider_configured']);
    }
    expect(story.bank.state().cobs).toHaveLength(cobs);
    expect((await service.createCharge(story.merchant.testKey)).status).toBe(201);

    story.pay(called);
    await story.becomes(called, 'paid');
    story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });
    const { endToEndId } = story.pay(listed);
    await story.sweepStatement();
    await story.becomes(listed, 'paid');
    story.bank.clearFaults();
    const asked = story.asked('cob.get');
    service.clock.advance(123);
    await waitFor('the end of what nobody paid', async () => {
      const rows = await service.sql(`SELECT 1 FROM transactions WHERE id = $1 AND status = 'EXPIRED'`, [
        unpaid.id.slice(3),
      ]);
      return rows.length === 1;
    });
    expect(story.asked('cob.get')).toBeGreaterThan(asked);

    for (const paid of [before.charge, called]) {
      const { body: refund } = await requestRefund(service, story.key, paid.id, { amount: 500 });
      expect(await refundEnd(service, story.key, refund)).toMatchObject({ status: 'REFUNDED' });
    }
    expect(story.returned(before.endToEndId)).toEqual(['5.00 DEVOLVIDO']);
    const { id: devolution } = story.bank.med({ endToEndId });
    await story.becomes(listed, 'disputed');
    story.bank.settleReturn({ endToEndId, id: devolution });
    await waitFor('the ruling', async () => {
      const rows = await service.sql('SELECT 1 FROM med_cases WHERE payment_reference = $1 AND lost_amount > 0', [
        endToEndId,
      ]);
      return rows.length === 1;
    });
  }, 60_000);

  it('is listed as disconnected, cannot be checked or disconnected again, and returns once it is configured again', async () => {
    const { accountId } = story.merchant;
    expect(await live().list(accountId)).toMatchObject([{ live: false, version: 1 }]);
    const nothing = { status: 422, code: 'no_provider_configured' };
    await expect(disconnect()).rejects.toMatchObject(nothing);
    await expect(live().check(accountId, { baseUrl: null, registration: 'never' }).next()).rejects.toMatchObject(
      nothing,
    );

    const { id, acquirer, renewed, replaced } = await reconnect();
    expect([acquirer, renewed, replaced]).toEqual([story.live.acquirer, true, null]);
    expect(await live().list(accountId)).toMatchObject([{ live: true, version: 2 }]);
    await story.paid();
    const audited = await service.sql(
      `SELECT type, actor_type, data FROM audit_events WHERE account_id = $1 AND type LIKE 'acquirer.%' ORDER BY id`,
      [accountId],
    );
    const data = expect.objectContaining({ connection_id: id, psp: 'standard' });
    expect(audited).toEqual([
      { type: 'acquirer.configured', actor_type: 'system', data },
      { type: 'acquirer.disconnected', actor_type: 'cli', data: { connection_id: id, psp: 'standard' } },
      { type: 'acquirer.configured', actor_type: 'system', data },
    ]);
  });

  it('is disconnected once when more requests come at the same moment than there are connections to the database', async () => {
    const { databasePool } = service.runtime.app.get<Config>(CONFIG);
    const all = await Promise.allSettled(Array.from({ length: databasePool + 1 }, disconnect));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const reasons = all.flatMap((each) => (each.status === 'rejected' ? [each.reason as { code?: string }] : []));
    expect(new Set(reasons.map(({ code }) => code))).toEqual(new Set(['no_provider_configured']));
    await expect(live().disconnect(randomUUID(), CLI)).rejects.toMatchObject({ status: 404 });
    const rows = await service.sql(`SELECT 1 FROM audit_events WHERE type = 'acquirer.disconnected'`);
    expect(rows).toHaveLength(2);
    await reconnect();
  });
});
