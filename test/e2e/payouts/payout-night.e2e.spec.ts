import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/accounts/index.js';
import { SYSTEM } from '../../../src/audit/index.js';
import type { PayoutBody } from '../../../src/payouts/index.js';
import { PayoutSchedules } from '../../../src/payouts/payout-schedules.service.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aFundedMerchant,
  aPayout,
  OTHER_CPF,
  payoutOf,
  readPayout,
  type PayoutOrError,
} from '../../support/payouts.js';
import { type Answer, type Merchant, type Person, TestClock, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const DAY_MS = 86_400_000;
/** Time that a sandbox payout needs. */
const AT_BANK_SECONDS = 2;

describe('the limit of the night, when a payout is sent', () => {
  const clock = new TestClock().stand();
  const service = TestService.forSpec({ clock });
  let merchant: Merchant;
  let owner: Person;
  /** Midnight of a Thursday in São Paulo, two weeks after the last test. */
  let day = Date.parse('2030-01-03T03:00:00Z');

  beforeEach(async () => {
    day += 14 * DAY_MS;
    moveTo('12:00:00.000');
    merchant = await aFundedMerchant(service, {
      ...{ payout_approval_above: 500, payout_night_max: 1_000 },
      ...{ amount: 100_000, fraud_mode: 'off' },
    });
    owner = await service.member(merchant.accountId, 'OWNER');
  });
  afterEach(async () => {
    await expectLedgerCoherent(service.database.url);
  });

  /** @param time in São Paulo @param days after the day of the test */
  function timeOf(time: string, days = 0): number {
    return day + days * DAY_MS + (Date.parse(`1970-01-01T${time}Z`) % DAY_MS);
  }

  function moveTo(time: string, days = 0): void {
    clock.advance((timeOf(time, days) - clock.now().getTime()) / 1_000);
  }

  /** Approves with a new login: the hours between two steps are longer than one lasts. */
  const approve = async (id: string): Promise<Answer<PayoutOrError>> =>
    service.call<PayoutOrError>('POST', `/v1/dashboard/test/payouts/${id}/approve`, {
      token: await service.login(owner.email),
      body: {},
    });
  const ask = (amount: number): Promise<PayoutBody> =>
    aPayout(service, merchant.testKey, { amount, allow_duplicate: true });
  /** The payout, once it is put off until this morning. */
  const putOff = async (id: string, days = 1): Promise<void> => {
    const morning = new Date(timeOf('06:00:00.000', days)).toISOString();
    await waitFor('the payout to be put off', async () => {
      const { status, send_after: sendAfter } = await readPayout(service, merchant.testKey, id);
      return status === 'pending' && sendAfter === morning;
    });
  };
  const sent = async (ids: readonly string[], end: 'paid' | 'failed' = 'paid'): Promise<void> => {
    await waitFor('the bank to have them', async () => {
      const payouts = await Promise.all(ids.map((id) => readPayout(service, merchant.testKey, id)));
      return payouts.every(({ processing_reason: reason }) => reason === 'sent');
    });
    clock.advance(AT_BANK_SECONDS);
    for (const id of ids) await payoutOf(service, merchant.testKey, id, end);
  };

  it('sends at 19:59:59.999 a payout of any amount, which the night does not count', async () => {
    const [large, small] = [await ask(5_000), await ask(600)];
    moveTo('19:59:59.999');
    expect((await approve(large.id)).status).toBe(200);
    await payoutOf(service, merchant.testKey, large.id, 'processing');
    moveTo('20:00:00.000');
    expect((await approve(small.id)).status).toBe(200);
    await sent([small.id]);
  });

  it('puts off at 20:00 and at 05:59:59.999 a payout above the limit, and sends it at 06:00', async () => {
    const [evening, morning] = [await ask(1_001), await ask(1_002)];
    moveTo('20:00:00.000');
    expect((await approve(evening.id)).status).toBe(200);
    await putOff(evening.id);
    moveTo('05:59:59.999', 1);
    expect((await approve(morning.id)).status).toBe(200);
    await putOff(morning.id);
    expect((await readPayout(service, merchant.testKey, evening.id)).status).toBe('pending');
    moveTo('06:00:00.000', 1);
    await sent([evening.id, morning.id]);
  });

  it('counts what was sent since 20:00, but not what failed, and starts anew in the next night', async () => {
    const [first, refused, next] = [await ask(600), await ask(900), await ask(1_000)];
    const simulated = { key: merchant.testKey, body: { event: 'fail' } };
    await service.call('POST', `/v1/sandbox/payouts/${refused.id}/simulate`, simulated);
    moveTo('22:00:00.000');
    await approve(refused.id);
    await sent([refused.id], 'failed');
    await approve(first.id);
    await sent([first.id]);
    moveTo('03:00:00.000', 1);
    const later = await ask(401);
    await putOff(later.id);
    await sent([(await ask(400)).id]);
    moveTo('06:00:00.000', 1);
    await sent([later.id]);
    moveTo('21:00:00.000', 1);
    await approve(next.id);
    await sent([next.id]);
  });

  it('is not lifted by an OWNER, who is told that the payout waits for the morning', async () => {
    const [{ id }, early] = [await ask(2_000), await ask(600)];
    moveTo('21:00:00.000');
    await approve(early.id);
    await sent([early.id]);
    await approve(id);
    await putOff(id);
    // The approval is known: its repetition changes nothing.
    const again = await approve(id);
    expect([again.status, again.body.send_after]).toEqual([200, new Date(timeOf('06:00:00.000', 1)).toISOString()]);
    const unapproved = await ask(401);
    await putOff(unapproved.id);
    const answer = await approve(unapproved.id);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'payout_not_waiting']);
  });

  it('lets no more than the limit leave when 16 payouts are sent at once', async () => {
    const payouts: PayoutBody[] = [];
    for (let each = 0; each < 16; each++) payouts.push(await ask(501 + each));
    await service.get(AccountsService).change(merchant.accountId, { payoutNightMax: 2_100 }, SYSTEM);
    moveTo('20:30:00.000');
    const answers = await Promise.all(payouts.map(({ id }) => approve(id)));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(16).fill(200));
    const counts = async (): Promise<{ sent: number; later: number } | undefined> => {
      const [row] = await service.sql<{ sent: number; later: number }>(
        `SELECT count(*) FILTER (WHERE status <> 'QUEUED')::int AS sent,
           count(*) FILTER (WHERE status = 'QUEUED' AND send_after > $2)::int AS later
         FROM payouts WHERE account_id = $1`,
        [merchant.accountId, clock.now()],
      );
      return row;
    };
    await waitFor('12 to be put off', async () => (await counts())?.later === 12);
    expect(await counts()).toEqual({ sent: 4, later: 12 });
    moveTo('06:00:00.000', 1);
    await waitFor('all to be sent', async () => (await counts())?.sent === 16);
  });

  it('holds for the payout of a schedule that was made by day and waits', async () => {
    const { body } = await service.call<{ id: string }>('POST', '/v1/payout-destinations', {
      key: merchant.testKey,
      body: { type: 'pix_key', key: OTHER_CPF },
    });
    const destination = body.id.slice('pd_'.length);
    const payoutSchedule = { every: 'day', on: null, at: '18:00', destination, leave: 0, minimum: 1 } as const;
    await service.get(AccountsService).change(merchant.accountId, { payoutSchedule }, SYSTEM);
    moveTo('18:00:00.000');
    await service.get(PayoutSchedules).run(merchant.accountId);
    const [made] = await service.sql<{ id: string }>('SELECT id FROM payouts WHERE account_id = $1', [
      merchant.accountId,
    ]);
    const id = `po_${String(made?.id)}`;
    moveTo('23:00:00.000');
    expect((await approve(id)).status).toBe(200);
    await putOff(id);
    moveTo('06:00:00.000', 1);
    await sent([id]);
  });
});
