import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLogger } from '../../../src/core/log/index.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { describeWith } from '../../support/needs.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENDPOINTS = '/v1/webhooks/endpoints';
const DEFAULT = '/v1/webhooks/default-secret/rotate';
const VERIFY = '/v1/webhooks/verify';
/** Stands for the body of somebody's webhook. */
const CANARY = 'canary-5d0c2b';

describeWith('redis')('the secrets of webhooks', () => {
  let redis: TestRedis;
  let service: TestService;
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  const log: string[] = [];
  let commands: readonly string[];
  const answers: string[] = [];
  /** Each with the answer that showed it. */
  const shown: { secret: string; text: string }[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    commands = await redis.watch();
    service = await TestService.start({
      env: { REDIS_URL: redis.url, WEBHOOK_RETRY_SCHEDULE: '10,30', RATE_LIMIT: 'on' },
      overrides: { logger: createLogger('trace', { write: (line) => log.push(line) }) },
    });
    receiver = await WebhookReceiver.start();
    merchant = await service.merchant();
    await live();
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
    await redis.stop();
  });

  async function call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const answer = await service.call<T>(method, path, { key: merchant.testKey, body });
    answers.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  }

  async function show(method: string, path: string, body?: unknown): Promise<{ id: string; secret: string }> {
    const answer = await call<{ id: string; secret: string }>(method, path, body);
    expect(answer.body.secret).toMatch(/^[0-9a-f]{64}$/);
    shown.push({ secret: answer.body.secret, text: answer.text });
    return answer.body;
  }

  /** Everything that has to do with secrets, well and badly. */
  async function live(): Promise<void> {
    const endpoint = await show('POST', ENDPOINTS, { url: receiver.url, events: ['*', 'payment.created'] });
    const rotated = await show('POST', `${ENDPOINTS}/${endpoint.id}/rotate-secret`, { overlap_seconds: 3600 });
    const listed = await call<{ data: object[] }>('GET', ENDPOINTS);
    expect(listed.body.data).toMatchObject([{ previousSecretUntil: expect.stringMatching(/Z$/) }]);
    const broken = await show('POST', ENDPOINTS, { url: 'http://127.0.0.1:9/', events: ['*'] });
    const gone = await show('POST', ENDPOINTS, { url: receiver.url, events: ['*'] });
    await show('POST', DEFAULT);
    const byDefault = await show('POST', DEFAULT, { overlap_seconds: 60 });

    const { body: charge } = await service.createCharge(merchant.testKey);
    await service.sql('UPDATE transactions SET webhook_url = $2 WHERE id = $1', [charge.id.slice(3), receiver.url]);
    await service.simulate(merchant.testKey, charge.id, { event: 'pay' });
    await receiver.waitForType('payment.completed');
    const [webhook] = await receiver.waitForType('charge.paid', 2);
    await waitFor(
      'a failure',
      async () => (await service.sql(`SELECT 1 FROM webhook_attempts WHERE error IS NOT NULL`)).length > 0,
    );
    await call('DELETE', `${ENDPOINTS}/${gone.id}`);

    const headers = { ...webhook?.headers, note: CANARY };
    const { secret } = rotated;
    for (const body of [
      { payload: webhook?.rawBody, headers, secret },
      { payload: `${CANARY} ${webhook?.rawBody}`, headers, secret },
      { payload: webhook?.rawBody, headers: { 'X-Service-Signature': secret }, secret },
      { payload: secret, headers, secret: endpoint.secret },
      ...[
        gone.secret,
        broken.secret,
        byDefault.secret,
        ` ${secret}`,
        `"${secret}"`,
        secret.toUpperCase(),
        secret.slice(1),
      ].map((given) => ({ payload: webhook?.rawBody, headers, secret: given })),
      // Bad requests with a secret in every place.
      { payload: CANARY, headers, secret, secrets: [secret] },
      { payload: { secret }, headers: [secret], secret: [secret] },
      { secret },
    ]) {
      expect([200, 400]).toContain((await call('POST', VERIFY, body)).status);
    }
    for (const body of [{ secret }, { url: secret, events: [secret] }, { url: `https://${secret}@x.example/` }]) {
      expect((await call('PATCH', `${ENDPOINTS}/${endpoint.id}`, body)).status).toBe(400);
    }
    await call('PATCH', `${ENDPOINTS}/${endpoint.id}`, { events: ['charge.created', 'charge.paid'] });
    await call('POST', `${ENDPOINTS}/${endpoint.id}/test`, { event: 'charge.expired' });
    await receiver.waitForType('charge.expired');
    for (const path of [ENDPOINTS, '/v1/webhooks/deliveries', '/v1/webhooks/stats']) await call('GET', path);

    // A secret that cannot be opened is an error in the log, with everything at hand that must not come out.
    await service.sql(`UPDATE webhook_endpoints SET secret_sealed = '\\x0131' WHERE id = $1`, [broken.id]);
    await service.createCharge(merchant.testKey);
    await waitFor('the failure to sign', () => log.some((line) => line.includes('cannot be opened')));
    expect((await call('POST', VERIFY, { payload: CANARY, headers, secret })).status).toBe(200);
  }

  /** In whatever form it might have got somewhere. */
  const forms = (secret: string): string[] => [
    secret,
    secret.toUpperCase(),
    Buffer.from(secret, 'utf8').toString('hex'),
    Buffer.from(secret, 'utf8').toString('base64').slice(0, -4),
    Buffer.from(secret, 'hex').toString('base64').slice(0, -4),
  ];
  const leaksIn = (text: string): string[] =>
    shown.flatMap(({ secret }) => forms(secret)).filter((form) => text.includes(form));

  /** Every column of every table, bytea in hex. */
  async function dump(): Promise<string> {
    const tables = await service.sql<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    expect(tables.length).toBeGreaterThan(20);
    const texts: string[] = [];
    for (const { name } of tables) {
      for (const row of await service.sql<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)) texts.push(row.row);
    }
    return texts.join('\n');
  }

  it('are shown once each, in the answer that creates them', () => {
    expect(shown).toHaveLength(6);
    expect(new Set(shown.map(({ secret }) => secret)).size).toBe(6);
    for (const { secret, text } of shown) expect(answers.filter((answer) => answer.includes(secret))).toEqual([text]);
  });

  it('are in no column of any table', async () => {
    const before = await dump();
    expect(before).toContain(receiver.url);
    expect(leaksIn(before)).toEqual([]);
    expect(before).not.toContain(CANARY);
    // The search does find one that is there, as text and as bytes.
    const [first] = shown;
    await service.sql(`UPDATE webhook_endpoints SET url = url || $1 WHERE url = $2`, [first?.secret, receiver.url]);
    expect(leaksIn(await dump())).toEqual([first?.secret]);
    await service.sql(
      `UPDATE webhook_endpoints SET url = $1, secret_sealed = convert_to($2, 'UTF8') WHERE url LIKE $1 || '%'`,
      [receiver.url, first?.secret],
    );
    expect(leaksIn(await dump())).toEqual([Buffer.from(first?.secret ?? '').toString('hex')]);
  });

  it('are in no line of the log, as little as bodies that were sent to be verified', () => {
    const text = log.join('\n');
    expect(text).toContain(`"route":"${VERIFY}"`);
    expect(text).toContain(`"route":"${ENDPOINTS}/:id/rotate-secret"`);
    expect(text).toContain('cannot be opened');
    expect(leaksIn(text)).toEqual([]);
    expect(text).not.toContain(CANARY);
  });

  it('are in no command that Redis received', () => {
    const text = commands.join('\n');
    expect(text).toContain('endpointId');
    expect(text).toContain(`:rl:account:${merchant.accountId}`);
    expect(leaksIn(text)).toEqual([]);
    expect(text).not.toContain(CANARY);
  });

  it('are in no delivery', () => {
    expect(receiver.received.length).toBeGreaterThan(5);
    expect(
      leaksIn(receiver.received.map(({ headers, rawBody }) => JSON.stringify(headers) + rawBody).join('\n')),
    ).toEqual([]);
  });

  it('are in no metric', async () => {
    const { text } = await service.call('GET', '/metrics');
    expect(text).toContain('deliveries');
    expect(leaksIn(text)).toEqual([]);
  });
});
