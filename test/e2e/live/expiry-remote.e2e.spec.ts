import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AcquirersService, ConfirmationService, InboxDispatcher, InboxService } from '../../../src/acquirers/index.js';
import { Database } from '../../../src/core/database/index.js';
import { ExpiryProcessor } from '../../../src/transactions/expiry/expiry.processor.js';
import { ExpiryQuestions } from '../../../src/transactions/expiry/expiry-questions.service.js';
import { ExpiryService } from '../../../src/transactions/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { FarBank } from '../../support/far-bank.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('a charge of a remote acquirer past its expiry', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  const bank = new FarBank();

  beforeAll(async () => {
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    merchant = await service.merchant();
  });
  afterEach(async () => {
    bank.blind = false;
    bank.unreadable.clear();
    await expectLedgerCoherent(service.database.url);
  });

  const charge = async (): Promise<ChargeAnswer> =>
    (await service.createCharge(merchant.testKey, { expires_in: 60 })).body;
  const statusOf = async ({ id }: ChargeAnswer): Promise<string> => (await rowOf(id)).status;

  async function rowOf(id: string): Promise<{ status: string; asked: boolean }> {
    const [row] = await service.sql<{ status: string; asked: boolean }>(
      'SELECT status, expiry_asked_at IS NOT NULL AS asked FROM transactions WHERE id = $1',
      [id.slice(3)],
    );
    return row ?? { status: 'none', asked: false };
  }

  /** Waits until the charge was claimed for a question, or the first one has come to its end. */
  const has = ({ id }: ChargeAnswer, column: 'expiry_ask_at' | 'expiry_first_asked_at'): Promise<boolean> =>
    waitFor(column, async () => {
      const rows = await service.sql(`SELECT 1 FROM transactions WHERE id = $1 AND ${column} IS NOT NULL`, [
        id.slice(3),
      ]);
      return rows.length > 0;
    });

  const eventsOf = async ({ id }: ChargeAnswer): Promise<string[]> => {
    const rows = await service.sql<{ type: string }>('SELECT type FROM events WHERE subject_id = $1 ORDER BY id', [
      id.slice(3),
    ]);
    return rows.map(({ type }) => type);
  };

  /** Pays within the time of the charge, without a notification. */
  const payInSilence = ({ pix, amount }: ChargeAnswer) =>
    bank.receive({ txid: pix.txid ?? '', amount }, { settledAt: service.clock.now() });

  it('credits an unreported payment in time instead of expiring the charge', async () => {
    const made = await charge();
    payInSilence(made);
    service.clock.advance(63);
    await waitFor('the payment', async () => (await statusOf(made)) === 'PAID');
    expect(await eventsOf(made)).toEqual(['transaction.created', 'transaction.paid']);
  });

  it('expires after one query, once the bank confirms that nobody paid', async () => {
    const made = await charge();
    let asked = 0;
    bank.blind = () => {
      asked++;
      return false;
    };
    service.clock.advance(61);
    expect((await service.getCharge(merchant.testKey, made.id)).body.status).toBe('expired');
    service.clock.advance(2);
    await waitFor('the expiry', async () => (await statusOf(made)) === 'EXPIRED');
    expect(await rowOf(made.id)).toEqual({ status: 'EXPIRED', asked: true });
    await service.get(ExpiryQuestions).askDue();
    expect([asked, await eventsOf(made)]).toEqual([1, ['transaction.created', 'transaction.expired']]);
  });

  it('waits for a bank that is down, and finds the payment when it is up again', async () => {
    const made = await charge();
    payInSilence(made);
    bank.blind = true;
    service.clock.advance(63);
    await has(made, 'expiry_ask_at');
    await service.get(ExpiryService).expireDue();
    expect(await statusOf(made)).toBe('WAITING_PAYMENT');
    const resent = await service.call('POST', `/v1/payments/${made.id}/resend-webhook`, { key: merchant.testKey });
    expect([resent.status, await statusOf(made)]).toEqual([200, 'WAITING_PAYMENT']);
    const listed = await service.call('GET', '/v1/payments?status=PAID', { key: merchant.testKey });
    expect(listed.status).toBe(200);
    bank.blind = false;
    service.clock.advance(20);
    await waitFor('the payment', async () => (await statusOf(made)) === 'PAID');
  });

  it('is queried after a time in which no worker ran', async () => {
    const made = await charge();
    payInSilence(made);
    // Nothing runs meanwhile, as in an outage of the service or of its database.
    service.clock.advance(60 + 15 * 60);
    await waitFor('its end', async () => (await statusOf(made)) !== 'WAITING_PAYMENT');
    expect([await statusOf(made), await eventsOf(made)]).toEqual(['PAID', ['transaction.created', 'transaction.paid']]);
  });

  it('stays unexpired while queries fail before they reach the bank, however long', async () => {
    const made = await charge();
    payInSilence(made);
    // Simulates an outage of the database.
    const away = jest.spyOn(service.get(ExpiryProcessor), 'run').mockRejectedValue(new Error('unreachable'));
    service.clock.advance(63);
    await has(made, 'expiry_ask_at');
    service.clock.advance(11 * 60);
    await service.get(ExpiryService).expireDue();
    const status = await statusOf(made);
    away.mockRestore();
    service.clock.advance(20);
    await waitFor('its end', async () => (await statusOf(made)) !== 'WAITING_PAYMENT');
    expect([status, await statusOf(made)]).toEqual(['WAITING_PAYMENT', 'PAID']);
  });

  it('stays unexpired when a query was lost before it reached the bank', async () => {
    const made = await charge();
    payInSilence(made);
    // Simulates a process that ends before it asks, and a long outage after it.
    const lost = jest.spyOn(service.get(ExpiryProcessor), 'run').mockResolvedValue(undefined);
    service.clock.advance(63);
    await waitFor('the question', async () => lost.mock.calls.length > 0);
    service.clock.advance(11 * 60);
    await service.get(ExpiryService).expireDue();
    lost.mockRestore();
    service.clock.advance(20);
    await waitFor('its end', async () => (await statusOf(made)) !== 'WAITING_PAYMENT');
    expect(await statusOf(made)).toBe('PAID');
  });

  it('stays unexpired when a query got no answer and the service was away until the bank was back', async () => {
    const made = await charge();
    payInSilence(made);
    bank.blind = true;
    service.clock.advance(63);
    await has(made, 'expiry_first_asked_at');
    bank.blind = false;
    service.clock.advance(11 * 60);
    await waitFor('its end', async () => (await statusOf(made)) !== 'WAITING_PAYMENT');
    expect(await statusOf(made)).toBe('PAID');
  });

  it('is queried before its expiry is written, even when many charges had no answer', async () => {
    const made = await Promise.all(Array.from({ length: 14 }, charge));
    made.forEach(payInSilence);
    bank.blind = true;
    const ids = made.map(({ id }) => id.slice(3));
    const count = async (what: string): Promise<number> => {
      const rows = await service.sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM transactions WHERE id = ANY ($1::uuid[]) AND ${what}`,
        [ids],
      );
      return rows[0]?.n ?? 0;
    };
    service.clock.advance(63);
    await waitFor('no answer about any', async () => (await count('expiry_first_asked_at IS NOT NULL')) === 14);
    bank.blind = false;
    service.clock.advance(11 * 60);
    await waitFor('their ends', async () => {
      service.clock.advance(16);
      return (await count(`status = 'WAITING_PAYMENT'`)) === 0;
    });
    expect(await count(`status = 'PAID'`)).toBe(14);
  });

  it('stays unexpired when a Pix is reported between the answer and the writing of the expiry', async () => {
    const made = await charge();
    const { endToEndId } = payInSilence(made);
    bank.blind = true;
    await service.sql('UPDATE transactions SET expiry_first_asked_at = $2, expiry_asked_at = $2 WHERE id = $1', [
      made.id.slice(3),
      service.clock.now(),
    ]);
    const hint = { kind: 'pix', reference: endToEndId, txid: made.pix.txid ?? null } as const;
    await service.get(Database).transaction((tx) => service.get(InboxService).store(tx, bank.name, hint));
    service.clock.advance(63);
    await service.get(ExpiryService).expireDue();
    expect(await statusOf(made)).toBe('WAITING_PAYMENT');
    bank.blind = false;
    service.clock.advance(20);
    await service.get(InboxDispatcher).sweep();
    await waitFor('its end', async () => (await statusOf(made)) !== 'WAITING_PAYMENT');
    expect(await statusOf(made)).toBe('PAID');
  });

  it('expires on time although a callback reports a dispute that the bank does not know', async () => {
    const made = await charge();
    const hint = { kind: 'dispute', reference: `forged/${made.id}`, txid: made.pix.txid ?? null } as const;
    await service.get(Database).transaction((tx) => service.get(InboxService).queueUnconfirmed(tx, bank.name, [hint]));
    service.clock.advance(63);
    await waitFor('the expiry', async () => (await statusOf(made)) === 'EXPIRED');
    expect(
      await service.sql('SELECT status FROM acquirer_notifications WHERE reference = $1', [hint.reference]),
    ).toEqual([{ status: 'pending' }]);
  });

  it('expires at last when the bank stays silent, and a payment that turns up later goes back', async () => {
    const made = await charge();
    const pix = payInSilence(made);
    bank.blind = true;
    service.clock.advance(63);
    await has(made, 'expiry_first_asked_at');
    service.clock.advance(10 * 60 + 1);
    await waitFor('the expiry', async () => (await statusOf(made)) === 'EXPIRED');
    expect(await rowOf(made.id)).toEqual({ status: 'EXPIRED', asked: true });
    bank.blind = false;
    const inbox = service.get(InboxService);
    const hint = { kind: 'pix', reference: pix.endToEndId } as const;
    await service
      .get(ConfirmationService)
      .confirm(await service.get(Database).transaction((tx) => inbox.store(tx, bank.name, hint)));
    const rows = await service.sql('SELECT outcome, reason FROM settlements WHERE end_to_end_id = $1', [
      pix.endToEndId,
    ]);
    expect(rows).toEqual([{ outcome: 'returned', reason: 'late' }]);
  });

  describe('whose payment cannot be read', () => {
    let token = '';

    /** Makes a paid charge that cannot be read, and waits longer than for a bank that does not answer at all. */
    async function unread(what: 'the Pix' | 'the charge'): Promise<{ made: ChargeAnswer; endToEndId: string }> {
      const made = await charge();
      const { endToEndId } = payInSilence(made);
      const reference = what === 'the Pix' ? endToEndId : (made.pix.txid ?? '');
      bank.unreadable.add(reference);
      service.clock.advance(63);
      ({ token } = await service.operator());
      await waitFor('it to be before the operators', async () => (await listed(made)).length > 0);
      service.clock.advance(11 * 60);
      await service.get(ExpiryService).expireDue();
      expect((await service.getCharge(merchant.testKey, made.id)).body.status).toBe('expired');
      expect([await statusOf(made), await listed(made)]).toEqual(['WAITING_PAYMENT', [['charge', made.pix.txid]]]);
      return { made, endToEndId };
    }

    /** Entries about the charge in the operators' list */
    const listed = async ({ pix }: ChargeAnswer): Promise<string[][]> =>
      (
        await service.call<{ data: { kind: string; reference: string }[] }>('GET', '/v1/operations/unreadable', {
          token,
        })
      ).body.data
        .filter(({ reference }) => reference === pix.txid)
        .map(({ kind, reference }) => [kind, reference]);

    it.each(['the Pix', 'the charge'] as const)('is credited as soon as %s can be read, however late', async (what) => {
      const { made } = await unread(what);
      // Repeated silence does not change the answer.
      bank.blind = true;
      service.clock.advance(600);
      await service.get(InboxDispatcher).sweep();
      await service.get(ExpiryService).expireDue();
      expect(await statusOf(made)).toBe('WAITING_PAYMENT');
      bank.blind = false;
      bank.unreadable.clear();
      service.clock.advance(1000);
      await waitFor('the payment', async () => (await statusOf(made)) === 'PAID');
      expect(await eventsOf(made)).toEqual(['transaction.created', 'transaction.paid']);
      await waitFor('nothing to be listed', async () => (await listed(made)).length === 0);
    });

    it('expires when its bank has reported no payment for a quarter of an hour', async () => {
      const { made, endToEndId } = await unread('the charge');
      bank.pix.delete(endToEndId);
      bank.unreadable.clear();
      // Pauses of one, two, four and eight minutes.
      for (let answers = 1; answers <= 5; answers++) {
        expect([answers, await statusOf(made), await listed(made)]).toEqual([
          ...[answers, 'WAITING_PAYMENT'],
          [['charge', made.pix.txid]],
        ]);
        service.clock.advance(answers === 1 ? 1000 : 2 ** (answers + 4));
        await waitFor('the answer', async () => {
          const [row] = await service.sql<{ attempts: number }>(
            `SELECT attempts FROM acquirer_notifications WHERE reference = $1 AND last_error = 'nothing has happened to it'`,
            [made.pix.txid],
          );
          return row?.attempts === answers + 6;
        });
      }
      await waitFor('the expiry', async () => (await statusOf(made)) === 'EXPIRED');
      expect(await listed(made)).toEqual([]);
    });
  });

  it('ends once and is credited once when callbacks, queries and expiry come at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => charge()));
    const paid = made.filter((_, index) => index % 2 === 0);
    const pix = paid.map(payInSilence);
    service.clock.advance(63);
    const [inbox, confirmation] = [service.get(InboxService), service.get(ConfirmationService)];
    const [database, expiry] = [service.get(Database), service.get(ExpiryService)];
    await Promise.all([
      ...pix.map(async ({ endToEndId: reference }) =>
        confirmation.confirm(
          await database.transaction((tx) => inbox.store(tx, bank.name, { kind: 'pix', reference })),
        ),
      ),
      ...made.map(({ id }) => service.get(ExpiryProcessor).run(id.slice(3))),
      ...Array.from({ length: 5 }, () => expiry.expireDue()),
      ...Array.from({ length: 5 }, () => service.get(ExpiryQuestions).askDue()),
    ]);
    await waitFor('all to end', async () => {
      const statuses = await Promise.all(made.map(statusOf));
      return statuses.every((status, index) => status === (index % 2 === 0 ? 'PAID' : 'EXPIRED'));
    });
  });
});
