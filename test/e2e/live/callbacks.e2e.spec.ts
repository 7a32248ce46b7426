import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbacksService } from '../../../src/acquirers/pix-api/callbacks.service.js';
import { newEndToEndId } from '../../../src/brazil/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { createLogger } from '../../../src/core/log/index.js';
import { Retention } from '../../../src/core/retention.js';
import { CallingBank } from '../../support/callbacks.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { available } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('callbacks of a PSP', () => {
  const logged: string[] = [];
  const service = TestService.forSpec({
    env: { TRUST_PROXY: 'loopback', CALLBACK_CERTIFICATE_HEADER: 'X-Client-Verify: SUCCESS', RATE_LIMIT: 'on' },
    overrides: { logger: createLogger('trace', { write: (line) => logged.push(line) }) },
  });
  let merchant: Merchant;
  let bank: CallingBank;

  beforeAll(async () => {
    merchant = await service.merchant();
    bank = new CallingBank(service);
  });
  afterEach(async () => {
    bank.inbound = { mtls: false, addresses: null };
    await expectLedgerCoherent(service.database.url);
  });

  async function charge(amount = 1990): Promise<ChargeAnswer> {
    return (await service.createCharge(merchant.testKey, { amount })).body;
  }

  const pay = ({ pix, amount }: ChargeAnswer) =>
    bank.receive({ txid: pix.txid ?? '', amount }, { settledAt: service.clock.now() });

  function settled({ id }: Pick<ChargeAnswer, 'id'>): Promise<unknown> {
    return waitFor(`${id} to be paid`, async () => {
      return (await service.getCharge(merchant.testKey, id)).body.status === 'paid';
    });
  }

  async function counted(outcome: string): Promise<number> {
    const { text } = await service.call('GET', '/metrics');
    const line = new RegExp(`^recebe_acquirer_callbacks_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text);
    return Number(line?.[1] ?? 0);
  }

  const callbacks = (): Promise<Record<string, unknown>[]> =>
    service.sql('SELECT status, times, hints FROM acquirer_callbacks WHERE acquirer = $1 ORDER BY id', [bank.name]);

  it.each(['', '/pix'])('credits a confirmed Pix that is reported at the address%s', async (suffix) => {
    const made = await charge();
    const { endToEndId } = pay(made);
    const answer = await bank.post([{ endToEndId }], suffix, { 'content-type': 'text/plain' });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    await settled(made);
  });

  it('accepts a batch with a Pix without a charge and a Pix of an unknown txid, and shows both to operators', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => charge()));
    const stray = bank.receive({ txid: '', amount: 7 }, { txid: null, settledAt: service.clock.now() });
    const unknown = bank.receive({ txid: 'x'.repeat(26), amount: 8 }, { settledAt: service.clock.now() });
    await bank.post([...made.map(pay), stray, unknown].map(({ endToEndId }) => ({ endToEndId })));
    await Promise.all(made.map(settled));
    const { token } = await service.operator();
    const unmatched = await waitFor('both at the operators', async () => {
      const { body } = await service.call<{ data: { end_to_end_id: string }[] }>('GET', '/v1/operations/unmatched', {
        token,
      });
      const ids = body.data.map((pix) => pix.end_to_end_id);
      return [stray, unknown].every(({ endToEndId }) => ids.includes(endToEndId)) && ids;
    });
    expect(unmatched).toHaveLength(2);
  });

  it('checks a set-aside notification again when the same body is repeated', async () => {
    const made = await charge();
    const endToEndId = newEndToEndId('12345678', service.clock.now());
    const stateOf = async (): Promise<unknown> =>
      (await service.sql('SELECT status FROM acquirer_notifications WHERE reference = $1', [endToEndId]))[0];
    await bank.post([{ endToEndId }]);
    await waitFor('the first question', async () => {
      const rows = await service.sql('SELECT 1 FROM acquirer_notifications WHERE reference = $1 AND attempts > 0', [
        endToEndId,
      ]);
      return rows.length > 0;
    });
    // The bank does not know the Pix for the fortieth time, a day later.
    await service.sql('UPDATE acquirer_notifications SET attempts = 39, next_attempt_at = now() WHERE reference = $1', [
      endToEndId,
    ]);
    await waitFor('it to be set aside', async () => ((await stateOf()) as { status: string }).status === 'ignored');
    bank.receive({ txid: made.pix.txid ?? '', amount: made.amount }, { endToEndId, settledAt: service.clock.now() });
    await bank.post([{ endToEndId }]);
    await settled(made);
  });

  it('treats an empty body or a GET as a test of the address', async () => {
    const before = (await callbacks()).length;
    for (const suffix of ['', '/pix']) {
      expect((await service.call('GET', `${bank.path}${suffix}`)).status).toBe(200);
      expect((await service.call('POST', `${bank.path}${suffix}`)).status).toBe(200);
      expect((await bank.send('', suffix)).status).toBe(200);
    }
    expect(await callbacks()).toHaveLength(before);
  });

  it('answers a GET with a nonce by its signature', async () => {
    const nonce = randomBytes(32).toString('base64url');
    const proofOf = async (path: string, headers: Record<string, string>): Promise<string | null> =>
      (await service.call('GET', path, { headers })).headers.get('x-callback-proof');
    const asked = { 'x-callback-nonce': nonce };
    const proof = await proofOf(bank.path, asked);
    const secrets = service.get(SecretBox);
    expect(secrets.isSigned('pix-callback-probe', `${bank.connection}.${nonce}`, proof ?? '')).toBe(true);
    expect(await proofOf(`${bank.path}/pix`, asked)).toBe(proof);
    // A client that is refused but knows the address learns only that the address is ours.
    bank.inbound = { mtls: false, addresses: ['192.0.2.1'] };
    expect(await proofOf(bank.path, asked)).toBe(proof);
    bank.inbound = { mtls: false, addresses: null };
    expect(await proofOf(`${bank.path.slice(0, -1)}${bank.path.endsWith('A') ? 'B' : 'A'}`, asked)).toBeNull();
    expect(await proofOf(bank.path, {})).toBeNull();
    expect(await proofOf(bank.path, { 'x-callback-nonce': 'short' })).toBeNull();
  });

  it('moves nothing for a forged amount, an unpaid charge, or a hundred replays', async () => {
    const made = await charge();
    const balance = await available(service, merchant.testKey);
    const told = { endToEndId: newEndToEndId('12345678', new Date()), txid: made.pix.txid, valor: '999999.00' };
    const [before, repeated] = [(await callbacks()).length, await counted('repeated')];
    const answers = await Promise.all(Array.from({ length: 100 }, () => bank.post([told])));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const row = await waitFor('it to be read', async () =>
      (await callbacks()).slice(before).find((r) => r['status'] === 'read'),
    );
    expect(row).toEqual({ status: 'read', times: 100, hints: 1 });
    expect(await counted('repeated')).toBe(repeated + 99);
    const hint = await waitFor('the bank to be asked', async () => {
      const rows = await service.sql<{ status: string; attempts: number; hints: number }>(
        'SELECT status, attempts, hints FROM acquirer_notifications WHERE reference = $1',
        [told.endToEndId],
      );
      return rows[0] && rows[0].attempts > 0 && rows;
    });
    expect(hint).toMatchObject([{ status: 'pending', hints: 1 }]);
    expect(logged.join('')).toContain('a notification is not confirmed');
    expect((await service.call('GET', '/metrics')).text).toMatch(
      /recebe_acquirer_notifications_total\{kind="pix",outcome="unknown"\} [1-9]/,
    );
    expect((await service.getCharge(merchant.testKey, made.id)).body.status).toBe('pending');
    expect(await available(service, merchant.testKey)).toBe(balance);
  });

  it('credits the bank’s amount once when a true notification lies about it, replayed a hundred times', async () => {
    const made = await charge();
    const balance = await available(service, merchant.testKey);
    const told = { ...pay(made), valor: '999999.00' };
    await Promise.all(Array.from({ length: 100 }, (_, time) => bank.post([{ ...told, again: time % 10 }])));
    await settled(made);
    expect(await available(service, merchant.testKey)).toBe(balance + made.amount);
  });

  it('ignores a Pix forged for another connection, whose bank does not know it', async () => {
    const made = await charge();
    const { endToEndId } = pay(made);
    const other = new CallingBank(service);
    await other.post([{ endToEndId }]);
    await waitFor('the other bank to be asked', async () => {
      const rows = await service.sql('SELECT 1 FROM acquirer_notifications WHERE acquirer = $1 AND attempts > 0', [
        other.name,
      ]);
      return rows.length > 0;
    });
    expect((await service.getCharge(merchant.testKey, made.id)).body.status).toBe('pending');
    expect(await service.sql('SELECT 1 FROM settlements WHERE end_to_end_id = $1', [endToEndId])).toEqual([]);
    // The bank that called `serve` last takes all test charges: make it this one again.
    bank.serve();
  });

  it('answers 404 and stores nothing for a wrong secret, another connection’s secret or an unknown connection', async () => {
    const { endToEndId } = pay(await charge());
    const before = await callbacks();
    const wrong = await counted('wrong_secret');
    const stranger = randomUUID();
    const paths = [
      `/callbacks/pix/${bank.connection}/${bank.secret.slice(1)}`,
      `/callbacks/pix/${bank.connection}/${'A'.repeat(43)}`,
      `/callbacks/pix/${stranger}/${bank.secret}`,
      `/callbacks/pix/${bank.secret}/${bank.secret}/pix`,
      `/callbacks/pix/${bank.connection}/${bank.secret}/other`,
    ];
    const nowhere = await service.call<{ error: object }>('POST', '/callbacks/nowhere', { body: {} });
    for (const path of paths) {
      const { status, body } = await service.call<{ error: object }>('POST', path, { body: { pix: [{ endToEndId }] } });
      expect([status, body.error]).toEqual([404, nowhere.body.error]);
    }
    expect(await counted('wrong_secret')).toBe(wrong + 4);
    expect(await callbacks()).toEqual(before);
  });

  it('answers 404 to a signed address of an unknown connection', async () => {
    const path = `/callbacks/pix/${randomUUID()}`;
    expect((await service.call('POST', `${path}/${bank.secret}`, { body: {} })).status).toBe(404);
  });

  it.each([
    ['not json', 'unreadable', 'unreadable'],
    ['\u0000', 'unreadable', 'unreadable'],
    ['null', 'read', 'read'],
    ['[]', 'read', 'read'],
    ['{"pix": 1}', 'read', 'partly_read'],
    ['{"pix": [null, {"endToEndId": "../../etc"}, {"endToEndId": 7}]}', 'read', 'partly_read'],
  ])('stores a body that names nothing, and answers 200: %j', async (rawBody, status, outcome) => {
    const before = (await callbacks()).length;
    const known = await counted(outcome);
    expect((await bank.send(`${rawBody}${' '.repeat(before)}`)).status).toBe(200);
    const [row] = await waitFor('it to be looked at', async () => {
      const rows = (await callbacks()).slice(before);
      return rows[0]?.['status'] !== 'pending' && rows;
    });
    expect(row).toEqual({ status, times: 1, hints: 0 });
    await waitFor('it to be counted', async () => (await counted(outcome)) === known + 1);
  });

  it('accepts a larger body than the API, but none above its own limit', async () => {
    const { endToEndId } = pay(await charge());
    expect((await bank.post([{ endToEndId, padding: 'x'.repeat(600_000) }])).status).toBe(200);
    expect((await bank.post([{ endToEndId, padding: 'x'.repeat(1_100_000) }])).status).toBe(413);
  });

  it('accepts a PSP with a certificate only by the word of the proxy, where the proxy checks it', async () => {
    bank.inbound = { mtls: true, addresses: null };
    const forwarded = { 'x-forwarded-for': '192.0.2.7' };
    expect((await bank.send('{}', '', forwarded)).status).toBe(404);
    expect((await bank.send('{}', '', { ...forwarded, 'x-client-verify': 'FAILED' })).status).toBe(404);
    expect((await bank.send('{}', '', { 'x-client-verify': 'SUCCESS' })).status).toBe(404);
    expect((await bank.send('{}', '', { ...forwarded, 'x-client-verify': 'SUCCESS' })).status).toBe(200);
  });

  it('answers 404 to an address that is not the PSP`s', async () => {
    bank.inbound = { mtls: false, addresses: ['192.0.2.0/28', '2001:db8::/32'] };
    const from = async (address: string): Promise<number> =>
      (await bank.send('{}', '', { 'x-forwarded-for': address })).status;
    expect(await from('192.0.2.7')).toBe(200);
    expect(await from('2001:db8::1')).toBe(200);
    expect(await from('192.0.2.99')).toBe(404);
    expect(await counted('not_allowed')).toBeGreaterThan(0);
  });

  it('removes bodies after thirty days', async () => {
    const rows = await callbacks();
    service.clock.advance(31 * 86_400);
    try {
      // A worker that removes rows at the same time holds the lock.
      await waitFor('the removal', async () => {
        await service.get(Retention).remove('acquirer_callbacks');
        return (await callbacks()).length === 0;
      });
    } finally {
      service.clock.advance(-31 * 86_400);
    }
    expect(rows.length).toBeGreaterThan(5);
    expect(await callbacks()).toEqual([]);
  });

  it('writes the secret of the address to no log or table, and the payer to no table', async () => {
    expect(logged.join('')).toContain('/callbacks/pix/:connection/:secret');
    expect(logged.join('')).not.toContain(bank.secret);
    const { text } = await service.call('GET', '/metrics');
    expect(text).not.toContain(bank.secret);
    const payer = '39053344705';
    await bank.post([{ endToEndId: newEndToEndId('12345678', new Date()), pagador: { cpf: payer } }]);
    const forms = [bank.secret, payer, Buffer.from(payer).toString('hex')];
    const rows = await service.rows();
    expect(rows.filter((row) => forms.some((form) => row.text.includes(form)))).toEqual([]);
  });

  it('does not wait for the body of a stranger, and limits guesses of the secret', async () => {
    const { port } = new URL(service.url);
    const half = (path: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1', () => {
          const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n`;
          socket.write(`${head}X-Forwarded-For: 198.51.100.9\r\n\r\n${'a'.repeat(1000)}`);
        });
        let text = '';
        socket.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (text.includes('\r\n\r\n')) resolve(text.split(' ', 2)[1] ?? '');
        });
        socket.on('error', reject).setTimeout(60_000, () => {
          socket.destroy();
          reject(new Error('no answer before the body'));
        });
      });
    const guess = `/callbacks/pix/${randomUUID()}/${'a'.repeat(43)}`;
    expect(await half(guess)).toBe('404');
    const statuses: string[] = [];
    // About sixty at once, plus one for each second that a slow machine takes.
    const begun = performance.now();
    const let62 = (): number => 62 + (performance.now() - begun) / 1_000;
    while (statuses.at(-1) !== '429' && statuses.length <= let62()) statuses.push(await half(`${guess}/pix`));
    expect(new Set(statuses)).toEqual(new Set(['404', '429']));
    expect(statuses.length).toBeGreaterThan(50);
    // The PSP itself knows the address, so strangers’ tries do not count against it.
    const made = await charge();
    const { endToEndId } = pay(made);
    expect((await bank.post([{ endToEndId }], '', { 'X-Forwarded-For': '198.51.100.9' })).status).toBe(200);
    await settled(made);
  });
});

describe('bodies of callbacks that are never finished', () => {
  it('are held in memory eight at a time for one connection, and delay no other connection', async () => {
    const service = await TestService.start();
    try {
      const [busy, other] = [new CallingBank(service), new CallingBank(service)];
      const begun: string[] = [];
      const ends: (() => void)[] = [];
      const begin = ({ connection, secret }: CallingBank): Promise<void> =>
        service.get(CallbacksService).receive({
          ...{ connection, secret, caller: { address: '192.0.2.1', certified: null } },
          readBody: () => {
            begun.push(connection);
            return new Promise((resolve) => {
              ends.push(() => resolve(Buffer.alloc(0)));
            });
          },
        });
      const received = [...Array.from({ length: 12 }, () => begin(busy)), begin(other)];
      await waitFor('the other connection', () => begun.includes(other.connection));
      await waitFor('eight', () => begun.length >= 9);
      expect(begun.filter((connection) => connection === busy.connection)).toHaveLength(8);
      for (const end of ends.splice(0)) end();
      await waitFor('the rest', () => begun.length === 13);
      for (const end of ends) end();
      await Promise.all(received);
    } finally {
      await service.stop();
    }
  });
});

describe('callbacks past a limit', () => {
  it('get 429 for each connection alone; the same address may call for others', async () => {
    const service = await TestService.start({
      env: { RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '5', RATE_LIMIT_PUBLIC_PER_MINUTE: '1' },
    });
    try {
      const [busy, other] = [new CallingBank(service), new CallingBank(service)];
      const answers = await Promise.all(Array.from({ length: 12 }, () => busy.send('{}')));
      const statuses = answers.map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(5);
      const limited = answers.find(({ status }) => status === 429);
      expect(limited?.headers.get('retry-after')).toBe('1');
      expect((await other.send('{}')).status).toBe(200);
      expect((await service.call('GET', '/metrics')).text).toMatch(
        /recebe_acquirer_callbacks_total\{outcome="limited"\} [1-7]/,
      );
    } finally {
      await service.stop();
    }
  });
});
