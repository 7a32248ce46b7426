import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AccountsService } from '../accounts/index.js';
import { ApiKeysService } from '../api-keys/index.js';
import { SYSTEM } from '../audit/index.js';
import { ChargesService } from '../charges/index.js';
import { type Config, ConfigError } from '../core/config/index.js';
import { Draft } from '../core/errors/index.js';
import { writePrivate } from '../core/private-files.js';
import { StatementService } from '../wallets/index.js';
import { DemoMonth } from './demo-month.js';

export interface DemoFile {
  account_id: string;
  email: string;
  password: string;
  test_api_key: string;
  base_url: string;
}

const EMAIL = 'owner@demo.local';

export function readDemoFile(dataDir: string): DemoFile | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as DemoFile;
  } catch {
    return null;
  }
}

/**
 * On the embedded default with an empty database, creates a demo account, with a month of sales unless DEMO_FILL
 * forbids it. Later starts only update the address in the file.
 * @returns null where there is no demo: with DATABASE_URL, or in production
 */
export async function ensureDemo(app: NestExpressApplication, config: Config): Promise<DemoFile | null> {
  if (config.databaseUrl !== undefined || config.production) return null;
  const accounts = app.get(AccountsService);
  const known = readDemoFile(config.dataDir);
  if (!(await accounts.noneYet())) {
    if (known && known.base_url !== config.publicBaseUrl) {
      write(config.dataDir, { ...known, base_url: config.publicBaseUrl });
    }
    return known ? { ...known, base_url: config.publicBaseUrl } : null;
  }
  const password = randomBytes(12).toString('base64url');
  const found = async (): Promise<DemoFile> => {
    const { accountId } = await accounts.create({ name: 'Demo', email: EMAIL, password }, SYSTEM);
    const key = await app.get(ApiKeysService).issue(accountId, { mode: 'test', label: 'Demo' }, SYSTEM);
    return {
      account_id: accountId,
      email: EMAIL,
      password,
      test_api_key: key.apiKey,
      base_url: config.publicBaseUrl,
    };
  };
  const demo = config.demoFill ? await DemoMonth.make(app, found) : await found();
  write(config.dataDir, demo);
  return demo;
}

/**
 * The month of sales of a demo account that was founded without one (DEMO_FILL=false).
 * @throws ConfigError when there is no demo account, or when it has moved money: the books know no earlier entry after a later one
 */
export async function fillDemo(app: NestExpressApplication, config: Config): Promise<{ account_id: string }> {
  const demo = readDemoFile(config.dataDir);
  if (!demo) throw new ConfigError(`There is no demo account in ${config.dataDir}: the first npm start makes it.`);
  const scope = { accountId: demo.account_id, mode: 'test' } as const;
  const { data } = await app.get(StatementService).list(scope, { limit: 1 });
  if (data.length > 0)
    throw new ConfigError('The demo account has sales already: its month is made before the first one.');
  await DemoMonth.make(app, () => Promise.resolve(demo));
  return { account_id: demo.account_id };
}

/**
 * Returns the checkout page of a charge that a newcomer can open: the same one until it expires a day later. Only the
 * process that speaks for all makes the charge, so no other process makes it at the same time.
 */
export async function sampleCheckoutUrl(app: NestExpressApplication, demo: DemoFile): Promise<string> {
  const answer = await app.get(ChargesService).create(
    { accountId: demo.account_id, mode: 'test' },
    await app.get(AccountsService).get(demo.account_id),
    new Draft({ amount: 1990, description: 'Sample charge', expires_in: 86_400 }),
    // Replays for 24 hours, as long as the charge lives.
    'sample-charge',
  );
  // Not the answer's checkout_url: a replay gives the address of the start that made the charge.
  return `${demo.base_url}/checkout/${answer.body.id.replace(/^ch_/, '')}`;
}

function write(dataDir: string, demo: DemoFile): void {
  mkdirSync(dataDir, { recursive: true });
  writePrivate(join(dataDir, 'demo.json'), `${JSON.stringify(demo, null, 2)}\n`);
}
