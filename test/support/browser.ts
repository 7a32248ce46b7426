import { type Browser, chromium } from 'playwright-core';
import { pathOf } from './needs.js';

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: pathOf('browser'),
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
