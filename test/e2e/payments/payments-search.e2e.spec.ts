import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { aPaidCharge, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Page extends Record<string, unknown> {
  data: { id: string; amount: number; metadata: Record<string, unknown> }[];
  total: number;
  error: { details: { param: string }[] };
}

describe('GET /v1/payments?query=…&metadata[…]=…', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let key: string;
  /** Payments of Maria, of João, and of nobody */
  let maria: string;
  let joao: string;
  let nobody: string;

  async function made(body: Record<string, unknown>, as = key): Promise<string> {
    return (await service.createCharge(as, body)).body.id.replace(/^ch_/, '');
  }
  function ask(query: Record<string, string>, as = key): Promise<Answer<Page>> {
    return service.call<Page>('GET', `/v1/payments?${new URLSearchParams(query).toString()}`, { key: as });
  }
  async function found(query: Record<string, string> | string, as = key): Promise<string[]> {
    const { status, body } = await ask(typeof query === 'string' ? { query } : query, as);
    expect({ query, status }).toEqual({ query, status: 200 });
    expect(body.total).toBe(body.data.length);
    return body.data.map(({ id }) => id.replace(/^tx_/, ''));
  }

  beforeAll(async () => {
    merchant = await service.merchant();
    key = merchant.testKey;
    maria = await made({
      amount: 300,
      customer: { name: 'Maria Antônia de Souza', email: 'Maria.Souza@Example.com', document: '529.982.247-25' },
      metadata: {
        order_id: 'Pedido-1042',
        channel: 'web',
        items: 3,
        rate: 1e-7,
        gift: true,
        formula: 'b=c',
        nested: { secret: 'inner' },
      },
    });
    joao = await made({
      amount: 200,
      customer: { name: 'João Souza', email: 'joao@example.com', document: '11144477735' },
      metadata: { order_id: "d'Ávila \\ | & (x):*", channel: 'web' },
    });
    nobody = await made({ amount: 100, metadata: { channel: 'shop' } });
    await service.simulate(key, `ch_${maria}`, { event: 'pay' });
  });

  it('finds payments by an id in any form, txid and end-to-end id', async () => {
    const [row] = await service.sql<{ txid: string; e2e: string }>(
      'SELECT txid, end_to_end_id AS e2e FROM transactions WHERE id = $1',
      [maria],
    );
    for (const text of [
      maria,
      `ch_${maria}`,
      `tx_${maria}`,
      maria.toUpperCase(),
      maria.replaceAll('-', ''),
      ` ${maria} `,
    ]) {
      expect(await found(text)).toEqual([maria]);
    }
    expect(await found(row?.txid ?? '')).toEqual([maria]);
    expect(await found(row?.e2e ?? '')).toEqual([maria]);
    expect(await found(randomUUID())).toEqual([]);
    expect(await found(maria.slice(0, 20))).toEqual([]);
  });

  it.each([
    ['an e-mail', 'maria.souza@example.COM', ['maria']],
    ['a document as it is stored', '52998224725', ['maria']],
    ['a document as it is printed', '529.982.247-25', ['maria']],
    ['a text of the metadata', 'pedido-1042', ['maria']],
    ['a text with every sign of a query language', "d'Ávila \\ | & (x):*", ['joao']],
    ['a text that several have', 'web', ['joao', 'maria']],
    ['a beginning of a word of the name', 'sou', ['joao', 'maria']],
    ['beginnings of several words, in any order', 'souza MAR', ['maria']],
    ['a name without its accents', 'joao antonia', []],
    ['a word without its accent', 'joao', ['joao']],
    ['a word with one', 'ANTÔNIA', ['maria']],
    ['a word of the name and a text of the metadata', 'maria, pedido-1042', ['maria']],
    ['what is said before the number of an order', 'Maria pedido #Pedido-1042', ['maria']],
    ['a word that another sale has', 'joao pedido-1042', []],
    ['a part that is no beginning', 'ouza', []],
    ['a part of an e-mail', 'maria.souza', ['maria']],
    ['a text inside of an object', 'inner', []],
    ['a letter that is no word of the name', 'maria s', []],
    ['signs alone', '**', []],
  ])('finds payments by %s', async (_, text, names) => {
    const ids: Record<string, string> = { maria, joao };
    expect(await found(text)).toEqual(names.map((name) => ids[name]));
  });

  it('finds payments by a word of one letter, as a whole word', async () => {
    const id = await made({ amount: 250, customer: { name: 'Zilda K Prado' } });
    expect(await found('zilda k')).toEqual([id]);
    expect(await found('k prado')).toEqual([id]);
    expect(await found('zilda p')).toEqual([]);
  });

  it('finds payments by ids of returned money: a refund, its reference at the bank, a returned Pix', async () => {
    const charge = await aPaidCharge(service, key, 1000);
    const { body: asked } = await requestRefund(service, key, paymentIdOf(charge), { amount: 300 });
    const refund = await refundEnd(service, key, asked);
    const own = paymentIdOf(charge);
    expect(await found(refund.id)).toEqual([own]);
    const [row] = await service.sql<{ reference: string }>(
      'SELECT bank_reference AS reference FROM refunds WHERE id = $1',
      [refund.id],
    );
    expect(await found(row?.reference ?? '')).toEqual([own]);
    await service.simulate(key, charge.id, { event: 'pay' });
    const back = await waitFor('the Pix that came twice', async () => {
      const [pix] = await service.sql<{ e2e: string }>(
        `SELECT end_to_end_id AS e2e FROM pix_returns WHERE transaction_id = $1`,
        [own],
      );
      return pix;
    });
    expect(await found(back.e2e)).toEqual([own]);
    const { testKey } = await service.merchant();
    for (const query of [refund.id, back.e2e]) {
      const foreign = await service.call<{ total: number }>('GET', `/v1/payments?query=${query}`, { key: testKey });
      expect(foreign.body.total).toBe(0);
    }
  });

  it('searches twenty keys of the metadata', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 150 }, (_, n) => [`k${String(n).padStart(3, '0')}`, `of-many-${n}`]),
    );
    const id = await made({ amount: 150, metadata });
    expect(await found('of-many-19')).toEqual([id]);
    expect(await found('of-many-20')).toEqual([]);
    expect(await found({ 'metadata[k019]': 'of-many-19' })).toEqual([id]);
  });

  it('finds payments by keys and values of the metadata, all of which must match', async () => {
    expect(await found({ 'metadata[channel]': 'web' })).toEqual([joao, maria]);
    expect(await found({ 'metadata[channel]': 'WEB' })).toEqual([]);
    expect(await found({ 'metadata[items]': '3' })).toEqual([maria]);
    expect(await found({ 'metadata[rate]': '0.0000001' })).toEqual([maria]);
    expect(await found({ 'metadata[gift]': 'true', 'metadata[channel]': 'web' })).toEqual([maria]);
    expect(await found({ 'metadata[gift]': 'true', 'metadata[channel]': 'shop' })).toEqual([]);
    expect(await found({ 'metadata[channel]': 'web', query: 'joao' })).toEqual([joao]);
    expect(await found({ 'metadata[order_id]': "d'Ávila \\ | & (x):*" })).toEqual([joao]);
    expect(await found({ 'metadata[chan]': 'nel=web' })).toEqual([]);
    expect(await found({ 'metadata[formula]': 'b=c' })).toEqual([maria]);
    expect(await found({ 'metadata[formula=b]': 'c' })).toEqual([]);
  });

  it('combines the search with the other filters and orders', async () => {
    expect(await found({ query: 'souza', status: 'PAID' })).toEqual([maria]);
    expect(await found({ query: 'souza', sortBy: 'amount', sortOrder: 'asc' })).toEqual([joao, maria]);
    expect(await found({ query: 'souza', sortBy: 'createdAt', sortOrder: 'asc' })).toEqual([maria, joao]);
    expect(await found({ query: 'souza', endDate: '2020-01-01' })).toEqual([]);
    const pages = [1, 2, 3].map((page) => ask({ query: 'souza', limit: '1', page: String(page) }));
    const answers = (await Promise.all(pages)).map(({ body }) => [
      body.total,
      body.data.map(({ id }) => id.replace(/^tx_/, '')),
    ]);
    expect(answers).toEqual([
      [2, [joao]],
      [2, [maria]],
      [2, []],
    ]);
  });

  it('finds no payments of another account or mode', async () => {
    const stranger = await service.merchant();
    for (const text of ['souza', maria, 'pedido-1042', '52998224725']) {
      expect(await found(text, stranger.testKey)).toEqual([]);
      expect(await found(text, merchant.liveKey)).toEqual([]);
    }
    const theirs = await made({ customer: { name: 'Souza' } }, stranger.testKey);
    expect(await found('souza', stranger.testKey)).toEqual([theirs]);
  });

  it('reflects changes and erasures of payments', async () => {
    const id = await made({ customer: { name: 'Zulmira Quaresma', email: 'zu@example.com' } });
    expect(await found('zulm')).toEqual([id]);
    await service.sql('UPDATE transactions SET customer_name = NULL, customer_email = NULL WHERE id = $1', [id]);
    expect(await found('zulm')).toEqual([]);
    expect(await found('zu@example.com')).toEqual([]);
    expect(await found(id)).toEqual([id]);
  });

  it('finds at most the newest thousand, and counts no more', async () => {
    const { accountId, testKey } = await service.merchant();
    await service.sql(
      `INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, metadata, acquirer,
         created_at, updated_at)
       SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, 'test', 'CANCELLED', n, 'BRL', '{PIX}', '{"run": "many"}', 'sandbox', now(), now()
       FROM generate_series(1, 1100) n`,
      [accountId],
    );
    const { body } = await ask({ query: 'many', limit: '100', page: '10' }, testKey);
    expect([body.total, body.data.length]).toEqual([1000, 100]);
    expect((await ask({ query: 'many', page: '51' }, testKey)).body.data).toEqual([]);
  });

  it.each([
    [{ query: 'x' }, ['query']],
    [{ query: ' x ' }, ['query']],
    [{ query: '' }, ['query']],
    [{ query: 'x'.repeat(10_000) }, ['query']],
    [{ search: 'maria' }, ['search']],
    [{ metadata: 'x' }, ['metadata']],
    [{ 'metadata[]': 'x' }, ['metadata[]']],
    [{ 'metadata[a]': 'x'.repeat(501) }, ['metadata']],
    [{ [`metadata[${'k'.repeat(101)}]`]: 'x' }, ['metadata']],
    [Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`metadata[${n}]`, 'x'])), ['metadata']],
    [{ 'metadata[a\u0000]': 'x' }, ['a?']],
    [{ 'metadata[a]': '\u0000' }, ['a']],
    [{ 'metadata[__proto__]': 'x' }, ['__proto__']],
    [{ metadata: 'x', 'metadata[a]': 'x' }, ['metadata', 'metadata[a]']],
  ] as [Record<string, string>, string[]][])(
    'answers a search with a 400 when it cannot be understood (case %#)',
    async (query, params) => {
      const { status, body } = await ask(query);
      expect({ query, status }).toEqual({ query, status: 400 });
      expect(body.error.details.map(({ param }) => param).sort()).toEqual(params);
    },
  );

  it('refuses a metadata key that is sent twice', async () => {
    const { status } = await service.call('GET', '/v1/payments?metadata[a]=1&metadata[a]=2', { key });
    expect(status).toBe(400);
    expect(await found('nobody')).toEqual([]);
    expect(await found({})).toContain(nobody);
  });
});
