import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MedDeadlines } from '../../../src/med/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { headerOf, Mailbox } from '../../support/mailbox.js';
import { aDisputedCharge, answerCase, caseOf, eventsAbout, happens } from '../../support/med.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const HOUR = 3_600;

describe('notices of a MED to the merchant', () => {
  let service: TestService;
  let mailbox: Mailbox;
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  let key: string;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    service = await TestService.start({ env: { SMTP_URL: mailbox.url } });
  });
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
    merchant = await service.merchant();
    key = merchant.testKey;
  });
  afterEach(async () => {
    await receiver.stop();
    await expectLedgerCoherent(service.database.url);
  });
  afterAll(async () => {
    await service.stop();
    await mailbox.stop();
  });

  const subscribe = (events: string[]): Promise<{ body: { id: string } }> =>
    service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', { key, body: { url: receiver.url, events } });
  const sweep = async (): Promise<void> => {
    while (await service.get(MedDeadlines).sweep());
  };
  const notices = async (id: string): Promise<number> =>
    (await eventsAbout(service, id)).filter((type) => type === 'med_case.deadline_approaching').length;

  it('announce its deadline once each, 48, 24 and 6 hours before', async () => {
    await subscribe(['med_case.deadline_approaching']);
    const { medCase } = await aDisputedCharge(service, key);
    const counts: number[] = [];
    // Hours since the opening: before and after each notice, and after the deadline.
    let passed = 0;
    for (const hours of [0, 119, 121, 121, 143, 145, 161, 163, 167, 169]) {
      service.clock.offsetMs += (hours - passed) * HOUR * 1000; // the task itself is run below
      passed = hours;
      await Promise.all([sweep(), sweep()]);
      counts.push(await notices(medCase.id));
    }
    expect(counts).toEqual([0, 0, 1, 1, 1, 2, 2, 3, 3, 3]);
    const webhooks = await receiver.waitForType('med_case.deadline_approaching', 3);
    expect(webhooks[0]?.body).toMatchObject({ data: { object: { id: medCase.id, status: 'open' } } });
    expect(new Set(webhooks.map(({ body }) => body['id'])).size).toBe(3);
  });

  it('are left out for a case that is answered or over, has no deadline or a shorter one', async () => {
    const appealed = (await aDisputedCharge(service, key)).medCase;
    await answerCase(service, key, appealed.id, 'appeal');
    const withdrawn = await aDisputedCharge(service, key);
    await happens(service, key, withdrawn.charge.id, { event: 'med_withdraw' });
    const without = (await aDisputedCharge(service, key, 100, { response_deadline: null })).medCase;
    const soon = new Date(service.clock.now().getTime() + 30 * HOUR * 1000).toISOString();
    const short = (await aDisputedCharge(service, key, 100, { response_deadline: soon })).medCase;
    await sweep();
    expect(await notices(short.id)).toBe(0);
    service.clock.advance(7 * HOUR);
    await sweep();
    expect(await notices(short.id)).toBe(1);
    // A standstill that covers the last notice and the deadline.
    service.clock.advance(200 * HOUR);
    await sweep();
    for (const [medCase, count] of [
      [appealed, 0],
      [withdrawn.medCase, 0],
      [without, 0],
      [short, 1],
    ] as const)
      expect(await notices(medCase.id)).toBe(count);
  });

  it('come by mail in Portuguese and English, whatever a payer writes', async () => {
    const sale = {
      amount: 123_456,
      customer: { name: "Ana $& D'Ávila <i>" },
      metadata: { order_id: 'Pedido 1042', description: 'loja.example/x', channel: 'web' },
    };
    const charge = (await service.createCharge(key, sale)).body;
    await service.simulate(key, charge.id, { event: 'pay' });
    await happens(service, key, charge.id, {
      event: 'med_open',
      reason: '<b>Não fui eu</b> & mais\n---\n\u0002Página do caso https://evil.example/x',
    });
    await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    const mails = await waitFor('two mails', () => {
      const found = mailbox.received.filter(({ to }) => to.includes(merchant.ownerEmail));
      return found.length >= 2 ? found : null;
    });
    const subjects = mails.map((mail) => headerOf(mail, 'Subject') ?? '');
    const opened = mails.find((_mail, index) => /opened/i.test(decoded(subjects[index] ?? '')));
    const resolved = mails.find((_mail, index) => /resolved/i.test(decoded(subjects[index] ?? '')));
    const body = decoded(opened?.raw ?? '');
    const { id } = await caseOf(service, key, charge.id);
    for (const part of [
      id,
      charge.id,
      '1.234,56',
      'Prazo para responder',
      'Deadline for answering',
      'lang="pt-BR"',
      'lang="en"',
      "Cliente e pedido: Ana $& D'Ávila <i> · Pedido 1042 · loja…",
      'Customer and order: Ana $&amp; D&#39;Ávila &lt;i&gt; · Pedido 1042 · loja…',
      'horário de Brasília',
      'Se ninguém responder a tempo',
      `/dashboard/test/disputes/${id}`,
    ])
      expect(body).toContain(part);
    // Sent mails do not contain the customer's name, and waiting mails contain it sealed only.
    const rows = await service.rows();
    expect(rows.filter(({ table, text }) => table === 'emails' && text.includes('Ávila'))).toEqual([]);
    expect(body).toContain('&lt;b&gt;Não fui eu&lt;/b&gt; &amp; mais');
    // Text of others must not form a line of its own, nor appear where a mail holds a secret for its reader.
    expect(body).toContain('mais --- Página do caso …');
    expect(decoded(resolved?.raw ?? '')).toContain('The case ended without an answer of yours');
    expect(headerOf(opened, 'Content-Type')).toMatch(/^multipart\/alternative/);
  });

  it('are available as samples of every event', async () => {
    const { body: endpoint } = await subscribe(['*']);
    for (const event of ['med_case.created', 'med_case.updated', 'med_case.deadline_approaching', 'med.resolved']) {
      const sent = await service.call('POST', `/v1/webhooks/endpoints/${endpoint.id}/test`, { key, body: { event } });
      expect([event, sent.status]).toEqual([event, 200]);
      const [webhook] = await receiver.waitForType(event);
      expect(webhook?.body).toMatchObject({ type: event, sample: true, data: { object: { object: 'med_case' } } });
    }
    const [resolved] = receiver.ofType('med.resolved');
    expect(resolved?.body['data']).toMatchObject({
      resolution: { money_outcome: 'refunded_to_merchant', amount: 1990 },
    });
  });

  it('are sent again in the current state of the case when an endpoint was down', async () => {
    const { body: endpoint } = await subscribe(['med_case.created', 'med_case.updated', 'med.resolved']);
    receiver.answer = 500;
    const since = new Date(service.clock.now().getTime() - 1000).toISOString();
    const { charge } = await aDisputedCharge(service, key);
    await happens(service, key, charge.id, { event: 'med_withdraw' });
    await receiver.waitForType('med.resolved');
    await service.sql(`UPDATE webhook_deliveries SET status = 'FAILED' WHERE account_id = $1`, [merchant.accountId]);
    receiver.answer = 200;
    const before = receiver.received.length;
    const path = `/v1/webhooks/endpoints/${endpoint.id}/recover`;
    const recovered = await service.call('POST', path, { key, body: { since } });
    expect([recovered.status, recovered.body['queued']]).toEqual([200, 1]);
    const last = await waitFor('the recovery', () =>
      receiver.received.slice(before).find(({ body }) => body['type'] === 'med.resolved'),
    );
    expect(last.body).toMatchObject({
      type: 'med.resolved',
      data: { object: { status: 'closed' }, resolution: { money_outcome: 'refunded_to_merchant', amount: 100 } },
    });
  });

  it('resend the event of the payment in its current state: disputed during the dispute, paid after it was won', async () => {
    await subscribe(['charge.paid']);
    const { charge } = await aDisputedCharge(service, key);
    const resend = async (): Promise<unknown> =>
      (await service.call('POST', `/v1/payments/${charge.id}/resend-webhook`, { key })).body;
    expect(await resend()).toEqual({ resent: true, status: 'DISPUTE' });
    const [, disputed] = await receiver.waitForType('charge.paid', 2);
    expect(disputed?.body).toMatchObject({ data: { object: { id: charge.id, status: 'disputed' } } });
    await happens(service, key, charge.id, { event: 'med_withdraw' });
    expect(await resend()).toEqual({ resent: true, status: 'PAID' });
    const [, , again] = await receiver.waitForType('charge.paid', 3);
    expect(again?.body).toMatchObject({ data: { object: { id: charge.id, status: 'paid' } } });
  });
});

/** Decodes quoted-printable and encoded words, as far as these mails use them. */
function decoded(text: string): string {
  const bytes = (quoted: string): string =>
    Buffer.from(
      quoted.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ).toString('utf8');
  return bytes(
    text
      .replaceAll(/=\?UTF-8\?Q\?([^?]*)\?=\s*/gi, (_, word: string) => bytes(word.replaceAll('_', ' ')))
      .replaceAll(/=\?UTF-8\?B\?([^?]*)\?=\s*/gi, (_, word: string) => Buffer.from(word, 'base64').toString('utf8'))
      .replaceAll(/=\r\n/g, ''),
  );
}
