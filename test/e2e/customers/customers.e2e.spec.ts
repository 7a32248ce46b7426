import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestRefund } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const MARIA = { name: 'Maria da Silva', document: '52998224725', email: 'maria@example.com', phone: '+5511987654321' };
const JOAO = { name: 'João Souza', email: 'Joao@Example.com' };

interface Customer {
  readonly id: string;
  readonly name: string | null;
  readonly tax_id: string | null;
  readonly email: string | null;
  readonly totals: readonly object[];
}
interface Page<T = Customer> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

describe('customers', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let key: string;
  let owner: string;
  const get = <T>(path: string, who: string = key) => service.call<T>('GET', `/v1/customers${path}`, { key: who });
  const names = async (query: string): Promise<(string | null)[]> =>
    (await get<Page>(query)).body.data.map(({ name }) => name);
  const sell = async (customer: object, amount = 5000, who: string = key): Promise<string> => {
    const { status, body } = await service.createCharge(who, { amount, customer });
    expect(status).toBe(201);
    return body.id;
  };
  const paid = async (customer: object, amount?: number): Promise<string> => {
    const id = await sell(customer, amount);
    expect((await service.simulate(key, id, { event: 'pay' })).status).toBe(200);
    return id;
  };
  const cus = (charge: string): string => charge.replace('ch_', 'cus_');
  const atDoor = <T>(id: string, action: string, body: object = {}, mode = 'test') =>
    service.call<T>('POST', `/v1/dashboard/${mode}/customers/${id}/${action}`, { token: owner, body });

  beforeAll(async () => {
    merchant = await service.merchant({ fraud_mode: 'off' });
    key = merchant.testKey;
    owner = await service.login(merchant.ownerEmail);
  });

  it('adds up what each has bought, got back and disputed, whoever paid last first', async () => {
    const first = await paid(MARIA, 5000);
    const joao = await paid(JOAO, 700);
    await paid({ ...MARIA, name: 'Maria S. Souza', email: 'new@example.com' }, 3000);
    // Neither unpaid sales nor sales without a name for their payer make a customer.
    await sell({ name: 'Nobody', email: 'nobody@example.com' });
    await paid({});
    expect((await requestRefund(service, key, first.slice(3), { amount: 1200 })).status).toBe(201);
    await waitFor('the refund', async () => (await service.getCharge(key, first)).body['amount_refunded'] === 1200);
    const { body } = await get<Page>('');
    expect(body).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    expect(body.data).toStrictEqual([
      {
        ...{ id: cus(first), object: 'customer', name: 'Maria S. Souza', tax_id: MARIA.document },
        ...{ email: 'new@example.com', phone: MARIA.phone },
        ...{ first_paid_at: expect.any(String), last_paid_at: expect.any(String) },
        totals: [{ currency: 'BRL', sales: 2, amount_paid: 8000, amount_refunded: 1200, amount_disputed: 0 }],
        is_complete: true,
      },
      {
        ...{ id: cus(joao), object: 'customer', name: JOAO.name, tax_id: null, email: JOAO.email, phone: null },
        ...{ first_paid_at: expect.any(String), last_paid_at: expect.any(String) },
        totals: [{ currency: 'BRL', sales: 1, amount_paid: 700, amount_refunded: 0, amount_disputed: 0 }],
        is_complete: true,
      },
    ]);
  });

  it('reads one customer by the id of any of the sales, and adds up what disputes hold', async () => {
    const disputed = await paid(MARIA, 4400);
    expect((await service.simulate(key, disputed, { event: 'med_open' })).status).toBe(200);
    const totals = [{ sales: 3, amount_paid: 12_400, amount_refunded: 1200, amount_disputed: 4400 }];
    expect((await get<Customer>(`/${disputed}`)).body).toMatchObject({ name: MARIA.name, totals });
    const maria = (await get<Page>('?query=52998224725')).body.data.find(({ tax_id: id }) => id === MARIA.document);
    const sales = await get<Page<{ id: string }>>(`/${maria?.id ?? ''}/payments`);
    for (const { id } of sales.body.data) expect((await get(`/${id}`)).body).toEqual(maria);
  });

  it('pages through customers and through the sales of one, by cursor', async () => {
    const all = (await get<Page>('?limit=100')).body.data;
    const seen: Customer[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = (await get<Page>(`?limit=1${cursor === '' ? '' : `&starting_after=${cursor}`}`)).body;
      expect(page.data).toHaveLength(1);
      seen.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all);
    const maria = all.find(({ tax_id: id }) => id === MARIA.document)?.id ?? '';
    const sales = (await get<Page<{ id: string }>>(`/${maria}/payments`)).body.data;
    const first = (await get<Page<{ id: string }>>(`/${maria}/payments?limit=1`)).body;
    expect(first).toMatchObject({ data: [sales[0]], has_more: true, next_cursor: sales[0]?.id });
    const second = await get<Page<{ id: string }>>(
      `/${maria}/payments?limit=1&starting_after=${first.next_cursor ?? ''}`,
    );
    expect(second.body.data).toEqual([sales[1]]);
  });

  it('lists who bought most first, page by page, and with a text only the customers of its sales', async () => {
    const bought = ({ totals }: Customer): number => (totals[0] as { amount_paid: number }).amount_paid;
    await paid({ name: 'Rica', email: 'rica@example.com' }, 900_000);
    await paid(JOAO, 100);
    const all = (await get<Page>('?order=most_bought')).body.data;
    const byTime = (await get<Page>('')).body.data;
    expect(all).toHaveLength(byTime.length);
    expect(all).toEqual(byTime.toSorted((a, b) => bought(b) - bought(a)));
    const seen: Customer[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const after = cursor === '' ? '' : `&starting_after=${cursor}`;
      const page: Page = (await get<Page>(`?order=most_bought&limit=1${after}`)).body;
      seen.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all);
    expect(await names('?order=most_bought&query=joao')).toEqual([JOAO.name]);
    expect((await get('?order=least_bought')).status).toBe(400);
  });

  it('lists and counts the disputes of one customer', async () => {
    const maria = (await get<Page>('?query=52998224725')).body.data[0]?.id ?? '';
    const joao = (await get<Page>('?query=joao')).body.data[0]?.id ?? '';
    const disputed = await paid(JOAO, 300);
    expect((await service.simulate(key, disputed, { event: 'med_open' })).status).toBe(200);
    const cases = async (query: string, who = key): Promise<string[]> => {
      const { body } = await service.call<Page<{ charge_id: string }>>('GET', `/v1/med/cases?${query}`, { key: who });
      return body.data.map(({ charge_id: id }) => id);
    };
    await waitFor('both cases', async () => (await cases('')).length === 2);
    expect(await cases(`customer=${joao}`)).toEqual([disputed]);
    expect(await cases(`customer=${disputed}&order=deadline`)).toEqual([disputed]);
    expect(await cases(`customer=${maria}&charge_id=${disputed}`)).toEqual([]);
    expect((await cases(`customer=${maria}`)).concat(disputed).toSorted()).toEqual((await cases('')).toSorted());
    const totals = await service.call('GET', `/v1/med/cases/totals?customer=${joao}`, { key });
    expect(totals.body).toMatchObject({ count: 1, amounts: [{ amount: 300 }] });
    const other = await service.merchant();
    for (const who of [merchant.liveKey, other.testKey]) expect(await cases(`customer=${joao}`, who)).toEqual([]);
  });

  it('finds customers by name, tax id, e-mail and the id of a sale', async () => {
    expect(await names('?query=joao%20sou')).toEqual([JOAO.name]);
    expect(await names('?query=529.982.247-25')).toContain(MARIA.name);
    // An e-mail of an earlier sale finds its customer, with the entries of the newest one.
    expect(await names('?query=maria@example.com')).toEqual([MARIA.name]);
    const { data } = (await get<Page>('?query=joao')).body;
    expect(await names(`?query=${data[0]?.id.slice(4) ?? ''}`)).toEqual([JOAO.name]);
    expect(await names('?query=nobody@example.com')).toEqual([]);
    expect((await get('?query=x')).status).toBe(400);
  });

  it('shows no customer of another account or mode', async () => {
    const other = await service.merchant();
    const { data } = (await get<Page>('?query=joao')).body;
    const id = data[0]?.id ?? '';
    for (const who of [merchant.liveKey, other.testKey]) {
      expect((await get<Page>('', who)).body.data).toEqual([]);
      expect((await get<Page>('?query=joao', who)).body.data).toEqual([]);
      expect((await get(`/${id}`, who)).status).toBe(404);
      expect((await get(`/${id}/payments`, who)).status).toBe(404);
      expect((await get(`?starting_after=${id.slice(4)}`, who)).status).toBe(400);
    }
    expect((await atDoor(id, 'export', {}, 'live')).status).toBe(404);
    expect((await atDoor(id, 'erase', {}, 'live')).status).toBe(404);
    expect(await names('?query=joao')).toEqual([JOAO.name]);
  });

  it('exports everything about one customer, and nothing of who gave the same e-mail with a tax id', async () => {
    const shared = 'shared@example.com';
    const alone = await paid({ name: 'Ana', email: shared });
    const waiting = await sell({ name: 'Ana', email: shared.toUpperCase() });
    const other = await paid({ name: 'Bia', document: '11144477735', email: shared });
    const { status, body } = await atDoor<{ transactions: { transaction_id: string }[] }>(cus(alone), 'export');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'customer_export', payouts: [], payout_destinations: [] });
    expect(body.transactions.map(({ transaction_id: id }) => `ch_${id}`)).toEqual([alone, waiting]);
    expect(body.transactions[0]).toMatchObject({ customer_name: 'Ana', customer_email: shared });
    const [audited] = await service.sql(
      `SELECT actor_id FROM audit_events WHERE account_id = $1 AND type = 'customer.exported'`,
      [merchant.accountId],
    );
    expect(audited).toEqual({ actor_id: merchant.ownerId });
    expect((await get<Customer>(`/${other}`)).body).toMatchObject({ name: 'Bia', email: shared });
  });

  it('erases one customer for good, and leaves open sales, others and the books', async () => {
    await waitFor('the deliveries', async () => {
      const [open] = await service.sql<{ n: string }>(`SELECT count(*) AS n FROM events WHERE status = 'pending'`);
      return open?.n === '0';
    });
    const { data } = (await get<Page>('?query=shared@example.com')).body;
    const ana = data.find(({ name }) => name === 'Ana');
    const before = (await get<Page<{ id: string }>>(`/${ana?.id ?? ''}/payments`)).body.data;
    const { status, body } = await atDoor<{ waiting: object[] }>(ana?.id ?? '', 'erase');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'customer_erasure', erased: { transactions: 1 } });
    expect(body.waiting).toEqual([{ kind: 'transaction', id: expect.any(String), reason: 'open_charge' }]);
    expect((await get(`/${ana?.id ?? ''}`)).status).toBe(404);
    expect(await names('?query=shared@example.com')).toEqual(['Bia']);
    const sale = await service.call('GET', `/v1/payments/${before[0]?.id ?? ''}`, { key });
    expect(sale.body).toMatchObject({ customerName: null, customerEmail: null, amount: 5000, status: 'PAID' });
  });

  it('looks at a bounded number of sales for a page, and goes on at the next page', async () => {
    const busy = await service.merchant();
    const rare = await sell({ name: 'Rare', email: 'rare@example.com' }, 100, busy.testKey);
    await service.simulate(busy.testKey, rare, { event: 'pay' });
    const database = await service.database.pool.connect();
    try {
      // With the role of a replica, no trigger asks for the settlements of these copies.
      await database.query('BEGIN');
      await database.query('SET LOCAL session_replication_role = replica');
      await database.query(
        `INSERT INTO transactions SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(),
           'txid', NULL, 'customer_email', 'often@example.com', 'paid_at', t.paid_at + n * interval '1 second'))).*
         FROM transactions t, generate_series(1, 10001) n WHERE t.id = $1`,
        [rare.slice(3)],
      );
      await database.query('COMMIT');
    } finally {
      database.release();
    }
    const first = (await get<Page>('', busy.testKey)).body;
    expect(first.data).toMatchObject([
      { email: 'often@example.com', totals: [{ sales: 1000, amount_paid: 100_000 }], is_complete: false },
    ]);
    expect(first.has_more).toBe(true);
    const second = (await get<Page>(`?starting_after=${first.next_cursor ?? ''}`, busy.testKey)).body;
    expect(second).toMatchObject({ data: [{ email: 'rare@example.com' }], has_more: false, next_cursor: null });
    const often = (await get<Customer>(`/${first.data[0]?.id ?? ''}`, busy.testKey)).body;
    expect(often).toMatchObject({ totals: [{ sales: 10_001 }], is_complete: true });
    const door = `/v1/dashboard/test/customers/${often.id}`;
    const token = await service.login(busy.ownerEmail);
    for (const action of ['export', 'erase']) {
      const { status, body } = await service.call('POST', `${door}/${action}`, { token, body: {} });
      expect([status, body]).toMatchObject([409, { error: { code: 'customer_too_large' } }]);
    }
  });
});
