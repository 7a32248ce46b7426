import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AccountsService } from '../../src/accounts/index.js';
import { LiveAcquirersService } from '../../src/acquirers/index.js';
import { ApiKeysService } from '../../src/api-keys/index.js';
import { openRuntime, type Runtime } from '../../src/app/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { readConfig } from '../../src/core/config/index.js';
import { newCharge } from '../bench/requests.js';
import type { Random } from '../harness/random.js';
import type { Run } from '../harness/run.js';
import { CA_CERTIFICATE, CLIENT } from '../psp-simulator/certificates.js';
import type { InsistentClient } from './insistent-client.js';
import { ServiceStage } from './service-stage.js';

/** Tax id of every merchant, as the PSP has it by default. */
export const CNPJ = '11222333000181';
/** Merchants connected at once. */
const AT_ONCE = 4;
const FUNDS_LIMIT_MS = 60_000;
/** A limit that no payout reaches, in cents. */
const NO_LIMIT = '99999999';

export interface PayoutMerchant {
  readonly accountId: string;
  readonly apiKey: string;
  readonly clientId: string;
}

/** Opens the servers, and connects merchants to Efí's endpoints of the PSP simulator. */
export async function openPayoutsStage(
  merchants: number,
  random: Random,
  run: Run,
): Promise<{ stage: ServiceStage; merchants: readonly PayoutMerchant[] }> {
  const stage = await ServiceStage.open(random, run);
  await stage.psp.change({ sends: { delayMs: 100 } });
  const env = {
    ...process.env,
    ...stage.env,
    ALLOW_INSECURE: 'true',
    DATA_DIR: mkdtempSync(join(run.directory, 'own-')),
  };
  const config = { ...readConfig(env), runsWorkers: false, logLevel: 'error' as const };
  const runtime = await openRuntime({ ...config, jwtSecret: randomBytes(32).toString('hex') }, { redis: false });
  try {
    await runtime.app.init();
    const made: PayoutMerchant[] = [];
    for (let first = 0; first < merchants; first += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, merchants - first) }, (_, index) => first + index);
      made.push(...(await Promise.all(numbers.map((number) => connect(runtime, stage, number)))));
    }
    return { stage, merchants: made };
  } finally {
    await runtime.close();
  }
}

async function connect({ app }: Runtime, stage: ServiceStage, number: number): Promise<PayoutMerchant> {
  const settings = {
    release_days: '0',
    fraud_mode: 'off',
    tax_id: CNPJ,
    payouts_to: 'anyone',
    payout_new_destination_hours: '0',
    payout_fee: '5',
    payout_max: NO_LIMIT,
    payout_daily_max: NO_LIMIT,
    payout_night_max: NO_LIMIT,
  };
  const email = `owner-${String(number)}@example.com`;
  const { accountId } = await app.get(AccountsService).create({ name: 'Padaria', email, settings }, SYSTEM);
  const { apiKey } = await app.get(ApiKeysService).issue(accountId, { mode: 'live', label: null }, SYSTEM);
  const clientId = `client-${String(number)}`;
  const clientSecret = randomUUID();
  const pixKey = randomUUID();
  await stage.psp.addMerchant({ clientId, clientSecret, pixKeys: [pixKey] });
  const live = app.get(LiveAcquirersService);
  const certificate = { pfx: Buffer.from(CLIENT.pfx, 'base64'), cert: null, key: null, passphrase: CLIENT.passphrase };
  const at = { psp: 'efi', pixKey, clientId, clientSecret, ca: CA_CERTIFICATE, ...stage.psp.efi };
  const { acquirer } = await live.configure({ accountId, ...at, certificate, variables: {} }, SYSTEM);
  // Nobody paid this merchant before: reading 90 days of empty lists would only take the time of the payouts.
  await stage.rows(
    `INSERT INTO acquirer_statements (acquirer, list, swept_until, next_due_at)
     SELECT $1, list, now(), now() + interval '1 day' FROM unnest('{returns,late_payments}'::text[]) AS list
     ON CONFLICT (acquirer, list) DO UPDATE SET resume_at = NULL, next_due_at = excluded.next_due_at`,
    [acquirer],
  );
  for await (const { step, ok, detail } of live.check(accountId, {
    baseUrl: stage.serviceUrl,
    registration: 'missing',
  })) {
    if (ok === false) throw new Error(`acquirer check of ${email}: ${step}: ${detail}`);
  }
  return { accountId, apiKey, clientId };
}

/** Has each merchant receive a live payment. Resolves when all have the money. */
export async function fund(
  { psp, rows }: Pick<ServiceStage, 'psp' | 'rows'>,
  client: InsistentClient,
  merchants: readonly PayoutMerchant[],
  amount: number,
): Promise<void> {
  for (const { apiKey } of merchants) {
    const body = JSON.stringify({ ...(JSON.parse(newCharge()) as object), amount });
    const charge = await client.post({ path: '/v1/charges', apiKey, body, idempotencyKey: randomUUID() });
    await psp.pay({ txid: (charge as { pix: { txid: string } }).pix.txid });
  }
  const deadline = performance.now() + FUNDS_LIMIT_MS;
  for (;;) {
    const [row] = await rows<{ count: number }>(
      `SELECT count(*)::int AS count FROM balances WHERE mode = 'live' AND bucket = 'available' AND amount > 0`,
    );
    if (row?.count === merchants.length) return;
    if (performance.now() > deadline) throw new Error(`Only ${String(row?.count)} merchants have money`);
    await delay(200);
  }
}
