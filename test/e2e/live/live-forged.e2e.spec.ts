import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_MERCHANT } from '../../../tools/psp-simulator/simulator.js';
import { callbackUrl } from '../../../src/acquirers/index.js';
import { newEndToEndId } from '../../../src/brazil/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { createLogger } from '../../../src/core/log/index.js';
import { goLive } from '../../support/live-acquirer.js';
import { LiveStory } from '../../support/live-story.js';
import { type Answer, type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

/** An account with its own key at the same PSP, under its own client or the first account's. */
interface Other {
  readonly merchant: Merchant;
  readonly acquirer: string;
  readonly pixKey: string;
  readonly clientId: string;
  readonly path: string;
}

const SHARED = randomUUID();

describe('forged callbacks and neighbouring accounts', () => {
  const logged: string[] = [];
  const logger = createLogger('warn', { write: (line) => logged.push(line) });
  const service = TestService.forSpec({ overrides: { logger } });
  const story = LiveStory.forSpec(service);
  /** This account's client at the PSP holds the first account's key too, as an owner of two shops may. */
  let sibling: Other;
  let stranger: Other;

  beforeAll(async () => {
    const own = randomUUID();
    story.bank.addMerchant({ ...DEFAULT_MERCHANT, clientId: 'stranger', pixKeys: [own] });
    story.bank.addMerchant({ ...DEFAULT_MERCHANT, clientId: 'two-shops', pixKeys: [SHARED, randomUUID()] });
    stranger = await other(own, 'stranger');
    sibling = await other(SHARED, 'two-shops');
  });
  beforeEach(() => {
    logged.length = 0;
  });
  afterEach(() => story.expectSameBooks());

  async function other(pixKey: string, clientId: string): Promise<Other> {
    const merchant = await service.merchant();
    const { id, acquirer } = await goLive(service, story.bank, merchant.accountId, { pixKey, clientId });
    const path = new URL(callbackUrl(service.url, service.get(SecretBox), id)).pathname;
    return { merchant, acquirer, pixKey, clientId, path };
  }

  const pathOfStory = (): string => new URL(story.live.callbackUrl).pathname;
  const post = (path: string, pix: object): Promise<Answer> => service.call('POST', path, { body: { pix: [pix] } });

  /** Everything that money consists of */
  const books = (): Promise<unknown[]> =>
    service.sql(
      `SELECT (SELECT count(*) FROM journal_entries) AS entries, (SELECT count(*) FROM settlements) AS settlements,
         (SELECT count(*) FROM pix_returns) AS returns, (SELECT count(*) FROM refunds) AS refunds,
         (SELECT count(*) FROM med_cases) AS cases, (SELECT count(*) FROM events) AS events,
         (SELECT json_agg((id, status) ORDER BY id) FROM transactions)::text AS transactions`,
    );

  async function metric(line: string): Promise<number> {
    const { text } = await service.call('GET', '/metrics');
    const found = text.split('\n').find((each) => each.startsWith(`${line} `));
    return Number(found?.split(' ').at(-1) ?? 0);
  }

  /** Waits until the PSP was asked about the notification, and checks the outcome. */
  async function asked(acquirer: string, endToEndId: string): Promise<void> {
    await waitFor('the PSP to be asked', async () => {
      const rows = await service.sql(
        `SELECT 1 FROM acquirer_notifications WHERE acquirer = $1 AND reference LIKE $2 AND attempts > 0 AND status <> 'applied'`,
        [acquirer, `${endToEndId}%`],
      );
      return rows.length > 0;
    });
  }

  it('a forged Pix with a return and a dispute, sent a hundred times at once, leaves a log line and a metric', async () => {
    const charge = await story.charge();
    const before = await books();
    const [unknown, repeated] = await Promise.all([
      metric('recebe_acquirer_notifications_total{kind="pix",outcome="unknown"}'),
      metric('recebe_acquirer_callbacks_total{outcome="repeated"}'),
    ]);
    const endToEndId = newEndToEndId('12345678', service.clock.now());
    const horario = { solicitacao: '2026-11-21T12:00:00.000Z' };
    const told = {
      endToEndId,
      txid: charge.pix.txid,
      chave: story.live.pixKey,
      valor: '19.90',
      horario: '2026-11-21T12:00:00.000Z',
      devolucoes: [
        { id: 'r1', rtrId: 'D1', valor: '19.90', horario, status: 'DEVOLVIDO' },
        { id: 'm1', rtrId: 'D2', valor: '19.90', natureza: 'MED_FRAUDE', horario, status: 'DEVOLVIDO' },
      ],
    };
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(pathOfStory(), told)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await asked(story.live.acquirer, endToEndId);
    await waitFor('all three to be asked about', async () => {
      const kinds = await service.sql(
        'SELECT kind FROM acquirer_notifications WHERE reference LIKE $1 AND attempts > 0',
        [`${endToEndId}%`],
      );
      return kinds.length === 3;
    });
    expect(await books()).toEqual(before);
    expect(await metric('recebe_acquirer_callbacks_total{outcome="repeated"}')).toBe(repeated + 99);
    expect(await metric('recebe_acquirer_notifications_total{kind="pix",outcome="unknown"}')).toBeGreaterThan(unknown);
    expect(logged.join('')).toContain('a notification is not confirmed');
  });

  it('a callback with another amount, charge and payer credits the PSP’s version once', async () => {
    const [paid, unpaid] = [await story.charge({ amount: 500 }), await story.charge({ amount: 90_000 })];
    const before = await story.balance();
    story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });
    const { endToEndId } = story.pay(paid);
    const told = { endToEndId, txid: unpaid.pix.txid, valor: '900.00', chave: story.live.pixKey };
    await Promise.all(Array.from({ length: 100 }, (_, time) => post(pathOfStory(), { ...told, time: time % 7 })));
    await story.becomes(paid, 'paid');
    await post(pathOfStory(), { ...told, again: true });
    expect((await service.getCharge(story.key, unpaid.id)).body.status).toBe('pending');
    expect(await story.balance()).toEqual({ ...before, available: before.available + 500 });
  });

  it('a true payment of another amount than the charge goes back, and nobody is credited', async () => {
    const charge = await story.charge({ amount: 5000 });
    const before = await story.balance();
    const { endToEndId } = story.pay(charge, { amount: 50, force: true });
    await waitFor('the return', () => story.returned(endToEndId).join() === '0.50 DEVOLVIDO');
    await waitFor('the return in our books', async () => {
      const rows = await service.sql(`SELECT 1 FROM pix_returns WHERE status = 'RETURNED' AND reason = 'wrong_amount'`);
      return rows.length === 1;
    });
    expect((await service.getCharge(story.key, charge.id)).body.status).toBe('pending');
    expect(await story.balance()).toEqual(before);
  });

  it.each(['wrong', 'of another connection', 'of no connection'])(
    'a callback with a secret that is %s gets 404, a log line and a metric',
    async (which) => {
      const charge = await story.charge();
      story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });
      const { endToEndId } = story.pay(charge);
      const [, , , connection = '', secret = ''] = pathOfStory().split('/');
      const strangers = stranger.path.split('/').at(-1) ?? '';
      const paths: Record<string, string> = {
        wrong: `/callbacks/pix/${connection}/${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`,
        'of another connection': `/callbacks/pix/${connection}/${strangers}`,
        'of no connection': `/callbacks/pix/${randomUUID()}/${secret}`,
      };
      const [before, refused, stored] = [
        await books(),
        await metric('recebe_acquirer_callbacks_total{outcome="wrong_secret"}'),
        await service.sql('SELECT id FROM acquirer_callbacks ORDER BY id'),
      ];
      const answers = await Promise.all(Array.from({ length: 100 }, () => post(paths[which] ?? '', { endToEndId })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
      expect(await metric('recebe_acquirer_callbacks_total{outcome="wrong_secret"}')).toBe(refused + 100);
      expect(logged.filter((line) => line.includes('a callback was refused'))).toHaveLength(100);
      expect(logged.join('')).not.toContain(secret.slice(0, -1));
      expect(await service.sql('SELECT id FROM acquirer_callbacks ORDER BY id')).toEqual(stored);
      expect(await books()).toEqual(before);
      await story.sweepStatement();
      await story.becomes(charge, 'paid');
    },
  );

  const chargeOf = async ({ merchant }: Other): Promise<ChargeAnswer> =>
    (await service.createCharge(merchant.liveKey)).body;

  it('a payment of B sent to the callback address of A leaves B unaffected, since the PSP of A does not know it', async () => {
    const charge = await story.charge();
    story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });
    const { endToEndId } = story.pay(charge);
    const before = await books();
    await post(stranger.path, { endToEndId, txid: charge.pix.txid, chave: stranger.pixKey });
    await asked(stranger.acquirer, endToEndId);
    expect(await books()).toEqual(before);
    // The account that was paid is credited as soon as its own callback arrives.
    await post(pathOfStory(), { endToEndId });
    await story.becomes(charge, 'paid');
  });

  it('a payment to another key of the same holder is not credited to this account, although the PSP confirms it', async () => {
    const elsewhere =
      story.bank.state().merchants.find(({ clientId }) => clientId === sibling.clientId)?.pixKeys[1] ?? '';
    const charge = await chargeOf(sibling);
    const { endToEndId } = story.bank.pay({ key: elsewhere, amount: 1990 });
    const before = await books();
    const odd = await metric('recebe_acquirer_odd_answers_total{operation="pix.get",what="other_key"}');
    await Promise.all(Array.from({ length: 100 }, () => post(sibling.path, { endToEndId, txid: charge.pix.txid })));
    await asked(sibling.acquirer, endToEndId);
    expect(await books()).toEqual(before);
    const line = 'recebe_acquirer_odd_answers_total{operation="pix.get",what="other_key"}';
    await waitFor('the metric', async () => (await metric(line)) > odd);
    expect(logged.join('')).toContain('an answer of the PSP is not believed');
    expect((await service.getCharge(sibling.merchant.liveKey, charge.id)).body.status).toBe('pending');
  });

  it('a live connection serves its account alone, and test keys never reach the PSP', async () => {
    const nobody = await service.merchant();
    // Leaves out the statements, which are read on a schedule and for no request.
    const requests = (): string => JSON.stringify({ ...story.bank.state().traffic.requests, 'pix.list': undefined });
    // Pauses the earlier forged notifications, which would be asked about again and again.
    await service.sql(
      `UPDATE acquirer_notifications SET next_attempt_at = now() + interval '1 day' WHERE status = 'pending'`,
    );
    let before = '';
    await waitFor('the bank to be left alone', async () => {
      before = requests();
      await delay(1_500);
      return requests() === before;
    });
    const refused = await service.createCharge<{ error: { code: string } }>(nobody.liveKey);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'no_provider_configured']);
    const made = await service.createCharge(story.merchant.testKey);
    expect(made.status).toBe(201);
    const paid = await service.simulate(story.merchant.testKey, made.body.id, { event: 'pay' });
    expect(paid.body.charge.status).toBe('paid');
    expect((await service.getCharge(story.key, made.body.id)).status).toBe(404);
    expect((await service.simulate(story.key, made.body.id, { event: 'pay' })).status).toBeGreaterThanOrEqual(400);
    expect(requests()).toBe(before);
    const charge = await chargeOf(stranger);
    expect(story.bank.state().cobs.find(({ txid }) => txid === charge.pix.txid)).toMatchObject({
      clientId: stranger.clientId,
      chave: stranger.pixKey,
    });
    expect((await service.getCharge(story.key, charge.id)).status).toBe(404);
  });
});
