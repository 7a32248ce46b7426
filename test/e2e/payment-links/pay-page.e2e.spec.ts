import { beforeAll, describe, expect, it } from '@jest/globals';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aPaymentLink,
  chargeIdOf,
  createLink,
  openLink,
  pathOf,
  readLink,
  sendForm,
  visitAndPay,
} from '../../support/payment-links.js';
import { refundEnd, requestRefund } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const MARIA = { name: 'Maria da Silva', tax_id: '529.982.247-25', email: 'maria@example.com', phone: '11 98765-4321' };

describe('the page of a payment link', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let key: string;
  const change = (id: string, body: object) => service.call('PATCH', `/v1/payment-links/${id}`, { key, body });
  const end = (id: string) => service.call('POST', `/v1/payment-links/${id}/end`, { key });
  const statusOf = async (id: string): Promise<string> => (await service.getCharge(key, id)).body.status;

  beforeAll(async () => {
    merchant = await service.merchant();
    key = merchant.testKey;
  });

  it('makes a charge with the answers of the payer, the link and its metadata', async () => {
    const link = await aPaymentLink(service, key, {
      ...{ ask: ['name', 'tax_id', 'email', 'phone'], question: 'Whole or ground?' },
      ...{ return_url: 'https://shop.example/thanks', metadata: { campaign: 'december', payment_link: 'forged' } },
    });
    const id = await visitAndPay(service, pathOf(link), { ...MARIA, answer: 'Ground', amount: '1,00' });
    expect((await service.getCharge(key, id)).body).toMatchObject({
      amount: 5000,
      customer: {
        ...{ name: 'Maria da Silva', document: '52998224725', email: 'maria@example.com', phone: '11 98765-4321' },
      },
      metadata: {
        ...{ campaign: 'december', payment_link: link.id, returnUrl: 'https://shop.example/thanks' },
        ...{ payment_link_question: 'Whole or ground?', payment_link_answer: 'Ground' },
        description: 'Coffee of the month',
      },
    });
    const feed = await service.call<{ data: { type: string; data: object }[] }>('GET', `/v1/events?subject=${id}`, {
      key,
    });
    const created = feed.body.data.find(({ type }) => type === 'charge.created');
    expect(created?.data).toMatchObject({ object: { metadata: { payment_link: link.id } } });
  });

  it.each([
    [{ ...MARIA, name: ' ' }, 'name'],
    [{ ...MARIA, tax_id: '529.982.247-24' }, 'tax_id'],
    [{ ...MARIA, email: 'maria' }, 'email'],
    [{ ...MARIA, phone: 'none' }, 'phone'],
    [{ ...MARIA, answer: 'x'.repeat(501) }, 'answer'],
    [{ ...MARIA, amount: '9,99' }, 'amount'],
    [{ ...MARIA, amount: '100.01' }, 'amount'],
    [{ ...MARIA, amount: 'much' }, 'amount'],
  ])('shows the form again for %j, with the field marked and the entries kept', async (fields, wrong) => {
    const link = await aPaymentLink(service, key, {
      ...{ amount: undefined, amount_min: 1000, amount_max: 10_000, ask: ['name', 'tax_id', 'email', 'phone'] },
      question: 'Whole or ground?',
    });
    const path = pathOf(link);
    const { visit } = await openLink(service, path);
    const answer = await sendForm(service, path, { visit, amount: '50', answer: 'Ground', ...fields });
    expect(answer.status).toBe(400);
    expect([...answer.text.matchAll(/id="(\w+)-error"/g)].map(([, field]) => field)).toEqual([wrong]);
    expect(answer.text).toContain(`value="${visit}"`);
    expect(answer.text).toContain('value="Maria da Silva"'.slice(0, wrong === 'name' ? 6 : undefined));
    const corrected = await sendForm(service, path, { visit, ...MARIA, amount: 'R$ 50,5', answer: 'Ground' });
    expect((await service.getCharge(key, chargeIdOf(corrected))).body.amount).toBe(5050);
  });

  it('gives one charge to a visit, however often it is opened and sent', async () => {
    const path = pathOf(await aPaymentLink(service, key));
    const first = await openLink(service, path);
    const again = await openLink(service, path, first.cookie);
    expect(again.visit).toBe(first.visit);
    const answers = await Promise.all(Array.from({ length: 8 }, () => sendForm(service, path, { visit: first.visit })));
    expect(new Set(answers.map(chargeIdOf)).size).toBe(1);
    expect(await visitAndPay(service, path)).not.toBe(chargeIdOf(answers[0] as never));
  });

  it('makes another charge for other answers, and after the first one is over', async () => {
    const path = pathOf(await aPaymentLink(service, key, { amount: undefined }));
    const { visit } = await openLink(service, path);
    const send = async (amount: string): Promise<string> =>
      chargeIdOf(await sendForm(service, path, { visit, amount }));
    const first = await send('10');
    expect(await send('20')).not.toBe(first);
    await service.simulate(key, first, { event: 'pay' });
    const [second, twin] = await Promise.all([send('10'), send('10')]);
    expect(second).not.toBe(first);
    expect(twin).toBe(second);
  });

  it('counts payments, also those that are refunded or disputed later', async () => {
    const link = await aPaymentLink(service, key);
    const path = pathOf(link);
    const [refunded, disputed] = [await visitAndPay(service, path), await visitAndPay(service, path)];
    for (const id of [refunded, disputed]) await service.simulate(key, id, { event: 'pay' });
    const { body } = await requestRefund(service, key, refunded.slice(3), {});
    await refundEnd(service, key, body);
    await service.simulate(key, disputed, { event: 'med_open' });
    expect(await readLink(service, key, link.id)).toMatchObject({ paid_count: 2, paid_amount: 10_000 });
    await expectLedgerCoherent(service.database.url);
  });

  it('sends back a Pix beyond the limit, says so politely, and goes on when the limit is raised', async () => {
    const link = await aPaymentLink(service, key, { max_payments: 1 });
    const path = pathOf(link);
    const ids = [await visitAndPay(service, path), await visitAndPay(service, path), await visitAndPay(service, path)];
    const [first = '', second = '', third = ''] = ids;
    await Promise.all([first, second].map((id) => service.simulate(key, id, { event: 'pay' })));
    const statuses = await Promise.all([first, second].map(statusOf));
    expect(statuses.sort()).toEqual(['cancelled', 'paid']);
    const [back] = (await Promise.all([first, second].map((id) => service.getCharge(key, id)))).filter(
      ({ body }) => body.status === 'cancelled',
    );
    await waitFor('the second Pix to be back', async () => {
      const { body } = await service.getCharge(key, back?.body.id ?? '');
      return JSON.stringify(body['returns'] ?? '').includes('charge_closed');
    });
    await waitFor('the open charge to be cancelled', async () => (await statusOf(third)) === 'cancelled');
    expect(await readLink(service, key, link.id)).toMatchObject({
      paid_count: 1,
      status: 'ended',
      ended_reason: 'full',
    });
    const { page } = await openLink(service, path);
    expect([page.status, page.text.includes('já recebeu todos os pagamentos')]).toEqual([410, true]);
    expect((await sendForm(service, path, { visit: 'x'.repeat(22) })).status).toBe(410);
    expect((await change(link.id, { max_payments: 2 })).status).toBe(200);
    expect((await change(link.id, { max_payments: 1 })).status).toBe(200);
    expect((await change(link.id, { max_payments: 2 })).body).toMatchObject({ status: 'active' });
    expect((await openLink(service, path)).page.status).toBe(200);
    await expectLedgerCoherent(service.database.url);
  });

  it('cancels the open charges of an ended link, and sends a later Pix back', async () => {
    const link = await aPaymentLink(service, key);
    const id = await visitAndPay(service, pathOf(link));
    await end(link.id);
    await waitFor('the charge to be cancelled', async () => (await statusOf(id)) === 'cancelled');
    await service.simulate(key, id, { event: 'pay' });
    expect(await readLink(service, key, link.id)).toMatchObject({ paid_count: 0, ended_reason: 'ended' });
    expect((await openLink(service, `${pathOf(link)}?lang=en`)).page.text).toContain('This link has ended');
  });

  it('lets no charge live longer than its link, and cancels those of an earlier end', async () => {
    const at = (seconds: number): string => new Date(service.clock.now().getTime() + seconds * 1000).toISOString();
    const link = await aPaymentLink(service, key, { expires_at: at(600) });
    const id = await visitAndPay(service, pathOf(link));
    const { body } = await service.getCharge(key, id);
    expect(Date.parse(body.pix.expires_at)).toBeLessThanOrEqual(Date.parse(String(link['expires_at'])));
    await change(link.id, { expires_at: at(120) });
    service.clock.advance(121);
    await waitFor('the charge to be cancelled', async () => (await statusOf(id)) === 'cancelled');
    expect((await openLink(service, pathOf(link))).page.text).toContain('O prazo deste link terminou');
  });

  it('does not count a charge of the API that names the link', async () => {
    const link = await aPaymentLink(service, key, { max_payments: 1 });
    const { body } = await service.createCharge(key, { metadata: { payment_link: link.id } });
    await service.simulate(key, body.id, { event: 'pay' });
    expect(await statusOf(body.id)).toBe('paid');
    expect(await readLink(service, key, link.id)).toMatchObject({ paid_count: 0 });
  });

  it('says politely that a charge is refused or that another site sent the form', async () => {
    const blocked = await service.merchant({ fraud_max_amount: '1000' });
    const tooMuch = pathOf(await aPaymentLink(service, blocked.testKey));
    const suspended = await service.merchant();
    const ofSuspended = pathOf(await aPaymentLink(service, suspended.testKey));
    const { token } = await service.operator();
    const account = `/v1/operations/accounts/${suspended.accountId}`;
    expect((await service.call('PATCH', account, { token, body: { suspended: true } })).status).toBe(200);
    const live = pathOf((await createLink(service, merchant.liveKey)).body);
    for (const [path, status] of [
      [tooMuch, 403],
      [ofSuspended, 403],
      [live, 422],
    ] as const) {
      const { visit } = await openLink(service, path);
      const refused = await sendForm(service, path, { visit });
      expect({ path, status: refused.status }).toEqual({ path, status });
      expect(refused.text).toContain('Não é possível pagar por este link agora');
      expect(refused.text).not.toMatch(/fraud|suspend|provider/i);
    }
    const path = pathOf(await aPaymentLink(service, key));
    const { visit } = await openLink(service, path);
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      expect((await sendForm(service, path, { visit }, headers)).status).toBe(403);
    }
    expect((await openLink(service, '/pay/nobody')).page.status).toBe(404);
    expect((await sendForm(service, '/pay/nobody', {})).status).toBe(404);
    expect((await sendForm(service, path, { visit: 'x' })).status).toBe(400);
  });

  it('allows no script, no frame and no other form, and is in no index', async () => {
    const { page } = await openLink(service, pathOf(await aPaymentLink(service, key)));
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'.*form-action 'self'; frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe/);
    expect(page.text).not.toMatch(/<script| style="| on\w+="/);
    expect(page.headers.get('x-robots-tag')).toContain('noindex');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('set-cookie')).toMatch(/HttpOnly; Secure; SameSite=Lax/);
  });

  it('draws a QR code that opens the link, as PNG and SVG', async () => {
    const link = await aPaymentLink(service, key);
    const png = PNG.sync.read(Buffer.from(await (await fetch(`${service.url}${pathOf(link)}/qr.png`)).arrayBuffer()));
    expect(jsqr.default(new Uint8ClampedArray(png.data), png.width, png.height)?.data).toBe(link.url);
    const svg = await service.call('GET', `${pathOf(link)}/qr.svg`);
    expect(svg.headers.get('content-type')).toContain('image/svg+xml');
    expect(svg.text).toMatch(/^<svg xmlns=.*<\/svg>$/);
  });

  it('escapes the words of the merchant and the entries of the payer', async () => {
    const hostile = `<img src=x onerror="alert(1)">`;
    const link = await aPaymentLink(service, key, {
      name: hostile,
      description: hostile,
      question: hostile,
      ask: ['name'],
    });
    const { page, visit } = await openLink(service, pathOf(link));
    const sent = await sendForm(service, pathOf(link), { visit, name: hostile, answer: '' });
    for (const text of [page.text, sent.text]) expect(text).not.toContain('<img src=x');
  });
});

describe('the limit by address', () => {
  const service = TestService.forSpec({
    env: { RATE_LIMIT: 'on', RATE_LIMIT_PUBLIC_PER_MINUTE: '2' },
    stillLimits: true,
  });

  it('refuses the form of an address that has sent too many', async () => {
    const { testKey } = await service.merchant();
    const path = pathOf(await aPaymentLink(service, testKey));
    const { visit } = await openLink(service, path);
    const statuses: number[] = [];
    for (let turn = 0; turn < 6; turn++) statuses.push((await sendForm(service, path, { visit })).status);
    // The page and its form share the limit.
    expect(statuses).toEqual([303, 303, 303, 429, 429, 429]);
  });
});
