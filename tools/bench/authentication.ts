import { MembersRepository } from '../../src/accounts/members.repository.js';
import { UsersRepository } from '../../src/accounts/users.repository.js';
import { Passwords } from '../../src/accounts/passwords.service.js';
import { createDataSource, Database, Reader } from '../../src/core/database/index.js';
import { newId } from '../../src/core/ids.js';
import { Disturbance, UNDISTURBED } from './disturbance.js';
import { HttpLoad } from './http-load.js';
import { processorSeconds } from './machine.js';
import type { Merchant } from './merchants.js';
import type { ServiceProcess } from '../harness/service-process.js';
import { drive } from './stats.js';

/** Requests by caller: each ends right after the guards, at an id that does not exist. */
export interface Callers {
  readonly open: Request;
  readonly key: Request;
  readonly login: Request;
}

export interface Request {
  readonly method: 'GET' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
}

type Each<T> = Readonly<Record<keyof Callers, T>>;

const EMAIL = 'owner@example.com';
const PASSWORD = 'not a secret of anybody';
const WORKERS = 16;
/** As in the comparisons: at most this many times the rounds; the least disturbed rounds count. */
const PATIENCE = 2;

/** Gives the merchant an owner, who logs in. Bypasses the API, because this is not measured. */
export async function callersOf(databaseUrl: string, service: ServiceProcess, merchant: Merchant): Promise<Callers> {
  await addOwner(databaseUrl, merchant);
  const answer = await fetch(`${service.url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
  });
  if (answer.status !== 200) throw new Error(`No login: ${await answer.text()}`);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return {
    open: { method: 'GET', path: '/checkout/none/status', headers: {} },
    key: { method: 'GET', path: '/v1/charges/none', headers: { apikey: merchant.apiKey } },
    login: { method: 'DELETE', path: '/v1/members/none', headers: { authorization: `Bearer ${token}` } },
  };
}

async function addOwner(databaseUrl: string, { accountId }: Merchant): Promise<void> {
  const dataSource = createDataSource({ url: databaseUrl, pool: 2 });
  await dataSource.initialize();
  try {
    const reader = new Reader(dataSource);
    const [users, members] = [new UsersRepository(reader), new MembersRepository(reader)];
    const passwordHash = await new Passwords().hash(PASSWORD);
    const createdAt = new Date();
    const id = newId(createdAt);
    await new Database(dataSource).transaction(async (tx) => {
      users.insert(tx, { id, email: EMAIL, name: 'Owner', passwordHash, operator: false, createdAt });
      members.insert(tx, { accountId, userId: id, role: 'OWNER', createdAt });
    });
  } finally {
    await dataSource.destroy();
  }
}

export interface AuthenticationCost {
  /**
   * Processor time of the service's Node process, milliseconds for one request; null if the system does not report it.
   */
  readonly processorMs: Each<number | null>;
  /** Largest share of the machine that others used in a counted round, 0 to 1. */
  readonly disturbed: number;
}

/** Measures the three alternately, so that a slow minute slows all of them. */
export async function measureAuthentication(
  service: ServiceProcess,
  callers: Callers,
  rounds: number,
  seconds: number,
): Promise<AuthenticationCost> {
  const load = new HttpLoad(service.url, WORKERS);
  await load.open();
  const cost = async ({ method, path, headers }: Request): Promise<number | null> => {
    const before = processorSeconds(service.pid);
    const { count, refused, firstRefusal } = await drive(
      WORKERS,
      seconds,
      (worker) => () => load.send(worker, method, path, headers, null, 404),
    );
    const after = processorSeconds(service.pid);
    if (refused > 0) throw new Error(`${String(refused)} answers were wrong, the first: ${String(firstRefusal)}`);
    return before === null || after === null ? null : ((after - before) * 1000) / count;
  };
  const round = async (): Promise<Each<number | null> & { disturbed: number }> => {
    const disturbance = new Disturbance();
    const costs = { open: await cost(callers.open), key: await cost(callers.key), login: await cost(callers.login) };
    return { ...costs, disturbed: disturbance.share() ?? 0 };
  };
  try {
    await round();
    const taken: Awaited<ReturnType<typeof round>>[] = [];
    const quiet = (): number => taken.filter(({ disturbed }) => disturbed <= UNDISTURBED).length;
    while (quiet() < rounds && taken.length < rounds * PATIENCE) taken.push(await round());
    const best = taken.sort((one, other) => one.disturbed - other.disturbed).slice(0, rounds);
    const mean = (of: keyof Callers): number | null => {
      const values = best.map((costs) => costs[of]);
      return values.some((value) => value === null)
        ? null
        : values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / values.length;
    };
    return {
      processorMs: { open: mean('open'), key: mean('key'), login: mean('login') },
      disturbed: Math.max(...best.map(({ disturbed }) => disturbed)),
    };
  } finally {
    await load.close();
  }
}
