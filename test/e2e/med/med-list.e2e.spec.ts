import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { aDisputedCharge, answerCase, happens, type MedCaseAnswer, type MedListAnswer } from '../../support/med.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';

type Listed = MedListAnswer & { error?: { code: string; param?: string } };

describe('the list of MED cases', () => {
  let service: TestService;
  let merchant: Merchant;
  let other: Merchant;
  let cases: MedCaseAnswer[];

  beforeAll(async () => {
    service = await TestService.start();
    merchant = await service.merchant();
    other = await service.merchant();
    const key = merchant.testKey;
    const made: MedCaseAnswer[] = [];
    for (let count = 0; count < 5; count++) {
      service.clock.advance(60);
      made.push((await aDisputedCharge(service, key)).medCase);
    }
    const card = await service.call<{ id: string }>('POST', '/v1/payments', {
      key,
      body: { amount: 100, paymentMethods: ['CREDIT_CARD'], idempotencyKey: 'a-card-payment' },
    });
    service.clock.advance(60);
    for (const event of ['pay', 'chargeback']) await happens(service, key, `ch_${card.body.id}`, { event });
    await answerCase(service, key, made[0]?.id ?? '', 'appeal');
    await answerCase(service, key, made[1]?.id ?? '', 'accept');
    cases = (await list('?limit=100')).body.data;
  });
  afterAll(async () => {
    await expectLedgerCoherent(service.database.url);
    await service.stop();
  });

  const list = (query = '', key = merchant.testKey, path = '/v1/med/cases'): Promise<Answer<Listed>> =>
    service.call('GET', `${path}${query}`, { key });
  const ids = async (query: string): Promise<string[]> => (await list(query)).body.data.map(({ id }) => id);
  const idsWhere = (holds: (medCase: MedCaseAnswer) => boolean): string[] => cases.filter(holds).map(({ id }) => id);

  it('has all cases, newest first', () => {
    expect(cases).toHaveLength(6);
    expect(cases.map(({ type }) => type)).toEqual(['chargeback', 'med', 'med', 'med', 'med', 'med']);
    expect(cases.map(({ created_at }) => created_at)).toEqual(
      cases
        .map(({ created_at }) => created_at)
        .sort()
        .reverse(),
    );
  });

  it('goes page by page', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: Answer<Listed> = await list(`?limit=2${cursor === null ? '' : `&starting_after=${cursor}`}`);
      expect(body.object).toBe('list');
      seen.push(...body.data.map(({ id }) => id));
      expect(body.has_more).toBe(body.next_cursor !== null);
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(cases.map(({ id }) => id));
  });

  it('filters by status, type, charge and time, alone and together', async () => {
    for (const status of ['open', 'appealed', 'accepted', 'rejected', 'closed']) {
      expect(await ids(`?status=${status}`)).toEqual(idsWhere((medCase) => medCase.status === status));
      expect(await ids(`?status=${status}&type=med`)).toEqual(
        idsWhere((medCase) => medCase.status === status && medCase.type === 'med'),
      );
    }
    for (const type of ['med', 'chargeback', 'dispute', 'fraud']) {
      expect(await ids(`?type=${type}`)).toEqual(idsWhere((medCase) => medCase.type === type));
    }
    const [, second, third, fourth] = cases;
    for (const id of [third?.charge_id, third?.charge_id.slice(3)])
      expect(await ids(`?charge_id=${id}`)).toEqual([third?.id]);
    expect(await ids(`?charge_id=${third?.charge_id}&status=closed`)).toEqual([]);
    expect(await ids(`?charge_id=${third?.charge_id}&type=med&status=open`)).toEqual([third?.id]);
    // Exclusive bounds.
    const between = `created_after=${fourth?.created_at}&created_before=${second?.created_at}`;
    expect(await ids(`?${between}`)).toEqual([third?.id]);
    expect(await ids(`?${between}&type=med&status=open`)).toEqual([third?.id]);
    expect(await ids(`?starting_after=${second?.id}&created_after=${fourth?.created_at}`)).toEqual([third?.id]);
  });

  it('lists open cases by their deadline, however old they are, page by page', async () => {
    const { testKey: key } = await service.merchant();
    const at = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
    const deadlines = [at(9), null, at(2), at(2), null, at(5), at(1)];
    for (const response_deadline of deadlines) {
      service.clock.advance(60);
      const { body: charge } = await service.createCharge(key);
      for (const event of [{ event: 'pay' }, { event: 'med_open', response_deadline }]) {
        await happens(service, key, charge.id, event);
      }
    }
    const all = (await list('?limit=100', key)).body.data;
    const answered = all.find(({ response_deadline: deadline }) => deadline === deadlines[5]);
    const pages = async (size: number, between?: (page: number) => Promise<unknown>): Promise<MedCaseAnswer[]> => {
      const seen: MedCaseAnswer[] = [];
      for (let [cursor, page] = ['', 0] as [string | null, number]; cursor !== null; page++) {
        const after: string = cursor === '' ? '' : `&starting_after=${cursor}`;
        const { status, body }: Answer<Listed> = await list(`?order=deadline&limit=${size}${after}`, key);
        expect(status).toBe(200);
        seen.push(...body.data);
        cursor = body.next_cursor;
        await between?.(page);
      }
      return seen;
    };
    const wanted = [deadlines[6], deadlines[2], deadlines[3], deadlines[5], deadlines[0], null, null];
    for (const size of [1, 2, 100]) {
      const seen = await pages(size);
      expect(seen.map(({ response_deadline: deadline }) => deadline)).toEqual(wanted);
      expect(new Set(seen.map(({ id }) => id)).size).toBe(deadlines.length);
    }
    // A case answered while somebody turns the pages still marks the place to continue.
    const seen = await pages(4, async (page) => {
      if (page === 0) await answerCase(service, key, answered?.id ?? '', 'appeal');
    });
    expect(seen).toHaveLength(deadlines.length);
    expect(await pages(100)).toHaveLength(deadlines.length - 1);
    const [first] = seen;
    const narrowed = (query: string) => list(`?order=deadline&${query}`, key);
    expect((await narrowed(`charge_id=${first?.charge_id}`)).body.data.map(({ id }) => id)).toEqual([first?.id]);
    expect((await narrowed('type=chargeback')).body.data).toEqual([]);
    expect((await narrowed('status=open&type=med')).body.data).toHaveLength(deadlines.length - 1);
    expect((await narrowed('status=closed')).body.error).toMatchObject({ code: 'invalid_request', param: 'status' });
  });

  it.each([
    ['order', 'amount'],
    ['status', 'won'],
    ['status', ''],
    ['type', 'pix'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', 'ten'],
    ['created_after', 'yesterday'],
    ['created_before', '2026-13-01T00:00:00Z'],
    ['created_before', '2026-11-21T12:00:00'],
    ['charge_id', 'ch_1'],
    ['starting_after', 'med_1'],
    ['starting_after', 'med_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12'],
    ['page', '2'],
  ])('refuses %s=%s', async (param, value) => {
    const { status, body } = await list(`?${param}=${encodeURIComponent(value)}`);
    expect([status, body.error?.code, body.error?.param]).toEqual([400, 'invalid_request', param]);
  });

  it('is the same as /v1/infractions', async () => {
    expect((await list('?limit=100', merchant.testKey, '/v1/infractions')).body.data).toEqual(cases);
    const [first] = cases;
    expect((await service.call('GET', `/v1/infractions/${first?.id}`, { key: merchant.testKey })).body).toEqual(first);
  });

  it('shows nothing of other accounts', async () => {
    const [first] = cases;
    for (const key of [other.testKey, merchant.liveKey, other.liveKey]) {
      expect((await list('', key)).body.data).toEqual([]);
      expect((await list(`?charge_id=${first?.charge_id}`, key)).body.data).toEqual([]);
      expect((await list(`?starting_after=${first?.id}`, key)).status).toBe(400);
      expect((await service.call('GET', `/v1/med/cases/${first?.id}`, { key })).status).toBe(404);
      for (const answer of ['appeal', 'accept'] as const)
        expect((await answerCase(service, key, first?.id ?? '', answer)).status).toBe(404);
    }
    expect((await service.call('GET', '/v1/med/cases/nonsense', { key: merchant.testKey })).status).toBe(404);
  });

  it.each([undefined, null, 7, 'four', 'x'.repeat(2001)])('refuses an appeal with the reason %p', async (reason) => {
    const open = cases.find(({ status }) => status === 'open');
    const answer = await service.call<{ error: { code: string; param: string } }>(
      'POST',
      `/v1/med/cases/${open?.id}/appeal`,
      { key: merchant.testKey, body: { reason } },
    );
    expect([answer.status, answer.body.error]).toMatchObject([400, { code: 'invalid_request', param: 'reason' }]);
  });

  it('refuses simulations that are impossible', async () => {
    const { body: charge } = await service.createCharge(merchant.testKey);
    for (const body of [
      { event: 'med_open' },
      { event: 'med_rule', result: 'agreed' },
      { event: 'med_rule' },
      { event: 'med_rule', result: 'won' },
      { event: 'med_withdraw' },
      { event: 'med_open', method: 'PIX' },
      { event: 'pay', method: 'scam' },
      { event: 'med_open', response_deadline: 'soon' },
    ])
      expect([body, (await service.simulate(merchant.testKey, charge.id, body)).status]).toEqual([body, 400]);
  });

  it('answers as fast for 100 000 cases as for 100', async () => {
    const accounts = [await service.merchant(), await service.merchant()];
    for (const [index, { accountId, testKey }] of accounts.entries()) {
      const { charge } = await aDisputedCharge(service, testKey);
      await service.sql(
        `INSERT INTO med_cases (id, account_id, mode, transaction_id, acquirer, reference, payment_reference, type, status, money_outcome, visible,
           amount, reported_amount, currency, opened_at, closed_at, bank_status, bank_updated_at, applied_at, created_at, updated_at)
         SELECT gen_random_uuid(), $1, 'live', $2, 'sandbox', gen_random_uuid(), gen_random_uuid(), (ARRAY['med', 'med', 'med', 'chargeback', 'fraud'])[1 + n % 5],
           'closed', 'refunded_to_merchant', true, 100, 100, 'BRL', at, at, 'closed', at, at, at, at
         FROM generate_series(1, $3::integer) n, LATERAL (SELECT now() - n * interval '1 minute' AS at) t`,
        [accountId, charge.id.slice(3), index === 0 ? 100 : 100_000],
      );
    }
    await service.sql('ANALYZE med_cases');
    const bound = new Date(Date.now() - 3_000_000).toISOString();
    for (const query of [
      '?limit=25',
      '?limit=25&status=closed',
      '?limit=25&status=open',
      '?limit=25&type=chargeback',
      '?limit=25&type=dispute',
      '?limit=25&type=fraud&status=closed',
      `?limit=25&created_before=${bound}`,
      `?limit=25&status=closed&created_after=${bound}`,
    ]) {
      const times: number[][] = [[], []];
      for (let round = -5; round < 40; round++) {
        for (const [index, { liveKey }] of accounts.entries()) {
          const began = performance.now();
          expect((await list(query, liveKey)).status).toBe(200);
          if (round >= 0) times[index]?.push(performance.now() - began);
        }
      }
      const [few = 0, many = 0] = times.map((all) => all.sort((a, b) => a - b)[20]);
      // Other load of the machine hits both alike, and a walk through the table would take ten times as long.
      expect({ query, few, many, flat: many < few * 1.5 + 2 }).toMatchObject({ flat: true });
    }
    for (const { accountId } of accounts)
      await service.sql(`DELETE FROM med_cases WHERE account_id = $1 AND mode = 'live'`, [accountId]);
  }, 120_000);
});
