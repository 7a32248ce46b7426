import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The one without windows takes half the processor time. */
const CANDIDATES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

function findChromium(): string | undefined {
  return [process.env['CHROMIUM_PATH'], ...CANDIDATES].find((path) => path !== undefined && existsSync(path));
}

/** Whether a browser is installed; where REQUIRE_BROWSER=1 a missing one is an error, not a skip. */
export function browserAvailable(): boolean {
  if (findChromium() !== undefined) return true;
  if (process.env['REQUIRE_BROWSER'] === '1') throw new Error('REQUIRE_BROWSER=1, but no Chromium is installed');
  process.stderr.write('No Chromium found (set CHROMIUM_PATH): the browser tests are skipped.\n');
  return false;
}

export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('No Chromium is installed');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
