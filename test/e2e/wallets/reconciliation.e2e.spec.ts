import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WorkService } from '../../../src/core/work/index.js';
import {
  AcquirersService,
  ConnectionsService,
  ConfirmationService,
  InboxService,
  type NotificationHint,
} from '../../../src/acquirers/index.js';
import { newEndToEndId, newReturnId, saoPauloDay } from '../../../src/brazil/index.js';
import { Database } from '../../../src/core/database/index.js';
import { Metrics } from '../../../src/core/metrics/index.js';
import { Retention } from '../../../src/core/retention.js';
import { type Difference, ReconciliationService, StatementsService } from '../../../src/reconciliation/index.js';
import { PIX_LISTS } from '../../../src/reconciliation/statements.entity.js';
import { StatementsRepository } from '../../../src/reconciliation/statements.repository.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { FarBank } from '../../support/far-bank.js';
import { available, refundEnd, requestRefund } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

/** Registers the banks as connections of the account. */
function haveConnections(service: TestService, accountId: string, banks: readonly FarBank[]): void {
  const [connections, names] = [service.get(ConnectionsService), banks.map(({ name }) => name)];
  jest
    .spyOn(connections, 'acquirersOf')
    .mockImplementation(async (whose) => (whose === null || whose === accountId ? names : []));
  jest.spyOn(connections, 'ownerOf').mockImplementation(async (_, name) => (names.includes(name) ? accountId : null));
}

describe('a bank with a list of received Pix', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  const bank = new FarBank('list-bank');

  beforeAll(async () => {
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    merchant = await service.merchant();
    haveConnections(service, merchant.accountId, [bank]);
    bank.publish();
  });
  afterEach(async () => {
    bank.blind = false;
    bank.returnFault = () => null;
    await expectLedgerCoherent(service.database.url);
  });

  const charge = async (amount = 1990): Promise<ChargeAnswer> =>
    (await service.createCharge(merchant.testKey, { amount })).body;

  /** Pays without a notification. */
  const payInSilence = ({ pix, amount }: ChargeAnswer) =>
    bank.receive({ txid: pix.txid ?? '', amount }, { settledAt: service.clock.now() });

  it.each([
    ['before the charge', -20_000 * 86_400_000],
    ['ahead of now', 50 * 60_000],
  ])('a time of the bank %s is not trusted, since the release day counts from it', async (_, ms) => {
    const { body: made } = await service.createCharge(merchant.testKey, { amount: 1990, expires_in: 86_400 });
    const settledAt = new Date(service.clock.now().getTime() + ms);
    const { endToEndId } = bank.receive({ txid: made.pix.txid ?? '', amount: 1990 }, { settledAt });
    await tell({ kind: 'pix', reference: endToEndId });
    const [times] = await service.sql<{ isBetween: boolean }>(
      `SELECT paid_at BETWEEN created_at AND $2 AS "isBetween" FROM transactions WHERE id = $1`,
      [made.id.slice(3), service.clock.now()],
    );
    expect(times).toEqual({ isBetween: true });
  });

  async function paid(amount = 1990): Promise<{ id: string; endToEndId: string }> {
    const made = await charge(amount);
    const { endToEndId } = payInSilence(made);
    await tell({ kind: 'pix', reference: endToEndId });
    return { id: made.id, endToEndId };
  }

  async function tell(hint: NotificationHint): Promise<string> {
    const inbox = service.get(InboxService);
    const id = await service.get(Database).transaction((tx) => inbox.store(tx, bank.name, hint));
    await service.get(ConfirmationService).confirm(id);
    return id;
  }

  const statusOf = async ({ id }: { id: string }): Promise<string> =>
    (await service.getCharge(merchant.testKey, id)).body.status;

  /** Reads one window of the list, at the next minute. */
  async function sweep(list: 'payments' | 'returns' = 'payments'): Promise<void> {
    service.clock.advance(1); // a window ends before this very moment
    await service.get(StatementsService).read(bank.name, list);
  }

  async function progress(list = 'payments') {
    const [row] = await service.sql<{ swept_until: Date | null; next_due_at: Date; attempts: number }>(
      'SELECT swept_until, next_due_at, attempts FROM acquirer_statements WHERE acquirer = $1 AND list = $2',
      [bank.name, list],
    );
    return row;
  }

  async function differences(day = saoPauloDay(service.clock.now())): Promise<readonly Difference[]> {
    const { acquirers, notCompared } = await service.get(ReconciliationService).compare(merchant.accountId, day);
    expect(notCompared).toEqual([]);
    return acquirers.flatMap((acquirer) => acquirer.differences);
  }

  it('the service reads the list itself, so that an unreported payment is credited within the minute', async () => {
    const made = await charge();
    payInSilence(made);
    await waitFor('the payment', async () => (await statusOf(made)) === 'paid');
    const first = await progress();
    expect(first?.swept_until).not.toBeNull();
    const second = await charge();
    payInSilence(second);
    service.clock.advance(65);
    await waitFor('the second', async () => (await statusOf(second)) === 'paid');
  });

  it('a payment is credited once when callback and list come together', async () => {
    const before = await available(service, merchant.testKey);
    const made = await Promise.all(Array.from({ length: 20 }, () => charge(100)));
    const pix = made.map(payInSilence);
    await Promise.all([
      ...pix.map(({ endToEndId: reference }) => tell({ kind: 'pix', reference })),
      ...Array.from({ length: 4 }, () => sweep()),
    ]);
    for (const each of made) await waitFor('the payment', async () => (await statusOf(each)) === 'paid');
    expect(await available(service, merchant.testKey)).toBe(before + 2000);
    expect(await differences()).toEqual([]);
  });

  it('a list is left to its reader while the lease is renewed, and then to another reader', async () => {
    const statements = service.get(StatementsRepository);
    const database = service.get(Database);
    const name = 'held-bank';
    const start = service.clock.now().getTime();
    const after = (seconds: number): Date => new Date(start + seconds * 1000);
    const claim = async (now: number, until: number): Promise<string[]> => {
      const due = await database.transaction((tx) => statements.claimDue(tx, [name], after(now), after(until), 10));
      return due.map(({ list }) => list);
    };
    await database.transaction(async (tx) => statements.ensure(tx, [name], PIX_LISTS, after(0)));
    expect(await claim(0, 30)).toContain('payments');
    const held = await statements.find(name, 'payments');
    if (!held) throw new Error('no list');
    const renewed = await database.transaction((tx) => statements.renew(tx, held, after(60)));
    expect(renewed.nextDueAt).toEqual(after(60));
    expect(await claim(31, 61)).not.toContain('payments');
    expect(await claim(61, 91)).toContain('payments');
    // Too late: neither renewed nor saved.
    expect(await database.transaction((tx) => statements.renew(tx, renewed, after(120)))).toEqual(renewed);
    await database.transaction(async (tx) => statements.save(tx, renewed, { ...renewed, sweptUntil: after(5) }, null));
    expect(await statements.find(name, 'payments')).toMatchObject({ sweptUntil: null, nextDueAt: after(91) });
  });

  it('an unreadable list is read again from the same position', async () => {
    const made = await charge();
    payInSilence(made);
    await sweep();
    await waitFor('the payment', async () => (await statusOf(made)) === 'paid');
    const before = await progress();
    bank.blind = true;
    service.clock.advance(3 * 3600);
    const sweptAt = service.clock.now();
    // The service reads the list too when the clock allows: the first of both readers fails.
    await sweep();
    await waitFor('the failure', async () => (await progress())?.attempts === 1);
    const failed = await progress();
    expect(failed).toMatchObject({ swept_until: before?.swept_until, attempts: 1 });
    expect(failed?.next_due_at.getTime()).toBeGreaterThan(sweptAt.getTime() + 50_000);
    bank.blind = false;
    const late = await charge();
    payInSilence(late);
    service.clock.advance(61);
    await waitFor('all of the three hours', async () => (await statusOf(late)) === 'paid');
    expect(await progress()).toMatchObject({ attempts: 0 });
  });

  it('a Pix without a charge or with an unknown txid is shown to operators once', async () => {
    const strays = [null, 'y'.repeat(26)].map((txid) =>
      bank.receive({ txid: '', amount: 5 }, { txid, settledAt: service.clock.now() }),
    );
    await sweep();
    await sweep();
    const { token } = await service.operator();
    await waitFor('both', async () => {
      const { text } = await service.call('GET', '/v1/operations/unmatched', { token });
      return strays.every(({ endToEndId }) => text.split(endToEndId).length === 2);
    });
    expect(await differences()).toEqual([]);
  });

  it('a return is queried at once after news of it, for refunds and for automatic returns', async () => {
    const { id, endToEndId } = await paid();
    bank.blind = true;
    bank.returnFault = () => 'lost after';
    const { body: refund } = await requestRefund(service, merchant.testKey, id, { amount: 90, strategy: 'devolution' });
    const wrong = bank.receive(
      { txid: (await charge()).pix.txid ?? '', amount: 1 },
      { settledAt: service.clock.now() },
    );
    bank.blind = false;
    await tell({ kind: 'pix', reference: wrong.endToEndId });
    bank.blind = true;
    const name = newReturnId(refund.id);
    await waitFor(
      'both to be asked for',
      () => bank.returns.has(`${endToEndId}/${name}`) && bank.returnsOf(wrong.endToEndId)[0],
    );
    const own = bank.returnsOf(wrong.endToEndId)[0]?.returnId ?? '';
    await waitFor('both to be in flight', async () => {
      const rows = await service.sql(
        `SELECT subject_id FROM work WHERE kind = 'refund' AND subject_id = $1 AND attempts > 0 AND leased_until IS NULL
         UNION ALL SELECT id FROM pix_returns WHERE return_id = $2 AND status = 'IN_PROGRESS'`,
        [refund.id, own],
      );
      return rows.length === 2;
    });
    // During the longest pause
    const later = `now() + interval '1 hour'`;
    await service.sql(`UPDATE work SET due_at = ${later} WHERE subject_id = $1`, [refund.id]);
    await service.sql(
      `UPDATE work SET due_at = ${later} WHERE subject_id = (SELECT id FROM pix_returns WHERE return_id = $1)`,
      [own],
    );
    bank.blind = false;
    await tell({ kind: 'return', reference: `${endToEndId}/${name}/DEVOLVIDO` });
    await tell({ kind: 'return', reference: `${wrong.endToEndId}/${own}/DEVOLVIDO` });
    expect(await refundEnd(service, merchant.testKey, refund)).toMatchObject({ status: 'REFUNDED' });
    const [row] = await service.sql('SELECT status FROM pix_returns WHERE return_id = $1', [own]);
    expect(row).toEqual({ status: 'RETURNED' });
    expect(await differences()).toEqual([]);
  });

  it('news of an unknown return is kept for a while, then set aside', async () => {
    const { endToEndId } = await paid();
    const hint = { kind: 'return', reference: `${endToEndId}/somebodyelse/DEVOLVIDO` } as const;
    const id = await tell(hint);
    const stateOf = () => service.sql('SELECT status, attempts FROM acquirer_notifications WHERE id = $1', [id]);
    expect(await stateOf()).toEqual([{ status: 'pending', attempts: 1 }]);
    await service.sql('UPDATE acquirer_notifications SET attempts = 39 WHERE id = $1', [id]);
    await service.get(ConfirmationService).confirm(id);
    expect(await stateOf()).toEqual([{ status: 'ignored', attempts: 40 }]);
    service.clock.advance(31 * 86_400);
    try {
      while (await service.get(Retention).remove('acquirer_notifications'));
    } finally {
      service.clock.advance(-31 * 86_400);
    }
    // The service's own sweep may run too.
    await waitFor('its end', async () => (await stateOf()).length === 0);
  });

  it('disputes and returns are read once a day: an unreported dispute opens its case, an ended return is queried', async () => {
    const { id, endToEndId } = await paid();
    const pix = bank.pix.get(endToEndId);
    if (!pix) throw new Error('The bank has lost a Pix');
    const dispute = bank.dispute(pix);
    const { reference } = dispute;
    const hint = { kind: 'dispute', reference } as const;
    bank.unasked.set(endToEndId, [
      { returnId: 'med', amount: pix.amount, state: 'in_progress', cause: 'dispute', hint },
    ]);
    expect(await differences()).toMatchObject([{ kind: 'dispute_unknown', endToEndId }]);
    await service.sql('DELETE FROM acquirer_statements WHERE acquirer = $1', [bank.name]);
    await waitFor('the case', async () => (await statusOf({ id })) === 'disputed');
    await waitFor('the dispute to be applied', async () => (await differences()).length === 0);

    bank.rule(dispute, 'agreed');
    await tell(hint);
    bank.unasked.delete(endToEndId);
    // The service's own sweep may run too, and then applies it.
    await waitFor('the ruling to be applied', async () => (await differences()).length === 1);
    expect(await differences()).toMatchObject([
      { kind: 'dispute_missing_there', endToEndId, here: { amount: pix.amount, state: 'returned' }, there: null },
    ]);
    const taken = { returnId: 'med', amount: pix.amount, state: 'returned', cause: 'dispute', hint } as const;
    bank.unasked.set(endToEndId, [taken]);
    expect(await differences()).toEqual([]);
  });

  const readAgain = (list: string) =>
    service.sql('DELETE FROM acquirer_statements WHERE acquirer = $1 AND list = $2', [bank.name, list]);

  it('a payment that the bank listed long after its time is credited by the daily pass', async () => {
    const made = await charge();
    const paidAt = service.clock.now();
    service.clock.advance(20 * 60);
    const later = service.clock.now();
    const isRead = async (): Promise<boolean> => ((await progress())?.swept_until ?? paidAt) >= later;
    await waitFor('the list to be read', isRead);
    bank.receive({ txid: made.pix.txid ?? '', amount: made.amount }, { settledAt: paidAt });
    await sweep();
    expect(await statusOf(made)).toBe('pending');
    await readAgain('late_payments');
    await waitFor('the payment', async () => (await statusOf(made)) === 'paid');
  });

  it('a payment whose notification was set aside before the bank knew it is credited', async () => {
    const made = await charge();
    const endToEndId = newEndToEndId('12345678', service.clock.now());
    const hint = { kind: 'pix', reference: endToEndId } as const;
    const id = await tell(hint);
    // The bank does not know the Pix for the fortieth time, a day later.
    await service.sql('UPDATE acquirer_notifications SET attempts = 39 WHERE id = $1', [id]);
    await service.get(ConfirmationService).confirm(id);
    expect(await service.sql('SELECT status FROM acquirer_notifications WHERE id = $1', [id])).toEqual([
      { status: 'ignored' },
    ]);
    bank.receive({ txid: made.pix.txid ?? '', amount: made.amount }, { endToEndId, settledAt: service.clock.now() });
    await sweep();
    await waitFor('the payment', async () => (await statusOf(made)) === 'paid');
  });

  it('a failed return is shown to operators, and raises an alarm when the bank has made it after all', async () => {
    const made = await charge();
    bank.returnFault = () => 'refused';
    const wrong = { txid: made.pix.txid ?? '', amount: 7 };
    const { endToEndId } = bank.receive(wrong, { settledAt: service.clock.now() });
    await tell({ kind: 'pix', reference: endToEndId });
    const { token } = await service.operator();
    const listed = async () => {
      const { body } = await service.call<{ data: { end_to_end_id: string }[] }>('GET', '/v1/operations/unmatched', {
        token,
      });
      return body.data.filter((pix) => pix.end_to_end_id === endToEndId);
    };
    await waitFor('the list', async () => (await listed()).length > 0);
    expect(await listed()).toMatchObject([{ charge_id: made.id, reason: 'wrong_amount', amount: 7 }]);

    const [name, booked] = [...bank.returns].find(([, { reference }]) => reference === endToEndId) ?? [];
    if (!name || !booked) throw new Error('The bank has lost a return');
    bank.returns.set(name, { ...booked, refused: false });
    const alarms = async () => (await service.get(Metrics).statementOddities.get()).values;
    expect(await alarms()).toEqual([]);
    await readAgain('returns');
    await waitFor('the alarm', async () => (await alarms()).length > 0);
    expect(await alarms()).toMatchObject([{ labels: { what: 'failed_return_moved' } }]);
  });

  it('a completed refund that the bank reports as failed raises an alarm', async () => {
    bank.returnFault = () => null;
    const { id, endToEndId } = await paid();
    const { body } = await requestRefund(service, merchant.testKey, id, { strategy: 'devolution' });
    expect(await refundEnd(service, merchant.testKey, body)).toMatchObject({ status: 'REFUNDED' });
    const [name, booked] = [...bank.returns].find(([, { reference }]) => reference === endToEndId) ?? [];
    if (!name || !booked) throw new Error('The bank has lost a return');
    bank.returns.set(name, { ...booked, refused: true });
    const alarms = async () =>
      (await service.get(Metrics).statementOddities.get()).values.filter(
        ({ labels }) => labels.what === 'made_return_failed',
      );
    await readAgain('returns');
    await waitFor('the alarm', async () => (await alarms()).length > 0);
    // The bank completes the refund after all, so that its books and ours agree again.
    bank.returns.set(name, booked);
  });

  describe('compared with our books for a day', () => {
    it('reports missing payments on both sides, other amounts, and unknown returns', async () => {
      // Starts a fresh day.
      service.clock.advance(2 * 86_400);
      const [same, other, gone, back, refunded] = [
        await paid(),
        await paid(),
        await paid(),
        await paid(),
        await paid(),
      ];
      const { body: refund } = await requestRefund(service, merchant.testKey, refunded.id, {
        amount: 500,
        strategy: 'devolution',
      });
      await refundEnd(service, merchant.testKey, refund);
      expect(await differences()).toEqual([]);

      const changed = bank.pix.get(other.endToEndId);
      if (!changed) throw new Error('The bank has lost a Pix');
      bank.pix.set(other.endToEndId, { ...changed, amount: 2000 });
      bank.pix.delete(gone.endToEndId);
      const hint = { kind: 'return', reference: `${back.endToEndId}/app/DEVOLVIDO` } as const;
      bank.unasked.set(back.endToEndId, [
        { returnId: 'app', amount: 700, state: 'returned', cause: 'requested', hint },
      ]);
      const name = `${refunded.endToEndId}/${newReturnId(refund.id)}`;
      const booked = bank.returns.get(name);
      if (!booked) throw new Error('The bank has lost a return');
      bank.returns.set(name, { ...booked, amount: 501, refused: true });
      const endToEndId = newEndToEndId('12345678', new Date());
      // Taken before the sweeper adds anything.
      bank.blind = false;
      const result = service.get(ReconciliationService).compare(merchant.accountId, saoPauloDay(service.clock.now()));
      const [acquirer] = (await result).acquirers;
      expect(acquirer?.differences.map(({ kind, endToEndId: e2e }) => [kind, e2e]).sort()).toEqual(
        [
          ['amount_differs', other.endToEndId],
          ['missing_there', gone.endToEndId],
          ['return_not_asked', back.endToEndId],
          ['return_amount_differs', refunded.endToEndId],
          ['return_state_differs', refunded.endToEndId],
        ].sort(),
      );
      expect(acquirer).toMatchObject({ here: { count: 5, amount: 9950, returned: 500 }, there: { count: 4 } });
      bank.receive({ txid: '', amount: 3 }, { endToEndId, txid: null, settledAt: service.clock.now() });
      const unknown = (await differences()).filter((difference) => difference.kind === 'missing_here');
      expect(unknown).toEqual([
        {
          kind: 'missing_here',
          endToEndId,
          returnId: null,
          caseId: null,
          here: null,
          there: { amount: 3, state: null },
        },
      ]);
      expect(same.id).toMatch(/^ch_/);
      await service.get(WorkService).sweep();
    });

    it('uses days in São Paulo: the last second belongs to the day, the next second does not', async () => {
      service.clock.advance(10 * 86_400);
      const day = saoPauloDay(service.clock.now());
      const midnight = new Date(`${day}T03:00:00.000Z`);
      for (const ms of [-1, 0, 1, 86_399_999, 86_400_000]) {
        const settledAt = new Date(midnight.getTime() + ms);
        const { endToEndId } = bank.receive({ txid: '', amount: 1 }, { txid: null, settledAt });
        await tell({ kind: 'pix', reference: endToEndId });
      }
      const { acquirers } = await service.get(ReconciliationService).compare(merchant.accountId, day);
      expect(acquirers).toMatchObject([{ here: { count: 3 }, there: { count: 3 }, differences: [] }]);
    });

    it('the comparison is refused for an account without such an acquirer and for an unknown account', async () => {
      const { accountId } = await service.merchant();
      const reconciliation = service.get(ReconciliationService);
      await expect(reconciliation.compare(accountId, '2026-11-21')).rejects.toMatchObject({
        code: 'no_provider_configured',
      });
      await expect(reconciliation.compare('019aa0f0-0000-7000-8000-000000000001', '2026-11-21')).rejects.toMatchObject({
        status: 404,
      });
    });
  });
});

describe('two connections that see one account at a bank', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  const old = new FarBank('old-connection');
  const renewed = Object.assign(new FarBank('new-connection'), { pix: old.pix });

  beforeAll(async () => {
    const acquirers = service.get(AcquirersService);
    for (const bank of [old, renewed]) {
      acquirers.register(bank, { servesTestMode: true });
      bank.publish();
    }
    merchant = await service.merchant();
    haveConnections(service, merchant.accountId, [old, renewed]);
  });
  afterEach(async () => {
    old.blind = false;
    await expectLedgerCoherent(service.database.url);
  });

  it('a comparison names the connection that does not answer, and compares the other one', async () => {
    old.blind = true;
    const day = saoPauloDay(service.clock.now());
    const { acquirers, notCompared } = await service.get(ReconciliationService).compare(merchant.accountId, day);
    expect(notCompared).toEqual([{ acquirer: old.name, error: 'time-out' }]);
    expect(acquirers).toMatchObject([{ acquirer: renewed.name, differences: [] }]);
  });

  it.each([
    // Charges of test mode; for a live charge reported by the other connection see one-book.integration.spec.ts.
    ['the one that asked for the charge', renewed],
  ])(
    'a payment is credited once and never shown as stray, whichever connection reports it: %s',
    async (_, teller) => {
      const { body: charge } = await service.createCharge(merchant.testKey);
      const { endToEndId: reference } = renewed.receive(
        { txid: charge.pix.txid ?? '', amount: charge.amount },
        { settledAt: service.clock.now() },
      );
      const inbox = service.get(InboxService);
      const id = await service
        .get(Database)
        .transaction((tx) => inbox.store(tx, teller.name, { kind: 'pix', reference }));
      await service.get(ConfirmationService).confirm(id);
      const statusOf = async () => (await service.getCharge(merchant.testKey, charge.id)).body.status;
      await waitFor('the payment', async () => (await statusOf()) === 'paid');
      for (const { name } of [old, renewed]) await service.get(StatementsService).read(name, 'payments');
      const day = saoPauloDay(service.clock.now());
      const { acquirers } = await service.get(ReconciliationService).compare(merchant.accountId, day);
      expect(acquirers.map(({ differences }) => differences)).toEqual([[], []]);
      const settled = await service.sql('SELECT acquirer, outcome FROM settlements WHERE end_to_end_id = $1', [
        reference,
      ]);
      expect(settled).toEqual([{ acquirer: renewed.name, outcome: 'credited' }]);
    },
    30_000,
  );
});
