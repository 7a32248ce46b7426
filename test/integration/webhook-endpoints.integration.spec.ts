import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../src/core/database/index.js';
import type { Scope } from '../../src/core/mode.js';
import { defaultSecretContext } from '../../src/webhooks/endpoints/secrets.repository.js';
import { DefaultSecretsService } from '../../src/webhooks/endpoints/default-secrets.service.js';
import { secretContext } from '../../src/webhooks/endpoints/endpoints.repository.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { WebhookReceiver } from '../support/receiver.js';
import { type Answer, type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const PATH = '/v1/webhooks/endpoints';

/** A receiver that answers on command. */
class SlowReceiver {
  readonly #waiting: ServerResponse[] = [];
  readonly #server = createServer((request, response) => {
    request.resume();
    request.on('end', () => this.#waiting.push(response));
  });

  static async start(): Promise<SlowReceiver> {
    const receiver = new SlowReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Resolves with a function that answers the next request. */
  async next(): Promise<(status: number) => void> {
    const response = await waitFor('a request', () => this.#waiting.shift());
    return (status) => void response.writeHead(status).end();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const service = TestService.forSpec({ env: { WEBHOOK_RETRY_SCHEDULE: '10,30,120' } });
const receiver = WebhookReceiver.forSpec();
let slow: SlowReceiver;
let merchant: Merchant;
let key: string;

beforeAll(async () => {
  slow = await SlowReceiver.start();
});
beforeEach(async () => {
  merchant = await service.merchant();
  key = merchant.testKey;
  receiver.received.length = 0;
});
afterEach(() => expectLedgerCoherent(service.database.url));
afterAll(() => slow.stop());

async function register(url: string): Promise<{ id: string; secret: string }> {
  const body = { url, events: ['charge.created'] };
  return (await service.call<{ id: string; secret: string }>('POST', PATH, { key, body })).body;
}

type Call = () => Promise<Answer>;
const patch =
  (id: string, body: object): Call =>
  () =>
    service.call('PATCH', `${PATH}/${id}`, { key, body });
const remove =
  (id: string): Call =>
  () =>
    service.call('DELETE', `${PATH}/${id}`, { key });
const rotate =
  (id: string, body: object = {}): Call =>
  () =>
    service.call('POST', `${PATH}/${id}/rotate-secret`, { key, body });

/** Queues calls for the endpoint's row, each waiting for the one before it. */
async function inLine(id: string, calls: readonly Call[]): Promise<Answer[]> {
  const holder = new pg.Client({ connectionString: service.database.ownerUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR UPDATE', [id]);
    const answers: Promise<Answer>[] = [];
    for (const call of calls) {
      answers.push(call());
      await waitFor(`${answers.length} to wait for the lock`, async () => {
        // Uses another connection than the holder, whose transaction sees old activity.
        const waiting = await service.sql(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE webhook_endpoints%'`,
        );
        return waiting.length === answers.length;
      });
    }
    await holder.query('COMMIT');
    return await Promise.all(answers);
  } finally {
    await holder.end();
  }
}

interface EndpointRow extends Record<string, unknown> {
  status: string;
  url: string;
  secret_sealed: Buffer;
  previous_secret_sealed: Buffer | null;
}
async function endpointRow(id: string): Promise<EndpointRow> {
  const [row] = await service.sql<EndpointRow>('SELECT * FROM webhook_endpoints WHERE id = $1', [id]);
  if (!row) throw new Error(`no endpoint ${id}`);
  return row;
}

const open = (sealed: Buffer | null, context: string): string | null =>
  sealed === null ? null : service.runtime.resources.secrets.open(sealed, context);

const deliveryStatuses = async (id: string): Promise<string[]> => {
  const rows = await service.sql<{ status: string }>(
    'SELECT status FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY id',
    [id],
  );
  return rows.map(({ status }) => status);
};

describe('two simultaneous calls for one endpoint', () => {
  it('that rotate its secret each answer with a new secret, and keep the earlier one as previous', async () => {
    const { id, secret } = await register(receiver.url);
    const answers = await inLine(id, [rotate(id, { overlap_seconds: 600 }), rotate(id, { overlap_seconds: 600 })]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [first, second] = answers.map(({ body }) => body['secret']);
    expect(new Set([secret, first, second]).size).toBe(3);
    const row = await endpointRow(id);
    expect(open(row.secret_sealed, secretContext(id))).toBe(second);
    expect(open(row.previous_secret_sealed, secretContext(id))).toBe(first);
  });

  it.each(['rotate', 'patch'] as const)(
    'that delete it and %s leave it deleted and without a secret, in both orders',
    async (kind) => {
      for (const isDeletedFirst of [true, false]) {
        const { id } = await register(receiver.url);
        const change = kind === 'rotate' ? rotate(id, { overlap_seconds: 600 }) : patch(id, { status: 'ACTIVE' });
        const answers = await inLine(id, isDeletedFirst ? [remove(id), change] : [change, remove(id)]);
        expect(answers.map(({ status }) => status)).toEqual(isDeletedFirst ? [200, 404] : [200, 200]);
        const row = await endpointRow(id);
        expect(row).toMatchObject({ status: 'INACTIVE', previous_secret_sealed: null });
        expect(row.secret_sealed).toHaveLength(0);
      }
    },
  );

  it('that delete it succeed once', async () => {
    const { id } = await register(receiver.url);
    const answers = await inLine(id, [remove(id), remove(id)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 404]);
  });

  it('that change different fields both take effect', async () => {
    const { id } = await register(receiver.url);
    const answers = await inLine(id, [patch(id, { events: ['charge.paid'] }), patch(id, { url: slow.url })]);
    expect(answers.map(({ body }) => body)).toEqual([
      { id, url: receiver.url, events: ['charge.paid'], status: 'ACTIVE' },
      { id, url: slow.url, events: ['charge.paid'], status: 'ACTIVE' },
    ]);
  });
});

describe('an attempt under way', () => {
  it.each([
    ['set INACTIVE', 200, 'DELIVERED'],
    ['set INACTIVE', 500, 'CANCELLED'],
    ['deleted', 200, 'DELIVERED'],
    ['deleted', 500, 'CANCELLED'],
  ])('when its endpoint is %s and it is answered %d ends as %s, and is not repeated', async (what, status, end) => {
    const { id } = await register(slow.url);
    await service.createCharge(key);
    const answer = await slow.next();
    const call = what === 'deleted' ? remove(id) : patch(id, { status: 'INACTIVE' });
    expect((await call()).status).toBe(200);
    expect(await deliveryStatuses(id)).toEqual(['PROCESSING']);
    answer(status);
    // The attempt must never be PENDING again.
    await waitFor(end, async () => {
      const [found] = await deliveryStatuses(id);
      expect(found).not.toBe('PENDING');
      return found === end;
    });
    const [attempt] = await service.sql(
      `SELECT a.status_code FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
       WHERE d.endpoint_id = $1`,
      [id],
    );
    expect(attempt).toEqual({ status_code: status });
  });

  it('to a changed address: its 410 does not switch the new address off', async () => {
    const { id } = await register(slow.url);
    await service.createCharge(key);
    const answer = await slow.next();
    expect((await patch(id, { url: receiver.url })()).status).toBe(200);
    answer(410);
    await waitFor('the end', async () => (await deliveryStatuses(id))[0] === 'FAILED');
    expect(await endpointRow(id)).toMatchObject({ status: 'ACTIVE', url: receiver.url });
    await service.createCharge(key);
    await receiver.waitForType('charge.created');
  });

  it('answered 410 after a PATCH to ACTIVE switches the endpoint off, since the answer came later', async () => {
    const { id } = await register(slow.url);
    await service.createCharge(key);
    const answer = await slow.next();
    expect((await patch(id, { status: 'ACTIVE' })()).status).toBe(200);
    answer(410);
    await waitFor('the end', async () => (await endpointRow(id)).status === 'INACTIVE');
    expect(await deliveryStatuses(id)).toEqual(['FAILED']);
  });
});

describe('events while an endpoint is switched off and on', () => {
  it('leave nothing waiting for an endpoint that is off', async () => {
    const { id } = await register(receiver.url);
    const switches = ['INACTIVE', 'ACTIVE', 'INACTIVE', 'ACTIVE', 'INACTIVE'];
    const charges = Promise.all(Array.from({ length: 40 }, () => service.createCharge(key)));
    for (const status of switches) expect((await patch(id, { status })()).status).toBe(200);
    await charges;
    await waitFor(
      'the relay',
      async () => (await service.sql(`SELECT 1 FROM events WHERE status = 'pending'`)).length === 0,
    );
    const statuses = await waitFor('everything to end', async () => {
      const found = await deliveryStatuses(id);
      return found.every((status) => status === 'DELIVERED' || status === 'CANCELLED') && found;
    });
    expect(statuses.filter((status) => status === 'DELIVERED')).toHaveLength(receiver.received.length);
  });
});

describe('registrations of webhook endpoints at the limit', () => {
  it('succeed exactly as often as there are places', async () => {
    await service.sql(
      `INSERT INTO webhook_endpoints (id, account_id, mode, url, events, secret_sealed, status, kind, deleted_at, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'test', 'https://merchant.example/' || n, '{}', '', 'INACTIVE',
         CASE WHEN n > 120 THEN 'direct' ELSE 'registered' END, CASE WHEN n BETWEEN 98 AND 120 THEN now() END, now(), now()
       FROM generate_series(1, 150) n`,
      [merchant.accountId],
    );
    const body = { url: receiver.url, events: ['*'] };
    const answers = await Promise.all(Array.from({ length: 12 }, () => service.call('POST', PATH, { key, body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      201,
      201,
      ...Array.from({ length: 9 }, () => 422),
    ]);
    const { body: list } = await service.call<{ data: unknown[] }>('GET', PATH, { key });
    expect(list.data).toHaveLength(100);
  });
});

describe('the default secret', () => {
  const ensure = (scope: Scope): Promise<void> =>
    service.get(Database).transaction(async (tx) => service.get(DefaultSecretsService).ensureDefaultSecret(tx, scope));
  const rows = (
    accountId: string,
  ): Promise<{ mode: 'test'; secret_sealed: Buffer; previous_secret_sealed: Buffer | null }[]> =>
    service.sql('SELECT * FROM webhook_default_secrets WHERE account_id = $1 ORDER BY mode', [accountId]);

  it('is created once, however many need it at once, and differs between modes', async () => {
    const { accountId } = merchant;
    await Promise.all(Array.from({ length: 10 }, () => ensure({ accountId, mode: 'test' })));
    const [made] = await rows(accountId);
    const secret = open(made?.secret_sealed ?? null, defaultSecretContext(accountId, 'test'));
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    await ensure({ accountId, mode: 'test' });
    await ensure({ accountId, mode: 'live' });
    const [live, test] = await rows(accountId);
    expect(open(test?.secret_sealed ?? null, defaultSecretContext(accountId, 'test'))).toBe(secret);
    expect(open(live?.secret_sealed ?? null, defaultSecretContext(accountId, 'live'))).not.toBe(secret);
    // A value sealed for one row opens in no other row.
    expect(() => open(live?.secret_sealed ?? null, defaultSecretContext(accountId, 'test'))).toThrow();
  });

  it('rotated twice at once ends with one of the two secrets, and the other as previous', async () => {
    const { accountId } = merchant;
    await ensure({ accountId, mode: 'test' });
    const answers = await Promise.all(
      [1, 2].map(() => service.call<{ secret: string }>('POST', '/v1/webhooks/default-secret/rotate', { key })),
    );
    const [row] = await rows(accountId);
    const context = defaultSecretContext(accountId, 'test');
    const stored = [row?.secret_sealed, row?.previous_secret_sealed].map((sealed) => open(sealed ?? null, context));
    expect(stored.sort()).toEqual(answers.map(({ body }) => body.secret).sort());
  });
});

it('an event read twice by the relay is sent once, and a requested repetition is sent again', async () => {
  for (const url of [receiver.url, `${receiver.url}other`]) await register(url);
  const charge = (await service.createCharge(key)).body;
  const id = charge.id.slice(3);
  const made = async (): Promise<{ messages: number; deliveries: number }> => {
    const [row] = await service.sql<{ messages: number; deliveries: number }>(
      `SELECT count(DISTINCT message_id)::int AS messages, count(*)::int AS deliveries
       FROM webhook_deliveries WHERE subject_id = $1`,
      [id],
    );
    return row ?? { messages: 0, deliveries: 0 };
  };
  await waitFor('the event', async () => (await made()).deliveries === 2);
  expect(await made()).toEqual({ messages: 1, deliveries: 2 });

  await service.sql(`UPDATE events SET status = 'pending', next_attempt_at = now() WHERE subject_id = $1`, [id]);
  await waitFor('the relay', async () => {
    const open = await service.sql(`SELECT FROM events WHERE subject_id = $1 AND status = 'pending'`, [id]);
    return open.length === 0;
  });
  expect(await made()).toEqual({ messages: 1, deliveries: 2 });

  expect((await service.call('POST', `/v1/payments/${id}/resend-webhook`, { key })).status).toBe(200);
  expect(await made()).toEqual({ messages: 2, deliveries: 4 });
});
