import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../support/browser.js';
import { describeWith } from '../../support/needs.js';
import { aPaymentLink, pathOf } from '../../support/payment-links.js';
import { TestService } from '../../support/service.js';

jest.setTimeout(240_000);

const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR4nGNgaPiPB41KN+BAg1MaAD3yxzkvN8oQAAAAAElFTkSuQmCC';
const WIDTHS = [390, 1440];

describeWith('browser')('a payment link in a real browser', () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  /** Folder for pictures of the pages, for people to look at; undefined: none. */
  const pictures = process.env['SCREENSHOTS'];
  let service: TestService;
  let browser: Browser;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start();
    key = (await service.merchant({ accent: '#7a1fa2', logo: PICTURE })).testKey;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const fill = async (page: Page): Promise<void> => {
    await page.getByLabel('Valor em reais').fill('50,00');
    await page.getByLabel('Nome completo').fill('Maria da Silva');
    await page.getByLabel('CPF ou CNPJ').fill('529.982.247-25');
    await page.getByLabel('Em grãos ou moído?').fill('Moído');
  };
  const link = (more: Record<string, unknown> = {}) =>
    aPaymentLink(service, key, {
      ...{ name: 'Café do mês', description: 'Meio quilo, torrado na véspera.', picture: PICTURE },
      ...{ amount: undefined, amount_min: 1000, amount_max: 10_000, ask: ['name', 'tax_id'] },
      ...{ question: 'Em grãos ou moído?', ...more },
    });

  it.each([true, false])(
    'is paid, and leads back to the shop where it can (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const shop = `${service.url}/health/live`;
      const path = pathOf(await link({ return_url: shop }));
      const context = await browser.newContext({
        locale: 'pt-BR',
        javaScriptEnabled,
        viewport: { width: 390, height: 800 },
      });
      const page = await context.newPage();
      await page.goto(`${service.url}${path}`);
      await page.getByRole('button', { name: 'Pagar com Pix' }).click();
      expect(await page.locator('[aria-invalid]').count()).toBe(4);
      await fill(page);
      await page.getByRole('button', { name: 'Pagar com Pix' }).click();
      await page.locator('main[data-status="pending"]').waitFor();
      const [, id = ''] = /checkout\/([0-9a-f-]+)/.exec(page.url()) ?? [];
      expect(await page.locator('.amount').innerText()).toContain('50,00');
      // Repeating the visit from its beginning gives the same charge.
      await page.goto(`${service.url}${path}`);
      await fill(page);
      await page.getByRole('button', { name: 'Pagar com Pix' }).dblclick();
      await page.locator('main[data-status="pending"]').waitFor();
      expect(page.url()).toContain(id);
      await service.simulate(key, id, { event: 'pay' });
      if (javaScriptEnabled) {
        await page.waitForURL(`${shop}?charge_id=ch_${id}&status=paid`, { timeout: 30_000 });
      } else {
        await page.reload();
        expect(await page.locator('[data-return]').getAttribute('href')).toBe(`${shop}?charge_id=ch_${id}&status=paid`);
      }
      await context.close();
    },
  );

  it('has no finding of axe, fits every width and requests no other host', async () => {
    const open = await link();
    const ended = await link();
    await service.call('POST', `/v1/payment-links/${ended.id}/end`, { key });
    const fixed = await aPaymentLink(service, key, { name: 'x'.repeat(120), amount: 999_999_999_999 });
    const pages = new Map([
      ...([
        ['open', pathOf(open)],
        ['fixed', pathOf(fixed)],
        ['poster', `${pathOf(open)}/print`],
      ] as const),
      ...([
        ['ended', pathOf(ended)],
        ['not-found', '/pay/nobody'],
      ] as const),
    ]);
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ colorScheme, locale: 'pt-BR' });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && !/4\d\d/.test(message.text())) problems.push(message.text());
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(service.url) && !request.url().startsWith('data:')) problems.push(request.url());
      });
      for (const [name, path] of pages) {
        for (const lang of ['pt', 'en']) {
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 });
            await page.goto(`${service.url}${path}?lang=${lang}`);
            await check(page, `${name} ${lang} ${colorScheme} ${String(width)}`);
            if (name !== 'open') continue;
            await page.locator('button[type=submit]').click();
            await page.locator('[aria-invalid]').first().waitFor();
            await check(page, `wrong ${lang} ${colorScheme} ${String(width)}`);
          }
        }
      }
      expect(problems).toEqual([]);
      await context.close();
    }
  });

  async function check(page: Page, where: string): Promise<void> {
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect({ where, overflow: Math.max(0, overflow) }).toEqual({ where, overflow: 0 });
    const broken = await page.evaluate<number>('[...document.images].filter((one) => one.naturalWidth === 0).length');
    expect({ where, broken }).toEqual({ where, broken: 0 });
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: `${pictures}/link-${where.replaceAll(' ', '-')}.png`, fullPage: true });
    }
    await page.evaluate(axe);
    const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
      'axe.run().then((result) => result.violations)',
    );
    expect({ where, found: found.map(({ id, nodes }) => [id, nodes[0]?.html]) }).toEqual({ where, found: [] });
  }
});
