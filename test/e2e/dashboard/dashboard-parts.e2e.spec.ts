import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { barriers, Dashboard, inDialog } from '../../support/dashboard.js';
import { describeWith } from '../../support/needs.js';
import { startRedis } from '../../support/redis.js';
import { TestService } from '../../support/service.js';
import { JWT_SECRET } from '../../support/tokens.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(300_000);

/** The page of all components, which developers see at `/dashboard/_ui`. */
describeWith('browser')('the components of the dashboard in a real browser', () => {
  const dashboard = new Dashboard();
  let page: Page;

  beforeAll(async () => {
    await dashboard.start();
    page = await dashboard.open('/_ui', { reducedMotion: 'reduce' });
  });
  beforeEach(async () => {
    await page.reload();
    await page.getByRole('combobox', { name: 'Banco' }).waitFor();
    await page.getByRole('group', { name: 'Período' }).waitFor();
  });
  afterAll(() => dashboard.stop());

  it.each(['light', 'dark'] as const)('have no finding of axe on a phone and a desk (%s)', async (colorScheme) => {
    const found: unknown[] = [];
    await page.emulateMedia({ colorScheme });
    for (const width of [320, 390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      found.push(...(await barriers(page, String(width))));
    }
    expect(found).toEqual([]);
  });

  it('open a menu by keyboard, act, and give the focus back', async () => {
    const menu = page.getByRole('button', { name: 'Mais ações' });
    await menu.focus();
    await page.keyboard.press('ArrowDown');
    await waitFor('the focus of the first action', async () => (await focused(page)) === 'Copiar o link' || null);
    expect(await barriers(page, 'menu')).toEqual([]);
    // The disabled action is passed over.
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('Cancelar');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    expect(await menu.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('Enter');
    await waitFor('the focus of the first action', async () => (await focused(page)) === 'Copiar o link' || null);
    await page.keyboard.press('Enter');
    const toast = page.getByRole('status').filter({ hasText: 'Copiado.' });
    await toast.waitFor();
    await toast.getByRole('button', { name: 'Fechar' }).click();
    await page.getByText('Copiado.').waitFor({ state: 'detached' });
  });

  it('find a bank without its accent', async () => {
    const bank = page.getByRole('combobox', { name: 'Banco' });
    await bank.fill('itau');
    await page.getByRole('option', { name: 'Itaú', exact: true }).waitFor();
    await bank.press('ArrowDown');
    await bank.press('Enter');
    expect(await bank.inputValue()).toBe('Itaú');
  });

  it('take a period by typing, in the calendar and by one press', async () => {
    const period = page.getByRole('group', { name: 'Período' });
    const day = period.getByRole('spinbutton').first();
    await day.focus();
    await page.keyboard.type('05');
    expect(await day.innerText()).toBe('05');
    await period.getByRole('button').click();
    await page.getByRole('heading', { name: /de 2026/ }).waitFor();
    expect(await barriers(page, 'calendar')).toEqual([]);
    await page.getByRole('button', { name: 'Mês passado' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await day.innerText()).toBe('01');
  });

  it('show the values of a day in the chart by hover, touch and keyboard, and all of them in a table', async () => {
    const chart = page.getByRole('slider', { name: 'Recebido por dia' });
    await chart.focus();
    await page.keyboard.press('Home');
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/^1 nov\.: R\$\s400,00; Outubro: R\$\s300,00$/);
    await page.keyboard.press('ArrowRight');
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/^2 nov\.: R\$\s479,19;/);
    await page.keyboard.press('Escape');
    await chart.hover({ position: { x: 2, y: 50 } });
    await chart.getByText('1 nov.', { exact: true }).waitFor();
    await page.getByText('Ver como tabela').click();
    expect(await page.getByRole('group', { name: 'Recebido por dia' }).getByRole('row').count()).toBe(31);
    await page.getByText('Ver como tabela').click();
  });

  it('sort a table by its heads, and move through its rows by j, k and Enter', async () => {
    const rows = page.getByRole('group', { name: 'Tabela' }).getByRole('row');
    expect(await rows.nth(1).innerText()).toContain('Paralelepípedo');
    await page.getByRole('button', { name: 'Valor' }).click();
    expect(await rows.nth(1).innerText()).toContain('João');
    expect(await page.getByRole('columnheader', { name: 'Valor' }).getAttribute('aria-sort')).toBe('ascending');
    await rows.nth(1).getByRole('link').focus();
    await page.keyboard.press('j');
    expect(await page.evaluate("document.activeElement?.closest('tr')?.innerText")).toBe(await rows.nth(2).innerText());
  });

  it('show rows as cards on a phone, with ids in one line', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const rows = page.getByRole('group', { name: 'Tabela' }).getByRole('row');
    const cells = rows.nth(1).getByRole('cell');
    expect((await cells.nth(0).boundingBox())?.y).toBe((await cells.nth(1).boundingBox())?.y);
    const id = rows.nth(1).getByRole('button', { name: /^Copiar tx_/ });
    expect((await id.boundingBox())?.height).toBeLessThan(30);
    await page.getByLabel('Ordenar por').selectOption('amount desc');
    expect(await rows.nth(1).innerText()).toContain('Paralelepípedo');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('ask before an act, and close by Esc', async () => {
    await page.getByRole('button', { name: 'Diálogo' }).click();
    await inDialog(page).getByText('R$ 129,90 voltam para Maria; restam R$ 0,00.').waitFor();
    expect(await barriers(page, 'dialog')).toEqual([]);
    await page.keyboard.press('Escape');
    await inDialog(page).waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Diálogo');
  });

  it('move nothing for people who want no motion', async () => {
    const moving = await page.evaluate<number>(
      "[...document.querySelectorAll('*')].filter((one) => { const { animationName, transitionDuration } = getComputedStyle(one); return animationName !== 'none' || transitionDuration.split(', ').some((time) => parseFloat(time) > 0); }).length",
    );
    expect(moving).toBe(0);
  });

  it('have no errors, no requests to other hosts, and no policy violations', () => {
    expect(dashboard.faults).toEqual([]);
  });
});

const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement?.innerText');

describeWith('redis')('the components in production', () => {
  it('are not served', async () => {
    const redis = await startRedis();
    const service = await TestService.start({
      env: {
        NODE_ENV: 'production',
        JWT_SECRET,
        ENCRYPTION_KEY: 'ab'.repeat(32),
        REDIS_URL: redis.url,
      },
    });
    try {
      const built = readFileSync('dist/dashboard/_ui.html', 'utf8');
      const script = /\/dashboard\/assets\/gallery-\w+\.js/.exec(built)?.[0] ?? '';
      expect((await service.call('GET', script)).status).toBe(404);
      const page = await service.call('GET', '/dashboard/_ui');
      expect(page.text).not.toContain('gallery-');
      expect(page.text).toBe((await service.call('GET', '/dashboard')).text);
    } finally {
      await service.stop();
      await redis.stop();
    }
  });
});
