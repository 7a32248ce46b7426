import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { below, type Line, told } from './report.js';
import { percentile } from './stats.js';

/** The demo account, whose owner can log in. */
export interface Demo {
  readonly account_id: string;
  readonly email: string;
  readonly password: string;
  readonly test_api_key: string;
}

export function readDemo(dataDir: string): Demo {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
}

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const VISITS = 12;
const PAGES = [
  { figure: 'dashboard, list of sales', path: '/dashboard/test/sales', limitMs: 300 },
  { figure: 'dashboard, home', path: '/dashboard/test', limitMs: 500 },
] as const;

/**
 * Measures from the start of a visit until everything is shown, in a real browser with a warm cache.
 * @returns a line with the reason if there is no browser
 */
export async function pageLines(url: string, { email, password }: Demo): Promise<Line[]> {
  if (!existsSync(CHROMIUM)) return [told('dashboard', `no browser at ${CHROMIUM}; set CHROMIUM_PATH`)];
  const login = await fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-with': 'dashboard' },
    body: JSON.stringify({ email, password, session: 'cookie' }),
  });
  const [name = '', value = ''] = (login.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? [];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    // The script that checks whether everything is shown is not part of the page, so its CSP is bypassed.
    const context = await browser.newContext({ bypassCSP: true });
    await context.addCookies([{ name, value, url }]);
    const page = await context.newPage();
    const lines: Line[] = [];
    for (const { figure, path, limitMs } of PAGES) {
      const times: number[] = [];
      for (let visit = -2; visit < VISITS; visit++) {
        await page.goto(`${url}${path}`, { waitUntil: 'commit' });
        const shown = await page.waitForFunction(
          `document.querySelector('main h1') && !document.querySelector('.skeleton') && performance.now()`,
        );
        if (visit >= 0) times.push((await shown.jsonValue()) as number);
      }
      const note = `, p95 ${percentile(times, 0.95).toFixed(0)} ms`;
      lines.push(below(figure, percentile(times, 0.5), limitMs, 'ms', note, 0));
    }
    return lines;
  } finally {
    await browser.close();
  }
}
