import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay } from '../../../src/brazil/index.js';
import { type Difference, ReconciliationService } from '../../../src/reconciliation/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { LiveStory } from '../../support/live-story.js';
import { answerCase, decideCase, medQueue } from '../../support/med.js';
import { runCli } from '../../support/cli.js';
import { requestRefund } from '../../support/refunds.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENCRYPTION_KEY = '6e'.repeat(32);

/** A Pix that its payer's bank claims back, and its case here */
interface Disputed {
  readonly endToEndId: string;
  /** Id of the devolution */
  readonly id: string;
  readonly caseId: string;
}

describe('money that a PSP took back by the MED, compared with our cases', () => {
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY, MED_AUTO_RULINGS: 'false' } });
  const story = LiveStory.forSpec(service);
  let token: string;

  beforeAll(async () => {
    token = (await service.operator()).token;
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  /** The bank's list is read until some seconds before now. */
  const listed = (): Promise<void> => delay(4_500);

  async function disputed(amount?: number): Promise<Disputed> {
    const paid = await story.paid({ amount: 1990 });
    await listed();
    return wantedBack(paid, amount);
  }

  async function wantedBack({ endToEndId }: Pick<Disputed, 'endToEndId'>, amount?: number): Promise<Disputed> {
    const { id } = story.bank.med({ endToEndId, ...(amount !== undefined && { amount }) });
    const [{ case_id } = { case_id: '' }] = await waitFor('the case', async () => {
      const rows = await service.sql<{ case_id: string }>(
        `SELECT 'med_' || id AS case_id FROM med_cases WHERE payment_reference = $1`,
        [endToEndId],
      );
      return rows.length > 0 && rows;
    });
    return { endToEndId, id, caseId: case_id };
  }

  /** The bank rules the dispute. */
  const ends = ({ endToEndId, id }: Disputed, status: 'DEVOLVIDO' | 'NAO_REALIZADO' = 'DEVOLVIDO') =>
    story.bank.settleReturn({ endToEndId, id, status });

  const review = ({ caseId }: Disputed, kind: string) =>
    waitFor(`${caseId} to wait for its ${kind}`, async () =>
      (await medQueue(service, token, `?review=${kind}`)).some(({ id }) => id === caseId),
    );

  async function decided({ caseId }: Disputed, action: 'approve' | 'dismiss', body: object = {}): Promise<void> {
    const { status, text } = await decideCase(service, token, caseId, action, body);
    expect([status, text]).toEqual([200, text]);
  }

  /** Differences of all Pix at the bank: unnamed Pix agree on both sides. */
  async function differences(): Promise<readonly Difference[]> {
    const day = saoPauloDay(service.clock.now());
    const { acquirers, notCompared } = await service.get(ReconciliationService).compare(story.merchant.accountId, day);
    expect(notCompared).toEqual([]);
    return acquirers.flatMap((acquirer) => acquirer.differences);
  }

  const differs = (kind: Difference['kind'], { endToEndId, id, caseId }: Disputed) => ({
    ...{ kind, endToEndId, returnId: id, caseId: caseId.slice(4) },
  });

  // Runs first: the command uses another clock than the service, and later tests move the service's clock.
  it('a case where the bank took another amount than was lost here is reported as a difference with advice', async () => {
    const one = await disputed(1000);
    await review(one, 'amount_mismatch');
    expect(await differences()).toEqual([]);
    await decided(one, 'approve', { amount: 500 });
    expect(await differences()).toEqual([]);
    ends(one);
    await review(one, 'ruling');
    expect(await differences()).toMatchObject([differs('dispute_waits', one)]);
    await decided(one, 'approve');
    await review(one, 'contradiction');
    const sides = { here: { amount: 500, state: 'returned' }, there: { amount: 1000, state: 'returned' } };
    expect(await differences()).toEqual([{ ...differs('dispute_waits', one), ...sides }]);
    await decided(one, 'dismiss');
    expect(await differences()).toEqual([{ ...differs('dispute_amount_differs', one), ...sides }]);

    const day = saoPauloDay(service.clock.now());
    const env = { DATABASE_URL: service.database.url, ENCRYPTION_KEY };
    const command = ['reconcile', '--account', story.merchant.accountId, '--day', day];
    const { code, stdout, stderr } = await runCli(command, env);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      acquirers: [
        {
          differences: [
            {
              ...{ kind: 'dispute_amount_differs', end_to_end_id: one.endToEndId, return_id: one.id },
              ...{ case_id: one.caseId, ...sides },
            },
          ],
        },
      ],
    });
    expect(stderr).toBe(
      [
        `${day}: 1 difference`,
        `  ${story.live.acquirer} ${one.endToEndId}/${one.id} ${one.caseId}: the amounts of a dispute differ (here R$ 5,00 returned, there R$ 10,00 returned)`,
        '    Within a day the case follows the bank, or waits for an operator, unless one has dismissed what it says: then approve the case, or settle it with the PSP.',
        '',
      ].join('\n'),
    );
    await decided(one, 'approve');
    expect(await differences()).toEqual([]);
  });

  it('a case is not reported while it is open, reported as waiting once the bank has taken the money, and not after the decision', async () => {
    const one = await disputed();
    expect(await differences()).toEqual([]);
    ends(one);
    await review(one, 'ruling');
    expect(await differences()).toEqual([
      {
        ...differs('dispute_waits', one),
        ...{ here: { amount: 1990, state: 'in_progress' }, there: { amount: 1990, state: 'returned' } },
      },
    ]);
    await decided(one, 'approve');
    expect(await differences()).toEqual([]);
    const day = saoPauloDay(service.clock.now());
    const { acquirers } = await service.get(ReconciliationService).compare(story.merchant.accountId, day);
    // Includes the 1000 of the case above.
    expect(acquirers).toMatchObject([{ here: { returned: 2990 }, there: { returned: 2990 } }]);
  });

  it('a dispute of a stray Pix ends when an operator has booked the amount the bank took', async () => {
    const { endToEndId } = story.bank.pay({ key: story.live.pixKey, amount: 820 });
    await listed();
    await story.sweepStatement();
    const pix = await waitFor('the Pix', async () => {
      const found = 'SELECT id FROM settlements WHERE end_to_end_id = $1';
      return (await service.sql<{ id: string }>(found, [endToEndId]))[0];
    });
    const { id } = story.bank.med({ endToEndId });
    const waits = async (): Promise<boolean> => {
      const { body } = await service.call<{ data: { reference: string; payment: string }[] }>(
        'GET',
        '/v1/operations/med/waiting',
        { token },
      );
      return body.data.some(({ reference, payment }) => reference.includes(id) && payment === 'unmatched');
    };
    await waitFor('the dispute at the operators', waits);
    const asked = async (): Promise<string[]> => {
      await service.sql(`UPDATE acquirer_notifications SET next_attempt_at = now() WHERE reference LIKE '%' || $1`, [
        id,
      ]);
      await delay(1_500);
      const rows = await service.sql<{ status: string }>(
        `SELECT status FROM acquirer_notifications WHERE kind = 'dispute' AND reference LIKE '%' || $1`,
        [id],
      );
      return rows.map(({ status }) => status);
    };
    // Simulates a return on its way. If the bank refused it, the Pix could still pay a sale: the dispute has to wait.
    await service.sql('ALTER TABLE settlements DISABLE TRIGGER USER');
    await service.sql(`UPDATE settlements SET outcome = 'returned' WHERE id = $1`, [pix.id]);
    expect(await asked()).toEqual(['pending']);
    await service.sql(`UPDATE settlements SET outcome = 'unmatched' WHERE id = $1`, [pix.id]);
    await service.sql('ALTER TABLE settlements ENABLE TRIGGER USER');
    ends({ endToEndId, id, caseId: '' });
    expect(await differences()).toMatchObject([{ kind: 'dispute_unknown', endToEndId }]);
    const closed = await service.call('POST', `/v1/operations/unmatched/${pix.id}/correct`, {
      token,
      body: {
        ...{ kind: 'returned_elsewhere', bank_reference: id },
        ...{ reason: 'Taken back by the MED', idempotency_key: randomUUID() },
      },
    });
    expect(closed.status).toBe(200);
    await waitFor('the dispute to end', async () => (await asked())[0] === 'applied');
    expect(await differences()).toEqual([]);
  });

  it('a case that the merchant gave up before the bank takes the money is not reported as a difference', async () => {
    const one = await disputed();
    expect((await answerCase(service, story.key, one.caseId, 'accept')).status).toBe(200);
    expect(await differences()).toEqual([]);
    ends(one);
    expect(await differences()).toEqual([]);
  });

  it('money that the bank took in an open case is reported as a difference when the ruling was dismissed or never arrived', async () => {
    const dismissed = await disputed();
    ends(dismissed);
    await review(dismissed, 'ruling');
    await decided(dismissed, 'dismiss');
    const sides = { here: { amount: 1990, state: 'in_progress' }, there: { amount: 1990, state: 'returned' } };
    expect(await differences()).toEqual([{ ...differs('dispute_state_differs', dismissed), ...sides }]);
    await decided(dismissed, 'approve');
    expect(await differences()).toEqual([]);

    const unheard = await disputed();
    story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });
    ends(unheard);
    expect(await differences()).toEqual([{ ...differs('dispute_state_differs', unheard), ...sides }]);
    story.bank.clearFaults();
    await story.sweepStatement();
    await review(unheard, 'ruling');
    expect(await differences()).toEqual([{ ...differs('dispute_waits', unheard), ...sides }]);
    await decided(unheard, 'approve');
  });

  it('a case that was lost here although the bank left the money is reported as a difference, before and after the decision', async () => {
    const one = await disputed();
    expect((await answerCase(service, story.key, one.caseId, 'accept')).status).toBe(200);
    ends(one, 'NAO_REALIZADO');
    await review(one, 'contradiction');
    const sides = { here: { amount: 1990, state: 'returned' }, there: { amount: 1990, state: 'failed' } };
    expect(await differences()).toEqual([{ ...differs('dispute_waits', one), ...sides }]);
    await decided(one, 'dismiss');
    expect(await differences()).toEqual([{ ...differs('dispute_state_differs', one), ...sides }]);
    await decided(one, 'approve');
    expect(await differences()).toEqual([]);
  });

  it('a case that was dismissed for its amount is opened again when the bank took the money after all', async () => {
    const { charge, endToEndId } = await story.paid({ amount: 1990 });
    await listed();
    const before = await story.balance();
    expect((await requestRefund(service, story.key, charge.id, { amount: 990 })).status).toBe(201);
    await waitFor('the refund', () => story.returned(endToEndId).includes('9.90 DEVOLVIDO'));
    const one = await wantedBack({ endToEndId }, 1000);
    await review(one, 'amount_mismatch');
    await decided(one, 'dismiss');
    ends(one);
    await review(one, 'contradiction');
    expect(await differences()).toMatchObject([differs('dispute_waits', one)]);
    await decided(one, 'dismiss');
    const sides = { here: { amount: 1000, state: 'failed' }, there: { amount: 1000, state: 'returned' } };
    expect(await differences()).toEqual([{ ...differs('dispute_state_differs', one), ...sides }]);
    // When it is approved after all, the bank's ruling needs a review like every ruling here.
    await decided(one, 'approve');
    await review(one, 'ruling');
    await decided(one, 'approve');
    expect(await differences()).toEqual([]);
    expect(await story.balance()).toEqual({ ...before, available: before.available - 1990 });
    await story.becomes(charge, 'disputed');
  });
});
