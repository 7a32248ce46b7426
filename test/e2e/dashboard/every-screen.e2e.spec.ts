import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Dashboard, SCREENS } from '../../support/dashboard.js';
import { describeWith } from '../../support/needs.js';
import { brokenWords, strayWords } from '../../support/stray-words.js';

jest.setTimeout(600_000);

const WIDTHS = [1440, 1024, 390] as const;
/** Largest sum of the layout shifts of a screen; search engines call 0.1 good. */
const MAX_SHIFT = 0.05;
/** Sums the layout shifts of the page in `shift`. */
const SUM_SHIFTS = `
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Every screen, with the demo's month of sales. `SCREENSHOTS=docs/images` takes pictures of the screens named here. */
describeWith('browser')('every screen with a month of sales in a real browser', () => {
  const dashboard = new Dashboard();
  const pictures = process.env['SCREENSHOTS'];
  const paths: (readonly [path: string, picture: string | null])[] = [];

  beforeAll(async () => {
    await dashboard.start({ DEMO_FILL: 'true' });
    const first = async (list: string): Promise<string> => {
      const { data } = await dashboard.api<{ data: { id: string }[] }>('GET', `${list}limit=1`);
      return data[0]?.id ?? '';
    };
    const shown: Readonly<Record<string, string>> = {
      '/test': 'home',
      '/test/sales': 'sales',
      '/test/balance': 'balance',
      '/test/disputes': 'disputes',
      '/test/payouts': 'payouts',
      '/test/links': 'links',
      '/test/customers': 'customers',
      '/test/reports': 'reports',
      '/test/webhooks': 'webhooks',
      '/test/developers': 'developers',
    };
    const { id: link } = await dashboard.api<{ id: string }>(
      'POST',
      '/v1/payment-links',
      { name: 'Café do mês', amount: 4_500 },
      { 'Idempotency-Key': 'link-of-the-month' },
    );
    paths.push(
      ...SCREENS.map((path) => [path, shown[path] ?? null] as const),
      [`/test/sales/${await first('/v1/payments?status=PAID&')}`, 'sale'],
      [`/test/customers/${await first('/v1/customers?')}`, null],
      [`/test/links/${link}`, 'link'],
      [`/test/disputes/${await first('/v1/med/cases?')}`, 'dispute'],
      [`/test/webhooks/deliveries/${await first('/v1/webhooks/deliveries?')}`, null],
    );
  });
  afterAll(() => dashboard.stop());

  const visit = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${dashboard.base}/dashboard${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
  };

  it('fits its window, cuts no word at the end of a line, and has no English word or name of the code', async () => {
    const page = await dashboard.asOwner('', { locale: 'pt-BR', reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const [path] of paths) {
      await visit(page, path);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const about = `${path} at ${String(width)} px`;
        if (await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'))
          found.push(`${about}: too wide`);
        found.push(...(await brokenWords(page, about)));
      }
      found.push(...(await strayWords(page, path)));
    }
    await page.context().close();
    expect(found).toEqual([]);
  });

  it('moves nothing by more than a twentieth of a phone while a screen loads', async () => {
    const page = await dashboard.asOwner('', { locale: 'pt-BR', viewport: { width: 390, height: 844 } });
    await page.addInitScript(SUM_SHIFTS);
    const found: string[] = [];
    for (const [path] of paths) {
      await visit(page, path);
      const shift = await page.evaluate<number>('shift');
      if (shift > MAX_SHIFT) found.push(`${path}: ${shift.toFixed(3)}`);
    }
    await page.context().close();
    expect(found).toEqual([]);
  });

  (pictures === undefined ? it.skip : it)('takes pictures', async () => {
    const directory = pictures ?? '';
    mkdirSync(directory, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await dashboard.asOwner('', { locale: 'pt-BR', colorScheme, reducedMotion: 'reduce' });
      for (const [path, picture] of paths) {
        if (picture === null) continue;
        await visit(page, path);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
          await page.screenshot({
            type: 'jpeg',
            path: join(directory, `${picture}-${String(width)}-${colorScheme}.jpg`),
            quality: 80,
          });
        }
      }
      await page.context().close();
    }
  });
});
