import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { expectLedgerCoherent } from '../support/coherence.js';
import { aPaymentLink, pathOf, readLink, visitAndPay } from '../support/payment-links.js';
import { TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

jest.setTimeout(300_000);

const VISITORS = 200;
const PAYABLE = 50;

/** A link that was broadcast: everybody opens it, and pays, at once. */
describe(`${VISITORS} visitors at once of a link that may be paid ${PAYABLE} times`, () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  it(`pay it exactly ${PAYABLE} times, and every later Pix goes back by itself`, async () => {
    const { testKey } = await service.merchant();
    const link = await aPaymentLink(service, testKey, { max_payments: PAYABLE, ask: ['name'] });
    const path = pathOf(link);
    const charges = await Promise.all(
      Array.from({ length: VISITORS }, (_, index) => visitAndPay(service, path, { name: `Visitor ${String(index)}` })),
    );
    expect(new Set(charges).size).toBe(VISITORS);

    const paid = await Promise.all(charges.map((id) => service.simulate(testKey, id, { event: 'pay' })));
    expect(paid.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
    await waitFor(
      'every other Pix to be back, and every other charge to be over',
      async () => {
        const [row] = await service.sql<{ back: string; open: string }>(
          `SELECT (SELECT count(*) FROM pix_returns WHERE status = 'RETURNED') AS back,
             (SELECT count(*) FROM transactions WHERE status = 'WAITING_PAYMENT') AS open`,
        );
        return Number(row?.back) === VISITORS - PAYABLE && row?.open === '0';
      },
      120_000,
    );
    const rows = await service.sql<{ status: string; outcome: string; reason: string | null; number: string }>(
      `SELECT t.status, s.outcome, s.reason, count(*) AS number
       FROM payment_link_charges c JOIN transactions t ON t.id = c.transaction_id
       JOIN settlements s ON s.transaction_id = t.id GROUP BY 1, 2, 3 ORDER BY 1`,
    );
    expect(rows).toEqual([
      { status: 'CANCELLED', outcome: 'returned', reason: 'charge_closed', number: String(VISITORS - PAYABLE) },
      { status: 'PAID', outcome: 'credited', reason: null, number: String(PAYABLE) },
    ]);
    expect(await readLink(service, testKey, link.id)).toMatchObject({
      ...{ paid_count: PAYABLE, paid_amount: PAYABLE * 5000, status: 'ended', ended_reason: 'full' },
    });
    const [{ deadlocks } = { deadlocks: '' }] = await service.sql<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(deadlocks).toBe('0');
    await expectLedgerCoherent(service.database.url);
  });
});
