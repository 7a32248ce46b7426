import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isBankBusinessDay, saoPauloDay } from '../../../src/brazil/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('the monthly closing by mail', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;

  const want = async (monthly_closing: boolean): Promise<void> => {
    const { token } = await service.operator();
    const path = `/v1/operations/accounts/${merchant.accountId}`;
    const { status, body } = await service.call('PATCH', path, { token, body: { monthly_closing } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ monthly_closing });
  };
  const dueAt = async (): Promise<Date | null> => {
    const [row] = await service.sql<{ due: Date }>(
      `SELECT due_at AS due FROM work WHERE kind = 'monthly_closing' AND subject_id = $1`,
      [merchant.accountId],
    );
    return row?.due ?? null;
  };
  const reports = (): Promise<Record<string, unknown>[]> =>
    service.sql(
      `SELECT type, format, mode, locale, window_from AS from, window_to AS to FROM reports WHERE account_id = $1 ORDER BY id`,
      [merchant.accountId],
    );
  const mails = (): Promise<{ recipient: string; subject: string; text: string }[]> =>
    service.sql(
      `SELECT recipient, subject, text_body AS text FROM emails WHERE account_id = $1 AND subject LIKE 'Fechamento%' ORDER BY id`,
      [merchant.accountId],
    );
  /** Moves the clock to the next first bank day, and waits until its run is over. */
  const pass = async (): Promise<Date> => {
    const due = await dueAt();
    if (due === null) throw new Error('The account wants no closing');
    service.clock.advance((due.getTime() - service.clock.now().getTime()) / 1000);
    await waitFor('the run', async () => ((await dueAt())?.getTime() ?? 0) > due.getTime());
    return due;
  };

  beforeEach(async () => {
    merchant = await service.merchant();
  });
  afterEach(async () => {
    expect(await service.sql('SELECT kind, last_error FROM work WHERE last_error IS NOT NULL')).toEqual([]);
    await expectLedgerCoherent(service.database.url);
  });

  it('is made at 8:00 on the first bank day, for the month before', async () => {
    await want(true);
    expect([await reports(), await mails()]).toEqual([[], []]);
    const due = await pass();
    const day = saoPauloDay(due);
    expect(due.toISOString().slice(11, 16)).toBe('11:00');
    const days = Array.from({ length: Number(day.slice(8)) }, (_, index) => `${day.slice(0, 8)}0${index + 1}`);
    expect(days.filter(isBankBusinessDay)).toEqual([day]);
    const to = new Date(Date.parse(`${day.slice(0, 7)}-01T03:00:00.000Z`) - 1);
    const from = new Date(`${saoPauloDay(to).slice(0, 7)}-01T03:00:00.000Z`);
    const order = { type: 'closing', mode: 'live', from, to };
    expect(await reports()).toEqual([
      { ...order, format: 'pdf', locale: null },
      { ...order, format: 'xlsx', locale: 'pt-BR' },
    ]);
    const [mail, ...others] = await mails();
    expect(others).toEqual([]);
    expect(mail?.subject).toMatch(/^Fechamento de \S+ de 20\d\d \/ Closing of \w+ 20\d\d$/);
    expect(mail?.text).toContain('/dashboard/live/reports');
    await waitFor('both files', async () => {
      const rows = await service.sql(`SELECT 1 FROM reports WHERE account_id = $1 AND status = 'ready'`, [
        merchant.accountId,
      ]);
      return rows.length === 2;
    });
  });

  it('is made once for each month, with runs at the same time and after a lost answer', async () => {
    await want(true);
    const due = await pass();
    await service.sql(`UPDATE work SET due_at = $2 WHERE kind = 'monthly_closing' AND subject_id = $1`, [
      merchant.accountId,
      due,
    ]);
    await Promise.all(
      Array.from({ length: 5 }, () => service.get(WorkService).runNow('monthly_closing', merchant.accountId)),
    );
    expect([(await mails()).length, (await reports()).length]).toEqual([1, 2]);
    await pass();
    expect([(await mails()).length, (await reports()).length]).toEqual([2, 4]);
    expect(new Set((await mails()).map(({ subject }) => subject)).size).toBe(2);
  });

  it('is not made for an account that wants none any more', async () => {
    await want(true);
    await want(false);
    await waitFor('the work to end', async () => (await dueAt()) === null);
    expect([await reports(), await mails()]).toEqual([[], []]);
  });
});
