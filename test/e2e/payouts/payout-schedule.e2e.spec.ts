import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WorkService } from '../../../src/core/work/index.js';
import { saoPauloDay } from '../../../src/brazil/index.js';
import { runCli } from '../../support/cli.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { aFundedMerchant, aPayout, CPF, liveMoney, OTHER_CPF, payoutOf, wallet } from '../../support/payouts.js';
import { TEST_ENCRYPTION_KEY } from '../../support/process.js';
import { aPaidCharge } from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Row extends Record<string, unknown> {
  id: string;
  amount: number;
  status: string;
  occurrence: Date;
}

type Account = Record<string, unknown> & { error: { code: string } };

describe('payouts by schedule', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let destination: string;

  beforeEach(async () => {
    merchant = await aFundedMerchant(service);
    destination = await saved(merchant);
  });
  afterEach(async () => {
    expect(await service.sql('SELECT kind, last_error FROM work WHERE last_error IS NOT NULL')).toEqual([]);
    await expectLedgerCoherent(service.database.url);
  });

  const saved = async (
    { testKey }: Merchant,
    body: object = { type: 'pix_key', key: CPF },
    key = testKey,
  ): Promise<string> => (await service.call<{ id: string }>('POST', '/v1/payout-destinations', { key, body })).body.id;
  const scheduleOf = (more: object = {}): Record<string, unknown> => ({
    ...{ every: 'day', at: '10:00', destination, leave: 0, minimum: 1 },
    ...more,
  });
  const operate = async (settings: object, { accountId } = merchant): Promise<Answer<Account>> => {
    const { token } = await service.operator();
    return service.call<Account>('PATCH', `/v1/operations/accounts/${accountId}`, { token, body: settings });
  };
  const schedule = async (more: object = {}): Promise<void> => {
    const { status, text } = await operate({ payout_schedule: scheduleOf(more) });
    if (status !== 200) throw new Error(text);
  };
  const work = async (): Promise<Date | null> => {
    const [row] = await service.sql<{ due: Date }>(
      `SELECT due_at AS due FROM work WHERE kind = 'payout_schedule' AND subject_id = $1`,
      [merchant.accountId],
    );
    return row?.due ?? null;
  };
  /** Moves the clock to the next occurrence, and waits until it is over. @returns its time */
  const pass = async (): Promise<Date> => {
    const due = await work();
    if (due === null) throw new Error('There is no schedule');
    service.clock.advance((due.getTime() - service.clock.now().getTime()) / 1000);
    await waitFor('the occurrence to be over', async () => ((await work())?.getTime() ?? 0) > due.getTime());
    return due;
  };
  const payouts = (): Promise<Row[]> =>
    service.sql<Row>(
      `SELECT id, amount, status, occurrence, requested_by FROM payouts
       WHERE account_id = $1 AND occurrence IS NOT NULL ORDER BY id`,
      [merchant.accountId],
    );
  /** Subjects and texts of mails about schedules, in the order of their events, without those about its setting. */
  const mails = async (): Promise<{ recipient: string; subject: string; text: string }[]> =>
    service.sql(
      `SELECT recipient, subject, text_body AS text FROM emails
       WHERE account_id = $1 AND subject LIKE '%aque%' AND subject NOT LIKE '%rogramação de saques%' ORDER BY id`,
      [merchant.accountId],
    );
  const runAgain = (times: number): Promise<unknown[]> =>
    Promise.all(
      Array.from({ length: times }, () => service.get(WorkService).runNow('payout_schedule', merchant.accountId)),
    );

  it('send what is available above the part that stays, at their time', async () => {
    await operate({ payout_fee: 50 });
    await schedule({ leave: 2_000, minimum: 5_000 });
    expect(await payouts()).toEqual([]);
    const occurrence = await pass();
    expect(occurrence.toISOString().slice(11)).toBe('13:00:00.000Z');
    const [payout, ...others] = await payouts();
    expect(others).toEqual([]);
    expect(payout).toMatchObject({ amount: '7950', occurrence, requested_by: null });
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 2_000 });
    const paid = await payoutOf(service, merchant.testKey, `po_${payout?.id}`, 'paid');
    expect(paid.destination).toMatchObject({ id: destination, key: '***.982.247-**' });
    expect(await mails()).toEqual([]);
  });

  it('send once for each occurrence, with runs at the same time and after crashes', async () => {
    await schedule();
    const due = await work();
    service.clock.advance(((due?.getTime() ?? 0) - service.clock.now().getTime()) / 1000);
    await runAgain(5);
    const [payout, ...others] = await payouts();
    expect([payout?.amount, others]).toEqual(['10000', []]);
    await aPaidCharge(service, merchant.testKey, 3_000);
    // The process died before it wrote that the run was over.
    expect(await runAgain(3)).toEqual([null, null, null]);
    // The database lost what came after the payout.
    await service.sql(`UPDATE accounts SET payout_schedule_after = $2 WHERE id = $1`, [
      merchant.accountId,
      new Date((due?.getTime() ?? 0) - 1),
    ]);
    expect(await runAgain(3)).toEqual([null, null, null]);
    expect(await payouts()).toHaveLength(1);
    await pass();
    expect((await payouts()).map(({ amount }) => amount)).toEqual(['10000', '3000']);
  });

  it('make up the last of several missed occurrences, once', async () => {
    await schedule();
    const first = await work();
    await service.sql(`UPDATE work SET leased_until = now() + interval '20 days' WHERE subject_id = $1`, [
      merchant.accountId,
    ]);
    service.clock.advance(9 * 86_400);
    await service.sql(`UPDATE work SET leased_until = NULL WHERE subject_id = $1`, [merchant.accountId]);
    await waitFor('the payout', async () => (await payouts()).length > 0);
    await aPaidCharge(service, merchant.testKey, 3_000);
    await runAgain(2);
    const made = await payouts();
    expect(made).toHaveLength(1);
    const now = service.clock.now().getTime();
    const { occurrence } = made[0] as Row;
    expect(occurrence.getTime()).toBeGreaterThan(first?.getTime() ?? now);
    expect(now - occurrence.getTime()).toBeLessThan(5 * 86_400_000);
    expect((await work())?.getTime()).toBeGreaterThan(now);
  });

  it('send nothing below the minimum, and say nothing', async () => {
    await schedule({ leave: 6_000, minimum: 4_001 });
    await pass();
    expect(await payouts()).toEqual([]);
    await aPaidCharge(service, merchant.testKey, 1);
    await pass();
    expect((await payouts()).map(({ amount }) => amount)).toEqual(['4001']);
    expect(await mails()).toEqual([]);
  });

  it('are no accident when they repeat amount and receiver', async () => {
    await schedule({ leave: 9_000 });
    const due = await work();
    service.clock.advance(((due?.getTime() ?? 0) - service.clock.now().getTime()) / 1000 - 60);
    await aPaidCharge(service, merchant.testKey, 1_000);
    await aPayout(service, merchant.testKey, { amount: 1_000, destination });
    await pass();
    expect((await payouts()).map(({ amount }) => amount)).toEqual(['1000']);
  });

  it('send what the limits allow, and say so to every OWNER', async () => {
    const other = await service.member(merchant.accountId, 'OWNER');
    await service.member(merchant.accountId, 'ADMIN');
    await operate({ payout_max: 3_000 });
    await schedule();
    await pass();
    expect((await payouts()).map(({ amount }) => amount)).toEqual(['3000']);
    const sent = await mails();
    expect(sent.map(({ recipient }) => recipient).sort()).toEqual([merchant.ownerEmail, other.email].sort());
    expect(sent[0]?.subject).toBe('TESTE: Saque programado em parte: R$ 30,00 / Scheduled payout in part: R$ 30,00');
    expect(sent[0]?.text).toContain(
      'A programação enviaria R$ 100,00, e o limite por saque da conta só permite R$ 30,00',
    );
    expect(sent[0]?.text).toContain('the account’s limit per payout allows R$ 30,00 now');
  });

  it.each<[string, object, (() => Promise<unknown>) | null, string]>([
    ['the day has no limit left', { payout_daily_max: 0 }, null, 'limite diário de saques da conta foi atingido'],
    ['the limit is below the minimum', { payout_max: 5_000 }, null, 'não permite enviar o mínimo'],
    ['only own accounts are allowed', { payouts_to: 'own', tax_id: OTHER_CPF }, null, 'do próprio titular'],
    ['the receiver is on the block list', { fraud_blocked_documents: [CPF] }, null, 'lista de bloqueio'],
    [
      'the destination was deleted',
      {},
      () => service.call('DELETE', `/v1/payout-destinations/${destination}`, { key: merchant.testKey }),
      'O destino da programação foi excluído',
    ],
  ])('say why nothing was sent when %s, and go on', async (_when, settings, act, reason) => {
    await schedule({ minimum: 6_000 });
    await operate(settings);
    await act?.();
    const occurrence = await pass();
    expect(await payouts()).toEqual([]);
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000 });
    const [mail, ...others] = await mails();
    expect(others).toEqual([]);
    expect(mail?.recipient).toBe(merchant.ownerEmail);
    expect(mail?.subject).toBe('TESTE: Saque programado não enviado / Scheduled payout not sent');
    expect(mail?.text).toContain(reason);
    expect(mail?.text).toContain(`${Number(saoPauloDay(occurrence).slice(8))} de `);
    expect(mail?.text).not.toContain(CPF);
    await runAgain(2);
    await pass();
    expect(await mails()).toHaveLength(2);
  });

  it('of live money name the missing bank connection, and the missing tax id of the account', async () => {
    const live = await saved(merchant, { type: 'pix_key', key: CPF }, merchant.liveKey);
    await schedule({ destination: live });
    await pass();
    // Nothing is available yet.
    const told = async (): Promise<string[]> => (await mails()).slice(1).map(({ text }) => text);
    expect(await told()).toEqual([]);
    await liveMoney(service, merchant.accountId, 5_000);
    await pass();
    expect(await told()).toEqual([expect.stringContaining('não tem banco ligado para o modo real')]);
    await service.sql(`UPDATE accounts SET live_acquirer = 'sandbox' WHERE id = $1`, [merchant.accountId]);
    await pass();
    expect((await told())[1]).toContain('O CPF ou CNPJ da sua conta não está cadastrado');
    expect(await payouts()).toEqual([]);
    await operate({ tax_id: CPF });
    await pass();
    expect((await payouts()).map(({ amount }) => amount)).toEqual(['5000']);
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000 });
  });

  it('wait for a second person above the amount of the account, who may be its only OWNER', async () => {
    await operate({ payout_approval_above: 9_999 });
    await schedule();
    await pass();
    const [payout] = await payouts();
    expect(payout?.status).toBe('AWAITING');
    expect((await mails()).map(({ subject }) => subject)).toEqual([
      'TESTE: Saque aguarda aprovação: R$ 100,00 / Payout waits for approval: R$ 100,00',
    ]);
    const token = await service.login(merchant.ownerEmail);
    const path = `/v1/dashboard/test/payouts/po_${payout?.id}/approve`;
    expect((await service.call('POST', path, { token, body: {} })).status).toBe(200);
    await payoutOf(service, merchant.testKey, `po_${payout?.id}`, 'paid');
  });

  it('cannot be approved by the OWNER who set the schedule', async () => {
    await operate({ payout_approval_above: 9_999 });
    const token = await service.login(merchant.ownerEmail);
    const set = await service.call('PATCH', '/v1/account', { token, body: { payout_schedule: scheduleOf() } });
    expect(set.status).toBe(200);
    await pass();
    const [payout] = await payouts();
    const path = `/v1/dashboard/test/payouts/po_${payout?.id}/approve`;
    const again = await service.login(merchant.ownerEmail);
    const own = await service.call<Account>('POST', path, { token: again, body: {} });
    expect([own.status, own.body.error.code]).toEqual([403, 'approval_not_allowed']);
    const other = await service.member(merchant.accountId, 'ADMIN');
    const logged = await service.login(other.email);
    expect((await service.call('POST', path, { token: logged, body: {} })).status).toBe(200);
    await payoutOf(service, merchant.testKey, `po_${payout?.id}`, 'paid');
  });

  it('are not made while the account is suspended, nor made up afterwards', async () => {
    await schedule();
    await operate({ suspended: true });
    await pass();
    await operate({ suspended: false });
    await runAgain(1);
    expect([await payouts(), await mails()]).toEqual([[], []]);
    await pass();
    expect(await payouts()).toHaveLength(1);
  });

  it('end when the schedule is removed', async () => {
    await schedule();
    await operate({ payout_schedule: null });
    await waitFor('the work to end', async () => (await work()) === null);
    service.clock.advance(5 * 86_400);
    expect(await payouts()).toEqual([]);
  });

  it('follow a changed schedule from its change on', async () => {
    await schedule();
    await pass();
    expect(await payouts()).toHaveLength(1);
    await aPaidCharge(service, merchant.testKey, 3_000);
    // Today's time of the new schedule is over.
    await schedule({ at: '09:00' });
    await runAgain(1);
    expect(await payouts()).toHaveLength(1);
    const occurrence = await pass();
    expect(occurrence.toISOString().slice(11)).toBe('12:00:00.000Z');
    expect((await payouts()).map(({ amount }) => amount)).toEqual(['10000', '3000']);
  });
});

describe('the payout schedule of an account', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let token: string;
  let destination: string;

  const save = async (key: string, body: object): Promise<string> =>
    (await service.call<{ id: string }>('POST', '/v1/payout-destinations', { key, body })).body.id;
  beforeEach(async () => {
    merchant = await service.merchant();
    token = await service.login(merchant.ownerEmail);
    destination = await save(merchant.testKey, { type: 'pix_key', key: 'ana@example.com', tax_id: CPF });
  });

  const set = (payout_schedule: unknown, by = token): Promise<Answer<Account>> =>
    service.call<Account>('PATCH', '/v1/account', { token: by, body: { payout_schedule } });
  const weekly = (more: object = {}): Record<string, unknown> => ({
    ...{ every: 'week', on: 1, at: '09:00', destination, leave: 1_000, minimum: 500, ...more },
  });
  const mails = (): Promise<{ recipient: string; subject: string; text: string }[]> =>
    service.sql(
      `SELECT recipient, subject, text_body AS text FROM emails
       WHERE account_id = $1 AND subject LIKE '%rogramação%' ORDER BY id`,
      [merchant.accountId],
    );
  const changes = async (): Promise<unknown[]> => {
    const rows = await service.sql<{ data: { changes: Record<string, unknown> } }>(
      `SELECT data FROM audit_events WHERE account_id = $1 AND type = 'account.settings_changed' ORDER BY id`,
      [merchant.accountId],
    );
    return rows.map(({ data }) => data.changes['payout_schedule']);
  };

  it('is set and removed by an OWNER, audited and mailed; the same again changes nothing', async () => {
    expect((await service.call<Account>('GET', '/v1/account', { token })).body['payout_schedule']).toBeNull();
    const { status, body } = await set(weekly());
    expect([status, body['payout_schedule']]).toEqual([200, weekly()]);
    expect((await service.call<Account>('GET', '/v1/account', { token })).body).toEqual(body);
    await set({ ...weekly(), destination: destination.slice(3).toUpperCase() });
    await set(weekly());
    expect(await changes()).toEqual([{ from: null, to: { ...weekly(), destination: destination.slice(3) } }]);
    const [mail, ...others] = await mails();
    expect(others).toEqual([]);
    expect([mail?.recipient, mail?.subject]).toEqual([
      merchant.ownerEmail,
      'TESTE: Programação de saques alterada / Payout schedule changed',
    ]);
    expect(mail?.text).toContain(
      'Toda segunda-feira às 09:00 (horário de Brasília), para chave Pix a***@example.com. Fica na conta: R$ 10,00. Envia a partir de R$ 5,00.',
    );
    expect(mail?.text).toContain('Every Monday at 09:00 (Brasília time), to Pix key a***@example.com.');
    expect((await set(null)).body['payout_schedule']).toBeNull();
    expect((await mails()).map(({ subject }) => subject)).toEqual([
      'TESTE: Programação de saques alterada / Payout schedule changed',
      'TESTE: Programação de saques desligada / Payout schedule switched off',
    ]);
  });

  it('is not set by an ADMIN or a MEMBER', async () => {
    for (const role of ['ADMIN', 'MEMBER'] as const) {
      const person = await service.member(merchant.accountId, role);
      expect((await set(weekly(), person.token)).status).toBe(403);
    }
    expect(await mails()).toEqual([]);
  });

  it('needs a saved destination of the account, to which any amount can be sent', async () => {
    const stranger = await service.merchant();
    const theirs = await save(stranger.testKey, { type: 'pix_key', key: CPF });
    const deleted = await save(merchant.testKey, { type: 'pix_key', key: OTHER_CPF });
    await service.call('DELETE', `/v1/payout-destinations/${deleted}`, { key: merchant.testKey });
    for (const wrong of [theirs, deleted, 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12']) {
      const { status, body } = await set(weekly({ destination: wrong }));
      expect(`${status} ${body.error.code}`).toBe('422 destination_not_found');
    }
    const { body: charge } = await service.createCharge(merchant.testKey);
    const code = await save(merchant.testKey, { type: 'br_code', br_code: charge.pix.br_code });
    const { status, body } = await set(weekly({ destination: code }));
    expect(`${status} ${body.error.code}`).toBe('422 destination_not_allowed');
    expect([await mails(), await changes()]).toEqual([[], []]);
    expect(await service.sql(`SELECT 1 FROM work WHERE kind = 'payout_schedule'`)).toEqual([]);
  });

  it('is refused when it has no time of the clock or an unknown field', async () => {
    for (const wrong of [{ at: '24:00' }, { at: '9:00' }, { on: 7 }, { leave: -1 }, { amount: 1 }]) {
      const { status, body } = await set(weekly(wrong));
      expect(`${status} ${body.error.code}`).toBe('400 invalid_request');
    }
  });

  it('is set by operators and on the command line, and not with a new account', async () => {
    const operator = (await service.operator()).token;
    const path = '/v1/operations/accounts';
    const changed = await service.call<Account>('PATCH', `${path}/${merchant.accountId}`, {
      token: operator,
      body: { payout_schedule: weekly() },
    });
    expect([changed.status, changed.body['payout_schedule']]).toEqual([200, weekly()]);
    const made = await service.call<Account>('POST', path, {
      token: operator,
      body: { name: 'Padaria', email: 'new@example.com', payout_schedule: weekly() },
    });
    expect(`${made.status} ${made.body.error.code}`).toBe('422 destination_not_found');

    const env = { DATABASE_URL: service.database.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
    const daily = { every: 'day', at: '18:30', destination, leave: 0, minimum: 100 };
    const command = ['account', 'set', merchant.accountId];
    const ended = await runCli([...command, `payout_schedule=${JSON.stringify(daily)}`], env);
    expect(ended.stderr).toBe('');
    expect(JSON.parse(ended.stdout)).toMatchObject({ payout_schedule: daily });
    const refused = await runCli([...command, `payout_schedule=${JSON.stringify({ ...daily, on: 1 })}`], env);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('payout_schedule')]);
    const [due] = await service.sql<{ local: string }>(
      `SELECT to_char(due_at AT TIME ZONE 'America/Sao_Paulo', 'HH24:MI') AS local FROM work WHERE subject_id = $1`,
      [merchant.accountId],
    );
    expect(due?.local).toBe('18:30');
    const none = await runCli([...command, 'payout_schedule=none'], env);
    expect(JSON.parse(none.stdout)).toMatchObject({ payout_schedule: null });
  });

  it('is in the OpenAPI document with its exact fields', async () => {
    const { body } = await service.call<{
      components: { schemas: Record<string, { properties: Record<string, Record<string, unknown>> }> };
    }>('GET', '/openapi/all.json');
    const { schemas } = body.components;
    for (const name of ['ChangeOwnAccountRequest', 'ChangeAccountRequest', 'CreateAccountRequest']) {
      const schema = schemas[name] as unknown as { required?: string[]; properties: Record<string, unknown> };
      expect(schema.required ?? []).not.toContain('payout_schedule');
      expect(schema.properties['payout_schedule']).toMatchObject({
        type: ['object', 'null'],
        additionalProperties: false,
        required: ['every', 'at', 'destination', 'leave', 'minimum'],
        properties: {
          every: { enum: ['day', 'week', 'month'] },
          on: { type: 'integer', minimum: 1, maximum: 31 },
          at: { type: 'string' },
          leave: { type: 'integer', minimum: 0 },
          minimum: { type: 'integer', minimum: 0 },
        },
      });
    }
    expect(schemas['OwnAccount']?.properties['payout_schedule']).toMatchObject({
      required: ['every', 'at', 'destination', 'leave', 'minimum'],
    });
  });
});
