import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeWith } from '../../support/needs.js';
import { openBrowser } from '../../support/browser.js';
import { refundEnd, requestRefund } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describeWith('browser')('the checkout page in a real browser', () => {
  let service: TestService;
  let merchant: Merchant;
  let browser: Browser;

  beforeAll(async () => {
    service = await TestService.start();
    merchant = await service.merchant();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  /** Opens a page that fails the test on errors, and remembers every address it asked for. */
  async function open(
    id: string,
    options: { javaScriptEnabled: boolean },
  ): Promise<{ page: Page; requested: string[] }> {
    const context = await browser.newContext({ ...options, locale: 'pt-BR', viewport: { width: 375, height: 800 } });
    const page = await context.newPage();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).origin));
    page.on('pageerror', (error) => {
      throw error;
    });
    await page.goto(`${service.url}/checkout/${id.slice(3)}`);
    return { page, requested };
  }

  it('shows what to pay and changes to paid by itself, without requests to other hosts', async () => {
    const { body: charge } = await service.createCharge(merchant.testKey, {
      amount: 123_456,
      customer: { name: 'Maria Segredo', document: '52998224725' },
      metadata: { internal: 'nobody-sees-this' },
    });
    const { page, requested } = await open(charge.id, { javaScriptEnabled: true });
    expect(await page.locator('.amount').innerText()).toContain('1.234,56');
    expect(await page.locator('h1').innerText()).not.toBe('');
    expect(await page.content()).toContain('Padaria São João');
    expect(await page.locator('#br-code').inputValue()).toBe(charge.pix.br_code);
    expect(
      await page.locator('.tile img').evaluate((image: { naturalWidth: number }) => image.naturalWidth),
    ).toBeGreaterThan(200);
    expect(await page.locator('button[data-copy]').isVisible()).toBe(true);
    expect(await page.locator('[data-countdown]').innerText()).toMatch(/\d/);
    for (const hidden of ['Segredo', '52998224725', 'nobody-sees-this'])
      expect(await page.content()).not.toContain(hidden);

    await service.simulate(merchant.testKey, charge.id, { event: 'pay' });
    await page.locator('main[data-status="paid"]').waitFor();
    expect(await page.locator('#br-code').count()).toBe(0);
    expect(new Set(requested)).toEqual(new Set([service.url]));
  });

  it('works without JavaScript', async () => {
    const { body: charge } = await service.createCharge(merchant.testKey);
    const { page } = await open(charge.id, { javaScriptEnabled: false });
    expect(await page.locator('#br-code').inputValue()).toBe(charge.pix.br_code);
    expect(await page.locator('button[data-copy]').isVisible()).toBe(false);
    await service.simulate(merchant.testKey, charge.id, { event: 'expire' });
    await page.reload();
    expect(await page.locator('main').getAttribute('data-status')).toBe('expired');
  });

  it('is friendly for a charge that does not exist', async () => {
    const { page } = await open(`ch_${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`, { javaScriptEnabled: true });
    expect(await page.locator('h1').innerText()).not.toBe('');
    expect((await fetch(`${service.url}/checkout/nonsense`)).status).toBe(404);
  });

  describe('after the payment', () => {
    /** Opens a charge whose shop is a page of this service, and pays it. */
    async function pay(options: { javaScriptEnabled: boolean }): Promise<{ page: Page; back: string }> {
      const shop = `${service.url}/health/live`;
      const { body: charge } = await service.createCharge(merchant.testKey, { metadata: { returnUrl: shop } });
      const { page } = await open(charge.id, options);
      await service.simulate(merchant.testKey, charge.id, { event: 'pay' });
      if (!options.javaScriptEnabled) await page.reload();
      await page.locator('main[data-status="paid"]').waitFor();
      return { page, back: `${shop}?charge_id=${charge.id}&status=paid` };
    }

    it.each([true, false])('leads back to the shop after five seconds (JavaScript: %s)', async (javaScriptEnabled) => {
      const { page, back } = await pay({ javaScriptEnabled });
      const paidAt = Date.now();
      await page.waitForURL(back, { timeout: 15_000 });
      expect(Date.now() - paidAt).toBeGreaterThan(3_500);
      if (!javaScriptEnabled) return;
      await page.goBack();
      await page.locator('main[data-status="paid"]').waitFor();
      expect(await page.locator('[data-back]').count()).toBe(0);
    });

    it('leads back at once by its button', async () => {
      const { page, back } = await pay({ javaScriptEnabled: true });
      await page.locator('a.button[data-return]').click();
      await page.waitForURL(back, { timeout: 3_000 });
    });

    it('stays when the payer touches the page', async () => {
      const { page } = await pay({ javaScriptEnabled: true });
      await page.locator('h1').click();
      expect(await page.locator('[data-back]').count()).toBe(0);
      await page.waitForTimeout(6_000);
      expect(await page.locator('main[data-status="paid"]').count()).toBe(1);
    });
  });

  describe('in every state', () => {
    const WIDTHS = [320, 390, 1280];
    const LOGO =
      'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR4nGNgaPiPB41KN+BAg1MaAD3yxzkvN8oQAAAAAElFTkSuQmCC';
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    /** Where pictures of all of them are put for people to look at; nowhere when unset. */
    const pictures = process.env['SCREENSHOTS'];
    const states = new Map<string, string>();
    let key: string;
    let owner: string;

    async function charge(body: Record<string, unknown> = {}): Promise<ChargeAnswer> {
      const metadata = { returnUrl: 'https://loja.example/obrigado?pedido=1042' };
      const answer = await service.createCharge(key, {
        amount: 123_456,
        description: 'Pedido 1042: dois pães e um café, para retirar na loja',
        metadata,
        ...body,
      });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    }

    beforeAll(async () => {
      const brand = await service.merchant({
        payer_lock: 'true',
        accent: '#7a1fa2',
        logo: `data:image/png;base64,${LOGO}`,
      });
      key = brand.testKey;
      owner = brand.ownerEmail;
      const simulate = (id: string, event: string) => service.simulate(key, id, { event });
      const path = (id: string, rest = ''): string => `/checkout/${id.slice(3)}${rest}`;
      const pending = await charge({ customer: { name: 'Maria' }, expected_payer_tax_id: '52998224725' });
      states.set('pending', path(pending.id));
      const { body: payment } = await service.call<{ id: string }>('POST', '/v1/payments', {
        key,
        body: {
          ...{ amount: 9_999_999_999, currency: 'BRL', paymentMethods: ['PIX', 'BOLETO', 'CREDIT_CARD'] },
          ...{ customerName: 'Maria', customerDocument: '52998224725', idempotencyKey: 'every-method' },
          metadata: { description: '<b>Um nome longo</b> \u202eRTL ' + 'palavra '.repeat(20) + 'x'.repeat(60) },
        },
      });
      states.set('every-method', `/checkout/${payment.id}`);
      const alone = (paymentMethods: string[], currency: string) =>
        service.call<{ id: string }>('POST', '/v1/payments', {
          key,
          body: {
            ...{ amount: 4990, currency, paymentMethods, idempotencyKey: paymentMethods.join() },
            metadata: { phone: '+351912345678' },
          },
        });
      states.set('boleto', `/checkout/${(await alone(['BOLETO'], 'BRL')).body.id}`);
      states.set('europe', `/checkout/${(await alone(['MULTIBANCO', 'MBWAY', 'CRYPTO'], 'EUR')).body.id}`);
      const { id: cardId } = (await alone(['CREDIT_CARD'], 'BRL')).body;
      await waitFor('the page of the card', async () => {
        const { body } = await service.call<{ cardRedirectUrl: string | null }>('GET', `/v1/payments/${cardId}`, {
          key,
        });
        if (body.cardRedirectUrl !== null) states.set('card', new URL(body.cardRedirectUrl).pathname);
        return states.has('card');
      });
      for (const [name, events] of Object.entries({
        paid: ['pay'],
        expired: ['expire'],
        late: ['expire', 'pay'],
        disputed: ['pay', 'med_open'],
      })) {
        const { id } = await charge();
        for (const event of events) await simulate(id, event);
        states.set(name, path(id));
        if (name === 'paid') states.set('receipt', path(id, '/receipt'));
      }
      const cancelled = await charge();
      await service.call('POST', `/v1/payments/${cancelled.id.slice(3)}/cancel`, { key });
      states.set('cancelled', path(cancelled.id));
      const refunded = await charge();
      await simulate(refunded.id, 'pay');
      for (const amount of [23_456, 100_000]) {
        const { body: refund } = await requestRefund(service, key, refunded.id.slice(3), { amount });
        await refundEnd(service, key, refund);
      }
      states.set('refunded', path(refunded.id));
      const { chargeId } = await service.heldCharge(key, { amount: 123_456 });
      states.set('processing', path(chargeId));
      states.set('not-found', '/checkout/nobody');
      states.set('no-receipt', path(pending.id, '/receipt'));
      await waitFor('what came late to be sent back', async () => {
        const page = await service.call('GET', `${states.get('late') ?? ''}`);
        return page.text.includes('Pix depois do prazo');
      });
      // A page of a payment that has just arrived would lead away.
      service.clock.advance(180);
    });

    it.each(['pt', 'en'] as const)(
      'has no finding of axe, fits every width and requests no other host (%s)',
      async (lang) => {
        for (const colorScheme of ['light', 'dark'] as const) {
          const context = await browser.newContext({ colorScheme, javaScriptEnabled: true, deviceScaleFactor: 2 });
          const page = await context.newPage();
          const problems: string[] = [];
          page.on('pageerror', (error) => problems.push(error.message));
          page.on('console', (message) => {
            // The answers to what is not found are 404.
            if (message.type() === 'error' && !message.text().includes('404')) problems.push(message.text());
          });
          page.on('request', (request) => {
            if (!request.url().startsWith(service.url) && !request.url().startsWith('data:'))
              problems.push(request.url());
          });
          for (const [name, path] of states) {
            for (const width of WIDTHS) {
              await page.setViewportSize({ width, height: 800 });
              await page.goto(`${service.url}${path}?lang=${lang}`);
              const where = `${name} ${lang} ${colorScheme} ${width}`;
              const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
              expect({ where, overflow: Math.max(0, overflow) }).toEqual({ where, overflow: 0 });
              if (pictures !== undefined && (lang === 'pt' || width === 320)) {
                mkdirSync(pictures, { recursive: true });
                await page.screenshot({ path: `${pictures}/${where.replaceAll(' ', '-')}.png`, fullPage: true });
              }
              const square = await page.evaluate<number[] | null>(
                `(() => { const box = document.querySelector('.tile img')?.getBoundingClientRect(); return box ? [box.width, box.height] : null; })()`,
              );
              const side = width < 860 ? 214 : 256;
              if (square !== null) expect({ where, square }).toEqual({ where, square: [side, side] });
              await page.evaluate(axe);
              const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
                'axe.run().then((result) => result.violations)',
              );
              expect({ where, found: found.map(({ id, nodes }) => [id, nodes[0]?.html]) }).toEqual({
                where,
                found: [],
              });
            }
          }
          expect(problems).toEqual([]);
          await context.close();
        }
      },
      240_000,
    );

    it('sends mails of the receipt and of the dispute that fit every width', async () => {
      const { id } = await charge({ customer: { name: 'Maria da Silva', email: 'maria.payer@example.com' } });
      await service.simulate(key, id, { event: 'pay' });
      const receipt = join(service.runtime.resources.config.dataDir, 'mail', `${id.slice(3)}.eml`);
      await waitFor('the receipt', () => existsSync(receipt));
      const mails = { 'mail-receipt': readFileSync(receipt, 'utf8'), 'mail-dispute': await service.mailTo(owner) };
      for (const [name, mail] of Object.entries(mails)) {
        const html = htmlOf(mail);
        expect(html).toContain('TESTE');
        for (const colorScheme of ['light', 'dark'] as const) {
          const context = await browser.newContext({ colorScheme, deviceScaleFactor: 2 });
          const page = await context.newPage();
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 });
            // As mailboxes show it: on their own colours.
            await page.setContent(
              `<!doctype html><html lang="pt-BR"><title>.</title><meta name="color-scheme" content="light dark"><main>${html}</main>`,
            );
            const where = `${name} pt ${colorScheme} ${width}`;
            expect({
              where,
              overflow: await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
            }).toEqual({ where, overflow: 0 });
            if (pictures !== undefined) {
              mkdirSync(pictures, { recursive: true });
              await page.screenshot({ path: `${pictures}/${where.replaceAll(' ', '-')}.png`, fullPage: true });
            }
            await page.evaluate(axe);
            const found = await page.evaluate<{ id: string }[]>('axe.run().then((result) => result.violations)');
            // The heading of a mail is its subject.
            expect({
              where,
              found: found.map((one) => one.id).filter((one) => one !== 'page-has-heading-one'),
            }).toEqual({ where, found: [] });
          }
          await context.close();
        }
      }
    }, 60_000);

    it('can be paid, opened and left without JavaScript', async () => {
      const { page } = await open(`ch_${states.get('pending')?.split('/').at(-1) ?? ''}`, { javaScriptEnabled: false });
      expect(await page.locator('.tools a').getAttribute('download')).toBe('pix.png');
      expect(await page.locator('button').filter({ visible: true }).count()).toBe(0);
      await page.goto(`${service.url}${states.get('paid') ?? ''}`);
      await page.locator('a.button').click();
      expect(await page.locator('h1').innerText()).toBe('Recibo de pagamento');
      await page.locator('.top a').click();
      expect(await page.locator('h1').innerText()).toBe('Receipt of a payment');
    });

    it('counts days when there are some, and offers sharing on phones that support it', async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.addInitScript(`navigator.share = (what) => { window.shared = what; return Promise.resolve(); }`);
      await page.clock.install({ time: Date.now() });
      const { id } = await charge();
      await service.sql(`UPDATE transactions SET expires_at = now() + interval '90 hours 53 minutes' WHERE id = $1`, [
        id.slice(3),
      ]);
      await page.goto(`${service.url}/checkout/${id.slice(3)}`);
      expect(await page.locator('[data-countdown]').innerText()).toBe('3 d 18 h');
      await page.locator('[data-share]').click();
      // Android joins text and address: the bank's app must get the code alone.
      const code = await page.locator('#br-code').inputValue();
      expect(await page.evaluate('window.shared')).toEqual({ text: code });
      await page.goto(`${service.url}${states.get('receipt') ?? ''}?lang=en`);
      await page.locator('[data-share]').click();
      expect(await page.evaluate('window.shared')).toEqual({
        ...{ title: await page.title(), url: `${service.url}${states.get('receipt') ?? ''}` },
      });
      await context.close();
    });

    it('copies the address of the receipt where the browser cannot share, and prints it without buttons', async () => {
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
      const page = await context.newPage();
      await page.goto(`${service.url}${states.get('receipt') ?? ''}?lang=pt`);
      await page.locator('[data-share]').click();
      await page.getByText('Link copiado').first().waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        `${service.url}${states.get('receipt') ?? ''}`,
      );
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.locator('button, a').filter({ visible: true }).count()).toBe(0);
      expect(await page.locator('.amount').isVisible()).toBe(true);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
      await context.close();
    });

    it.each([
      [390, 664],
      [1440, 900],
    ])('shows amount, copy button and QR code without scrolling at %i by %i', async (width, height) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const context = await browser.newContext({ colorScheme, viewport: { width, height } });
        const page = await context.newPage();
        for (const name of ['pending', 'every-method']) {
          for (const lang of ['pt', 'en']) {
            await page.goto(`${service.url}${states.get(name) ?? ''}?lang=${lang}`);
            for (const part of ['.amount', '[data-copy=br-code]', '.qr img']) {
              const box = await page.locator(part).boundingBox();
              const where = `${name} ${lang} ${colorScheme} ${part}`;
              const isSeen = box !== null && box.y >= 0 && box.y + box.height <= height;
              expect({ where, isSeen, box }).toEqual({ where, isSeen: true, box });
            }
          }
        }
        await context.close();
      }
    });

    it('opens one method at a time, and shows the page of a payment without Pix', async () => {
      const context = await browser.newContext({ locale: 'pt-BR' });
      const page = await context.newPage();
      await page.goto(`${service.url}${states.get('every-method') ?? ''}`);
      await page.getByText('Cartão de crédito').click();
      expect(await page.getByRole('link', { name: 'Pagar com cartão' }).isVisible()).toBe(true);
      await page.getByText('Boleto', { exact: true }).click();
      expect(await page.getByRole('link', { name: 'Pagar com cartão' }).isVisible()).toBe(false);
      expect(await page.getByRole('button', { name: 'Copiar linha do boleto' }).isVisible()).toBe(true);
      await page.goto(`${service.url}${states.get('boleto') ?? ''}`);
      expect(await page.getByLabel('Linha digitável').inputValue()).toMatch(/^\d{5}\.\d{5} /);
      await page.goto(`${service.url}${states.get('card') ?? ''}`);
      await page.getByRole('button', { name: 'Aprovar' }).click();
      await page.locator('main[data-status="paid"]').waitFor();
      expect(await page.getByRole('link', { name: 'Ver recibo' }).isVisible()).toBe(true);
      await context.close();
    });

    it('weighs at most 30 KB with everything on it', async () => {
      for (const [, path] of states) {
        const { text } = await service.call('GET', path);
        const png = text.includes('qr.png') ? await fetch(`${service.url}${path}/qr.png`) : null;
        const bytes = Buffer.byteLength(text) + (png ? (await png.arrayBuffer()).byteLength : 0);
        expect(bytes).toBeLessThanOrEqual(30_720);
      }
    });
  });
});

/** The HTML of a mail's file, whose parts are quoted-printable or base64. */
function htmlOf(mail: string): string {
  const [, headers = '', body = ''] = /(Content-Type: text\/html[^]*?)\r\n\r\n([^]*?)\r\n--/.exec(mail) ?? [];
  if (headers.includes('base64')) return Buffer.from(body, 'base64').toString('utf8');
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return headers.includes('quoted-printable') ? Buffer.from(bytes, 'latin1').toString('utf8') : body;
}
