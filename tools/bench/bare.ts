import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { newEndToEndId, newTxid } from '../../src/brazil/index.js';
import { newId } from '../../src/core/ids.js';
import type { Cleanup } from '../harness/cleanup.js';
import { ServiceProcess } from '../harness/service-process.js';
import { makeMerchants, type Merchant } from './merchants.js';
import { type Fresh, Replay } from './replay.js';
import { type ChargeAnswer, newCharge, PAY, payPath } from './requests.js';
import { connect, MERCHANTS, openCharges, type OpenCharge, type Service, STOCK } from './service.js';
import { drive } from './stats.js';
import type { Side } from './turns.js';
import { type Work, merchantOf } from './workloads.js';
import { type Turn, WireRecorder } from './wire.js';

const CLIENTS = 64;
const WARM_UPS = 5;
const ATTEMPTS = 10;
/** Twice the pause between two writes of the request log. */
const QUIET_MS = 1_000;

/**
 * Plain `pg` clients that repeat the service's statements, without pool, HTTP or framework. The clients use another
 * database of the same PostgreSQL: in the first one the service's relay would process their events.
 */
export class Bare {
  private constructor(
    private readonly clients: readonly pg.Client[],
    private readonly merchants: readonly Merchant[],
    readonly recordings: Readonly<Record<'create' | 'pay', Replay>>,
  ) {}

  static async beside(service: Service, directory: string, cleanup: Cleanup): Promise<Bare> {
    await service.database.query('CREATE DATABASE bare');
    const url = new URL(service.databaseUrl);
    url.pathname = '/bare';
    const recordings = await record(url.href, directory, cleanup);
    const merchants = await makeMerchants(url.href, MERCHANTS);
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(url.href, cleanup)));
    return new Bare(clients, merchants, recordings);
  }

  get database(): pg.Client {
    const [client] = this.clients;
    if (!client) throw new Error('No client');
    return client;
  }

  side(work: Work, operation: 'create' | 'pay'): Side {
    const merchants = work.merchants?.(this.merchants) ?? this.merchants;
    const create = (worker: number, merchant: Merchant) => () => this.#run(worker, 'create', imagined(merchant));
    return {
      name: 'same SQL, bare pg clients',
      measure: async (seconds) => {
        const charges = operation === 'pay' ? await openCharges(this.database, merchants, STOCK, create) : null;
        const round = await drive(work.connections, seconds, (worker) => {
          const charge = charges === null ? imagined(merchantOf(merchants)) : charges.pop();
          return charge ? () => this.#run(worker, operation, charge) : null;
        });
        return { round, used: { node: null, postgres: null } };
      },
    };
  }

  async #run(worker: number, operation: 'create' | 'pay', charge: OpenCharge): Promise<null> {
    await this.recordings[operation].run(this.clients[worker] ?? this.database, fieldsOf(charge));
    return null;
  }
}

/** A charge that a create has still to write; its id is the replay's own. */
function imagined(merchant: Merchant): OpenCharge {
  return { id: newId(new Date()), txid: newTxid(), merchant };
}

function fieldsOf({ id, txid, merchant }: OpenCharge): Fresh {
  return (field) => {
    if (field === 'account') return merchant.accountId;
    if (field === 'keyHash') return merchant.keyHash.toString('hex');
    if (field === 'transaction') return id;
    if (field === 'txid') return txid;
    if (field === 'idempotencyKey') return randomUUID();
    if (field === 'endToEndId') return newEndToEndId('00000000', new Date());
    return newId(new Date());
  };
}

/**
 * Runs the service on `databaseUrl` and records a create and a payment. As an API process the service sends only the
 * statements of its requests: relay and sweepers belong to the workers. The service migrates the database, so this runs
 * before any other use of it.
 */
async function record(databaseUrl: string, directory: string, cleanup: Cleanup): Promise<Bare['recordings']> {
  const { recorder, url } = await WireRecorder.start(databaseUrl);
  try {
    const dataDir = mkdtempSync(join(directory, 'recorded-'));
    const service = await ServiceProcess.start(dataDir, cleanup, { DATABASE_URL: url, ROLE: 'api' });
    try {
      return await recordPaths(recorder, service.url, databaseUrl);
    } finally {
      await service.stop();
    }
  } finally {
    await recorder.stop();
  }
}

async function recordPaths(recorder: WireRecorder, url: string, databaseUrl: string): Promise<Bare['recordings']> {
  const [merchant] = await makeMerchants(databaseUrl, 1);
  if (!merchant) throw new Error('No merchant');
  const post = async (path: string, headers: Record<string, string>, body: string): Promise<ChargeAnswer> => {
    const common = { apikey: merchant.apiKey, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method: 'POST', headers: { ...common, ...headers }, body });
    if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`);
    return (await answer.json()) as ChargeAnswer;
  };
  const create = (key: string): Promise<ChargeAnswer> => post('/v1/charges', { 'idempotency-key': key }, newCharge());
  const pay = (charge: ChargeAnswer, endToEndId: string): Promise<ChargeAnswer> =>
    post(payPath(charge.id), {}, JSON.stringify({ ...(JSON.parse(PAY) as object), end_to_end_id: endToEndId }));

  // The first requests prepare the statements once for each connection, which a usual request does not.
  for (let run = 0; run < WARM_UPS; run++) {
    await pay(await create(randomUUID()), newEndToEndId('00000000', new Date()));
  }
  /** The process writes the log of earlier requests, outside any request: a recording with it is repeated. */
  const recorded = async (
    attempt: () => Promise<{ turns: Turn[]; charge: ChargeAnswer; more: [value: string, field: string] }>,
  ) => {
    for (let left = ATTEMPTS; left > 0; left--) {
      const { turns, charge, more } = await attempt();
      if (turns.flat().some(({ name }) => name.startsWith('request_logs.'))) continue;
      const known = new Map([
        [merchant.accountId, 'account'],
        [merchant.keyHash.toString('hex'), 'keyHash'],
        [charge.id.slice('ch_'.length), 'transaction'],
        [charge.pix.txid, 'txid'],
        more,
      ]);
      return new Replay(turns, known);
    }
    throw new Error(`${String(ATTEMPTS)} recordings were all disturbed`);
  };
  return {
    create: await recorded(async () => {
      const key = randomUUID();
      await delay(QUIET_MS);
      const [turns, charge] = await recorder.record(() => create(key));
      return { turns, charge, more: [key, 'idempotencyKey'] };
    }),
    pay: await recorded(async () => {
      const charge = await create(randomUUID());
      const endToEndId = newEndToEndId('00000000', new Date());
      await delay(QUIET_MS);
      const [turns] = await recorder.record(() => pay(charge, endToEndId));
      return { turns, charge, more: [endToEndId, 'endToEndId'] };
    }),
  };
}
