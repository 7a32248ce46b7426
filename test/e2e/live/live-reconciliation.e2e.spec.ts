import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay } from '../../../src/brazil/index.js';
import { Metrics } from '../../../src/core/metrics/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { aLivePsp, type LivePsp } from '../../support/live.js';
import { type Ended, runCli } from '../../support/cli.js';
import { refundEnd, requestRefund } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENCRYPTION_KEY = '5f'.repeat(32);

describe('live money at a PSP', () => {
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY } });
  let merchant: Merchant;
  let live: LivePsp;

  beforeAll(async () => {
    merchant = await service.merchant();
    live = await aLivePsp(service, merchant.accountId);
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(() => live.psp.stop([/valor/]));

  async function charge(amount = 1990): Promise<ChargeAnswer> {
    const { status, body } = await service.createCharge(merchant.liveKey, { amount, expires_in: 60 });
    expect(status).toBe(201);
    return body;
  }

  const becomes = (charge: { id: string }, status: string): Promise<unknown> =>
    waitFor(
      `the charge to be ${status}`,
      async () => (await service.getCharge(merchant.liveKey, charge.id)).body.status === status,
    );

  /** The PSP's list ends some seconds before now; the command line reads it by its own clock. */
  const at = (): string => new Date(Date.now() - 4_000).toISOString();
  const pay = ({ pix }: ChargeAnswer) => live.psp.simulator.pay({ txid: pix.txid ?? '', at: at() });

  function reconcile(...args: string[]): Promise<Ended> {
    const env = { DATABASE_URL: service.database.url, ENCRYPTION_KEY };
    return runCli(['reconcile', ...args], env);
  }

  const today = (): Promise<Ended> =>
    reconcile('--account', merchant.accountId, '--day', saoPauloDay(service.clock.now()));

  it('an unreported payment is found in the list, or by a query when the charge expires', async () => {
    const [listed, asked] = [await charge(), await charge()];
    pay(listed);
    await becomes(listed, 'paid');
    await waitFor('the next pass to be a minute away', async () => {
      const rows = await service.sql(`SELECT 1 FROM acquirer_statements WHERE list = 'payments' AND resume_at IS NULL`);
      return rows.length > 0;
    });
    pay(asked);
    // The list is not read in this test: only the question finds the payment.
    await service.sql(`UPDATE acquirer_statements SET next_due_at = 'infinity'`);
    service.clock.advance(123);
    await becomes(asked, 'paid');
    await service.sql('UPDATE acquirer_statements SET next_due_at = now()');
  }, 60_000);

  it('a payment is credited once when the PSP calls back a hundred times, with the path that it appends', async () => {
    const { psp, pixKey, callbackUrl } = live;
    expect((await psp.call('PUT', `/webhook/${pixKey}`, { webhookUrl: callbackUrl })).status).toBe(200);
    const made = await charge(500);
    const { endToEndId } = pay(made);
    psp.simulator.announce({ endToEndId, times: 100 });
    await becomes(made, 'paid');
    await waitFor('all callbacks to be delivered', () =>
      psp.simulator.state().callbacks.every(({ outcome }) => outcome === 'delivered'),
    );
    const bodies = await service.sql('SELECT 1 FROM acquirer_callbacks WHERE acquirer = $1', [live.acquirer]);
    expect(bodies.length).toBeLessThanOrEqual(2);
  });

  it('a Pix straight to the key is shown to operators', async () => {
    const { psp, pixKey } = live;
    const { endToEndId } = psp.simulator.pay({ key: pixKey, amount: 700, at: at() });
    await service.sql('UPDATE acquirer_statements SET next_due_at = now()');
    const { token } = await service.operator();
    await waitFor('the Pix', async () =>
      (await service.call('GET', '/v1/operations/unmatched', { token })).text.includes(endToEndId),
    );
  });

  it('a refund, and a MED by callback, leave our books and the PSP`s equal', async () => {
    const [refunded, disputed] = [await charge(), await charge()];
    pay(refunded);
    const { endToEndId } = pay(disputed);
    await becomes(refunded, 'paid');
    await becomes(disputed, 'paid');
    const { body: refund } = await requestRefund(service, merchant.liveKey, refunded.id, { amount: 990 });
    expect(await refundEnd(service, merchant.liveKey, refund)).toMatchObject({ status: 'REFUNDED' });
    const { id } = live.psp.simulator.med({ endToEndId });
    await becomes(disputed, 'disputed');
    live.psp.simulator.settleReturn({ endToEndId, id });
    await waitFor('the ruling', async () => {
      const rows = await service.sql('SELECT 1 FROM med_cases WHERE lost_amount = 1990');
      return rows.length === 1;
    });
    const same = await today();
    expect([same.code, same.stderr]).toEqual([0, '']);
    expect(JSON.parse(same.stdout)).toMatchObject({
      account_id: merchant.accountId,
      acquirers: [{ acquirer: live.acquirer, differences: [] }],
    });
  }, 60_000);

  it('a return made in the bank`s app is reported as a difference: exit code 1, for people and as JSON', async () => {
    const made = await charge();
    const { endToEndId } = pay(made);
    await becomes(made, 'paid');
    await live.psp.call('PUT', `/pix/${endToEndId}/devolucao/app1`, { valor: '1.00' });
    const differs = await today();
    expect(differs.code).toBe(1);
    expect(differs.stderr).toContain(`${endToEndId}/app1: money went back that was not asked for here`);
    expect(JSON.parse(differs.stdout)).toMatchObject({
      acquirers: [{ differences: [{ kind: 'return_not_asked', end_to_end_id: endToEndId, return_id: 'app1' }] }],
    });
    expect(differs.stdout + differs.stderr).not.toContain(live.psp.credentials.clientSecret);
  });

  it('an amount that the PSP writes with one decimal digit is credited', async () => {
    const made = await charge(77_770);
    expect(live.psp.simulator.pay({ txid: made.pix.txid ?? '', at: at(), written: '777.7' }).valor).toBe('777.7');
    await service.sql('UPDATE acquirer_statements SET next_due_at = now()');
    await becomes(made, 'paid');
  });

  it('an unreadable Pix is reported as a difference and shown to operators until it can be read and credited', async () => {
    const { token } = await service.operator();
    const listed = async (): Promise<Record<string, unknown>[]> =>
      (await service.call<{ data: Record<string, unknown>[] }>('GET', '/v1/operations/unreadable', { token })).body
        .data;
    const counted = async (metric: 'notifications' | 'statementOddities'): Promise<number> => {
      const { values } = await service.get(Metrics)[metric].get();
      return values
        .filter(({ labels }) => Object.values(labels).includes('unreadable'))
        .reduce((sum, { value }) => sum + value, 0);
    };
    const made = await charge(77_770);
    const { endToEndId } = live.psp.simulator.pay({ txid: made.pix.txid ?? '', at: at(), written: '777.701' });
    await service.sql('UPDATE acquirer_statements SET next_due_at = now()');
    const [entry] = await waitFor('it to be listed', async () => {
      const found = await listed();
      return found.length > 0 && found;
    });
    expect(entry).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'unreadable',
      kind: 'pix',
      acquirer: live.acquirer,
      reference: endToEndId,
      unreadable_since: expect.stringMatching(/Z$/),
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await counted('notifications')).toBeGreaterThan(0);
    await waitFor('the list to be read', async () => (await counted('statementOddities')) > 0);
    const differs = await today();
    expect(differs.code).toBe(1);
    expect(differs.stderr).toContain(`${live.acquirer} ${endToEndId}: in the acquirer's list, and cannot be read`);
    const [compared] = (
      JSON.parse(differs.stdout) as { acquirers: { differences: { kind: string; end_to_end_id: string }[] }[] }
    ).acquirers;
    expect(compared?.differences).toContainEqual({
      ...{ kind: 'unreadable', end_to_end_id: endToEndId, return_id: null, case_id: null, here: null, there: null },
    });
    // However many questions failed, the notification is never set aside.
    await service.sql('UPDATE acquirer_notifications SET attempts = 60, next_attempt_at = now() WHERE reference = $1', [
      endToEndId,
    ]);
    const asked = await counted('notifications');
    await waitFor('one more attempt', async () => (await counted('notifications')) > asked);
    expect(await listed()).toHaveLength(1);
    expect((await service.getCharge(merchant.liveKey, made.id)).body.status).toBe('pending');
    live.psp.simulator.write(endToEndId, null);
    await service.sql('UPDATE acquirer_notifications SET next_attempt_at = now() WHERE reference = $1', [endToEndId]);
    await becomes(made, 'paid');
    expect(await listed()).toEqual([]);
  }, 60_000);

  it('a comparison of a day that has not begun in São Paulo is refused', async () => {
    // The command uses its own clock.
    const tomorrow = saoPauloDay(new Date(Date.now() + 86_400_000));
    const { code, stdout, stderr } = await reconcile('--account', merchant.accountId, '--day', tomorrow);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      new RegExp(`'--day <day>' argument '${tomorrow}' .* in the future: in São Paulo it is \\d{4}-\\d{2}-\\d{2}\\.\n`),
    );
  });

  it('a wrong command line ends with exit code 2, an unknown account with 1', async () => {
    const nobody = '019aa0f0-0000-7000-8000-000000000001';
    const finished = await Promise.all([
      reconcile('--account', nobody),
      reconcile('--account', 'nobody', '--day', '2026-11-21'),
      reconcile('--account', nobody, '--day', '2026-02-30'),
      reconcile('--account', nobody, '--day', '2026-11-21'),
    ]);
    expect(finished.map(({ code, stdout }) => [code, stdout])).toEqual([2, 2, 2, 1].map((code) => [code, '']));
    for (const { stderr } of finished) expect(stderr).not.toContain('    at ');
  }, 60_000);
});
