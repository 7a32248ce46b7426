import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { browserAvailable, openBrowser } from '../support/browser.js';
import { type Merchant, TestService } from '../support/service.js';

const describeInBrowser = browserAvailable() ? describe : describe.skip;

describeInBrowser('the checkout page in a real browser', () => {
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
    const context = await browser.newContext({ ...options, viewport: { width: 375, height: 800 } });
    const page = await context.newPage();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).origin));
    page.on('pageerror', (error) => {
      throw error;
    });
    await page.goto(`${service.url}/checkout/${id.slice(3)}`);
    return { page, requested };
  }

  it('shows what to pay and turns to paid by itself, asking nobody else', async () => {
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
    await page.locator('main[data-status="paid"]').waitFor({ timeout: 10_000 });
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

  it('a charge that does not exist is a friendly page', async () => {
    const { page } = await open(`ch_${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`, { javaScriptEnabled: true });
    expect(await page.locator('h1').innerText()).not.toBe('');
    expect((await fetch(`${service.url}/checkout/nonsense`)).status).toBe(404);
  });
});
