import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../src/core/database/index.js';
import { MED_CASE_STATUSES, MED_MOVES } from '../../src/med/cases/med-cases.machine.js';
import { CorrectionsService } from '../../src/transactions/index.js';
import { CORRECTION_STATUSES } from '../../src/transactions/corrections/correction.entity.js';
import { REFUND_MOVES, REFUND_STATUSES } from '../../src/transactions/refunds/refunds.machine.js';
import { RETURN_STATUSES } from '../../src/transactions/returns/pix-return.entity.js';
import { MOVES, TRANSACTION_STATUSES } from '../../src/transactions/transactions.machine.js';
import { PAYOUT_MOVES, PAYOUT_STATUSES } from '../../src/payouts/index.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { caseOf } from '../support/med.js';
import { aPayout, payoutOf, readPayout, simulatePayout } from '../support/payouts.js';
import { aPaidCharge, refundEnd, requestRefund } from '../support/refunds.js';
import { type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

/** Writes with the database role of the service. A bug or a stolen password has the same rights. */
describe('the database refuses', () => {
  let service: TestService;
  let client: pg.Client;
  let merchant: Merchant;
  /** Ids of charges by their outcome, of a partial refund, of a case and of a journal entry */
  let ids: Record<string, string>;

  beforeAll(async () => {
    service = await TestService.start();
    const slow = await service.merchant({ release_days: '1' });
    const released = await aPaidCharge(service, slow.testKey, 1_000);
    const reserving = await service.merchant({ reserve_bps: '1000', reserve_days: '9', release_days: '8' });
    service.clock.advance(2 * 86_400);
    await waitFor('the release', async () => {
      const [due] = await service.sql('SELECT 1 FROM releases WHERE released_at IS NULL');
      return due === undefined;
    });
    merchant = await service.merchant({ payer_lock: 'true' });
    const paid = await aPaidCharge(service, merchant.testKey, 1_000);
    const open = (await service.createCharge(merchant.testKey)).body;
    const refunded = await aPaidCharge(service, merchant.testKey, 1_000);
    const refund = await requestRefund(service, merchant.testKey, refunded.id, { amount: 400 });
    await refundEnd(service, merchant.testKey, refund.body);
    const disputed = await aPaidCharge(service, merchant.testKey, 1_000);
    await service.simulate(merchant.testKey, disputed.id, { event: 'med_open' });
    const medCase = await caseOf(service, merchant.testKey, disputed.id);
    const late = (await service.createCharge(merchant.testKey)).body;
    await service.simulate(merchant.testKey, late.id, { event: 'expire' });
    await service.simulate(merchant.testKey, late.id, { event: 'pay' });
    await waitFor(
      'the late Pix to be back',
      async () => (await service.getCharge(merchant.testKey, late.id)).body['returns'],
    );
    const payer = { customer: { name: 'Maria' }, expected_payer_tax_id: '52998224725' };
    const locked = (await service.createCharge(merchant.testKey, payer)).body;
    const boleto = await service.call<{ id: string }>('POST', '/v1/payments', {
      key: merchant.testKey,
      body: { amount: 1_000, paymentMethods: ['BOLETO'], idempotencyKey: 'boleto' },
    });
    // The second Pix cannot be sent back: it waits in suspense for an operator.
    for (const times of [1, 2]) {
      const path = `/v1/sandbox/payments/${boleto.body.id}/simulate`;
      expect([
        times,
        (await service.call('POST', path, { key: merchant.testKey, body: { event: 'pay' } })).status,
      ]).toEqual([times, 200]);
    }
    const bankFee = (amount: number): Promise<string> =>
      service.get(Database).transaction(async (tx) => {
        const fee = { kind: 'bank_fee', amount, borneBy: 'platform', currency: 'BRL', mode: 'test' } as const;
        const why = { reason: 'Of the month', idempotencyKey: randomUUID(), bankReference: null, transactionId: null };
        const wanted = { accountId: merchant.accountId, ...fee, ...why, acquirer: null, invoiceMonth: null };
        return (await service.get(CorrectionsService).request(tx, wanted, randomUUID())).correction.id;
      });
    const payout = await aPayout(service, merchant.testKey, { amount: 300 });
    await payoutOf(service, merchant.testKey, payout.id, 'paid');
    await simulatePayout(service, merchant.testKey, payout.id, { event: 'return', amount: 100 });
    await waitFor(
      'the part of the payout',
      async () => (await readPayout(service, merchant.testKey, payout.id)).amount_returned === 100,
    );
    const held = await service.heldCharge(merchant.testKey);
    const later = await aPaidCharge(service, slow.testKey, 1_000);
    const reserved = await aPaidCharge(service, reserving.testKey, 1_000);
    const bare = (id: string): string => id.replace(/^[a-z]+_/, '');
    const [back] = await service.sql<{ id: string }>('SELECT id FROM pix_returns');
    const [entry] = await service.sql<{ id: string }>('SELECT id FROM journal_entries ORDER BY created_at LIMIT 1');
    ids = {
      ...{ paid: bare(paid.id), open: bare(open.id), refunded: bare(refunded.id), disputed: bare(disputed.id) },
      ...{ late: bare(late.id), locked: bare(locked.id), later: bare(later.id), boleto: bare(boleto.body.id) },
      ...{ correction: await bankFee(999_999), applied: await bankFee(1) },
      ...{ held: held.chargeId.slice(3), review: held.reviewId, released: bare(released.id) },
      reserved: bare(reserved.id),
      payout: bare(payout.id),
      ...{ refund: refund.body.id, case: bare(medCase.id), entry: entry?.id ?? '', return: back?.id ?? '' },
      otherAccount: (await service.merchant()).accountId,
    };
    client = new pg.Client({ connectionString: service.database.url });
    await client.connect();
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(async () => {
    await client.end();
    await service.stop();
  });

  const written = (sql: string): string =>
    sql.replaceAll(/\$(\w+)/g, (_, name: string) => {
      if (name === 'account') return `'${merchant.accountId}'`;
      if (name === 'new') return `'${randomUUID()}'`;
      return `'${ids[name] ?? name}'`;
    });

  const ENTRY = 'INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, number, created_at)';
  const LINE =
    'INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)';
  const entry = (lines: string): string => `
    WITH e AS (${ENTRY} VALUES ($new, $account, 'test', 'BRL', 'spec:1', 'correction', 1000, now()) RETURNING *)
    ${LINE} SELECT e.id, l.line, ${lines}`;

  /** End of a statement that writes the entry of a release. The statement begins with the released rows, named `r`. */
  const RELEASED = `
       e AS (
         INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, transaction_id, number, created_at)
         SELECT $new, account_id, mode, currency, 'release:' || transaction_id, 'release', transaction_id, 1000, now() FROM r RETURNING *)
       ${LINE} SELECT e.id, l, e.account_id, e.mode, e.currency, b, a * r.amount, e.number, e.created_at, 0
       FROM e, r, (VALUES (1, 'pending', -1), (2, 'available', 1)) x (l, b, a)`;
  const RETURN =
    'INSERT INTO pix_returns (id, account_id, mode, transaction_id, acquirer, end_to_end_id, return_id, amount, currency, reason, status, created_at, updated_at)';

  it.each([
    [
      'an entry without lines',
      `${ENTRY} VALUES ($new, $account, 'test', 'BRL', 'spec', 'correction', 99, now())`,
      'no lines',
    ],
    [
      'lines of an entry of before, though they sum to zero',
      `${LINE} SELECT id, l, account_id, mode, currency, 'available', 101 - l * 2 + 1, number, created_at, 0
       FROM journal_entries, unnest(ARRAY[50, 52]) l WHERE id = $entry`,
      'has its lines already',
    ],
    [
      'an entry with a line of another account',
      entry(`CASE l.line WHEN 1 THEN e.account_id ELSE $otherAccount::uuid END, e.mode, e.currency, 'available', l.amount,
        e.number, e.created_at, 0 FROM e, (VALUES (1, 5), (2, -5)) l (line, amount)`),
      'lines of another wallet',
    ],
    ...[
      `CASE l.line WHEN 1 THEN 'test' ELSE 'live' END, e.currency`,
      `e.mode, CASE l.line WHEN 1 THEN 'BRL' ELSE 'USD' END`,
    ].map((columns): [string, string, string] => [
      'an entry with a line of another mode or currency',
      entry(`e.account_id, ${columns}, 'available', l.amount, e.number, e.created_at, 0
          FROM e, (VALUES (1, 5), (2, -5)) l (line, amount)`),
      'lines of another wallet',
    ]),
    [
      'a bucket that is not in the list',
      entry(`e.account_id, e.mode, e.currency, 'pocket', l.amount, e.number, e.created_at, 0
        FROM e, (VALUES (1, 5), (2, -5)) l (line, amount)`),
      'journal_lines_bucket_check',
    ],
    [
      'a balance of a bucket that is not in the list',
      `INSERT INTO balances (account_id, mode, currency, bucket, amount, updated_at) VALUES ($account, 'test', 'BRL', 'pocket', 1, now())`,
      'balances_bucket_check',
    ],
    ...['pending', 'retained', 'reserved', 'suspense'].map((bucket): [string, string, string] => [
      `less than nothing that is ${bucket}`,
      `INSERT INTO balances (account_id, mode, currency, bucket, amount, updated_at) VALUES ($account, 'test', 'USD', '${bucket}', -1, now())`,
      'balances_held',
    ]),
    ...['amount = -1', 'negative_since = now()', 'negative_notice_at = now()'].map(
      (column): [string, string, string] => [
        `a wallet whose time below zero is not that of its balance: ${column}`,
        `UPDATE balances SET ${column} WHERE account_id = $account AND bucket = 'available'`,
        'balances_negative_check',
      ],
    ),
    ['a wallet that becomes another’s', 'UPDATE balances SET account_id = $otherAccount', 'balances_fixed'],
    ['another amount of a sale', 'UPDATE transactions SET amount = amount - 1 WHERE id = $open', 'transactions_fixed'],
    [
      'a sale that becomes another’s',
      'UPDATE transactions SET account_id = $otherAccount WHERE id = $open',
      'transactions_fixed',
    ],
    [
      'another net amount of what is paid',
      'UPDATE transactions SET net_amount = net_amount + 1 WHERE id = $paid',
      'transactions_paid_once',
    ],
    ['a payment that is undone', 'UPDATE transactions SET paid_at = NULL WHERE id = $paid', 'transactions_paid_once'],
    [
      'a payment without a settlement',
      `UPDATE transactions SET status = 'PAID', paid_at = now(), paid_with = 'PIX', net_amount = amount WHERE id = $open`,
      'is paid without a credited settlement',
    ],
    [
      'a sale that is made paid',
      `INSERT INTO transactions SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'txid', 'spec'))).* FROM transactions t WHERE id = $paid`,
      'is paid without a credited settlement',
    ],
    [
      'another amount of a settlement',
      'UPDATE settlements SET amount = amount + 1 WHERE transaction_id = $paid',
      'settlements_fixed',
    ],
    [
      'a settlement of another sale',
      'UPDATE settlements SET transaction_id = $open WHERE transaction_id = $paid',
      'settlements_assigned',
    ],
    [
      'a credit that is taken back by its settlement',
      `UPDATE settlements SET outcome = 'returned' WHERE transaction_id = $paid`,
      'settlements_moves',
    ],
    [
      'a Pix that goes back and is in no entry',
      `WITH s AS (
         INSERT INTO settlements SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'end_to_end_id', 'spec', 'outcome', 'returned'))).*
         FROM settlements s WHERE transaction_id = $paid RETURNING *)
       ${RETURN} SELECT $new, account_id, mode, transaction_id, acquirer, end_to_end_id, 'spec', amount, 'BRL', 'duplicate', 'PENDING', now(), now() FROM s`,
      'its money is not in the journal as suspense.received:',
    ],
    [
      'a Pix that is back by no entry',
      `WITH s AS (UPDATE settlements SET outcome = 'returned' WHERE id = $review RETURNING *)
       ${RETURN} SELECT $new, account_id, mode, transaction_id, acquirer, end_to_end_id, 'spec', amount, 'BRL', 'review_returned', 'RETURNED', now(), now() FROM s`,
      'its money is not in the journal as suspense.returned:',
    ],
    ...['credited', 'returned', 'closed'].map((outcome): [string, string, string] => [
      `a payment that is ${outcome} from its first row on, and nothing says so`,
      `INSERT INTO settlements SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'end_to_end_id', 'spec',
         'transaction_id', $open::uuid, 'outcome', '${outcome}'))).* FROM settlements s WHERE transaction_id = $paid`,
      `is ${outcome} and nothing says so`,
    ]),
    ...['credited', 'returned'].map((outcome): [string, string, string] => [
      `a payment that waits for an operator, is ${outcome} and nothing says so`,
      `UPDATE settlements SET outcome = '${outcome}' WHERE id = $review`,
      `is ${outcome} and nothing says so`,
    ]),
    [
      'a return of what was credited',
      `${RETURN} SELECT $new, account_id, mode, id, acquirer, end_to_end_id, 'spec', amount, 'BRL', 'duplicate', 'PENDING', now(), now()
       FROM transactions WHERE id = $paid`,
      'is not the one of a payment that goes back',
    ],
    [
      'a second return of one payment',
      `INSERT INTO pix_returns SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'return_id', 'again', 'status', 'PENDING'))).*
       FROM pix_returns r WHERE transaction_id = $late`,
      'is not the one of a payment that goes back',
    ],
    ...['credited', 'returned', 'closed'].map((outcome): [string, string, string] => [
      `a payment in suspense that is ${outcome} and nothing says so`,
      `UPDATE settlements SET outcome = '${outcome}' WHERE transaction_id = $boleto AND outcome = 'unmatched'`,
      // The sale has a credited settlement already, so the unique index refuses the second one first.
      outcome === 'credited' ? 'settlements_credited' : 'nothing says so',
    ]),
    [
      'a Pix that is back and is closed',
      `UPDATE settlements SET outcome = 'closed' WHERE transaction_id = $late`,
      'nothing says so',
    ],
    [
      'a Pix that is back and is credited',
      `UPDATE settlements SET outcome = 'credited' WHERE transaction_id = $late`,
      'is credited, and on its way back or back',
    ],
    [
      'a correction whose money is in no entry',
      `UPDATE corrections SET status = 'applied', decided_by = $new, decided_at = now() WHERE id = $correction`,
      'its money is not in the journal',
    ],
    [
      'a correction that was made from the beginning, and has no entry',
      `INSERT INTO corrections SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', 'spec',
         'status', 'applied', 'decided_by', c.requested_by, 'decided_at', now()))).* FROM corrections c WHERE id = $correction`,
      'its money is not in the journal',
    ],
    [
      'a correction about a Pix that stays as it was',
      `INSERT INTO corrections SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', 'spec', 'kind', 'write_off',
         'borne_by', NULL, 'settlement_id', s.id, 'amount', s.amount, 'status', 'applied', 'decided_by', c.requested_by, 'decided_at', now()))).*
       FROM corrections c, settlements s WHERE c.id = $correction AND s.transaction_id = $boleto AND s.outcome = 'unmatched'`,
      'is not what the correction says',
    ],
    [
      'a correction about a Pix of another account',
      `INSERT INTO corrections SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', 'spec',
         'settlement_id', s.id, 'status', 'applied', 'decided_by', c.requested_by, 'decided_at', now()))).*
       FROM corrections c, settlements s WHERE c.id = $correction AND s.transaction_id = $later`,
      'is of another account',
    ],
    ['another amount of a correction', 'UPDATE corrections SET amount = 1 WHERE id = $correction', 'corrections_fixed'],
    [
      'a correction that nobody has decided',
      `UPDATE corrections SET status = 'rejected' WHERE id = $correction`,
      'corrections_decided_check',
    ],
    [
      'a correction that is rejected after it was made',
      `UPDATE corrections SET status = 'rejected' WHERE id = $applied`,
      'corrections_moves',
    ],
    [
      'another amount of a return',
      'UPDATE pix_returns SET amount = 1 WHERE transaction_id = $late',
      'pix_returns_fixed',
    ],
    [
      'a return that begins again',
      `UPDATE pix_returns SET status = 'PENDING' WHERE transaction_id = $late`,
      'pix_returns_moves',
    ],
    [
      'a sale that is paid by its status alone',
      `UPDATE transactions SET status = 'PAID' WHERE id = $open`,
      'transactions_paid_check',
    ],
    ['a sale of another acquirer', `UPDATE transactions SET acquirer = 'other' WHERE id = $paid`, 'transactions_fixed'],
    [
      'a sale that anybody may pay',
      'UPDATE transactions SET expected_payer_tax_id = NULL WHERE id = $locked',
      'transactions_payer_kept',
    ],
    [
      'another fee of the acquirer',
      'UPDATE settlements SET provider_fee = 7 WHERE transaction_id = $paid',
      'settlements_fixed',
    ],
    [
      'a Pix that goes back and whose fee is in no entry',
      `INSERT INTO settlements SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'end_to_end_id', 'spec', 'outcome', 'returned',
         'provider_fee', 5))).* FROM settlements s WHERE transaction_id = $paid`,
      'its fee of 5 is not in the journal',
    ],
    [
      'a fee of a refund that has ended without',
      'UPDATE refunds SET provider_fee = 5 WHERE id = $refund',
      'refunds_charged_once',
    ],
    [
      'a fee of a refund on its way',
      `INSERT INTO refunds SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'status', 'PENDING', 'provider_fee', 5))).*
       FROM refunds r WHERE id = $refund`,
      'refunds_provider_fee_check',
    ],
    [
      'a refund whose fee is in no entry',
      `INSERT INTO refunds SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'provider_fee', 5))).*
       FROM refunds r WHERE id = $refund`,
      'its fee of 5 is not in the journal',
    ],
    [
      'a fee of a return that has ended without',
      'UPDATE pix_returns SET provider_fee = 5 WHERE transaction_id = $late',
      'pix_returns_charged_once',
    ],
    [
      'a return whose fee is in no entry',
      `INSERT INTO pix_returns SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'return_id', 'again', 'provider_fee', 5))).*
       FROM pix_returns r WHERE transaction_id = $late`,
      'its fee of 5 is not in the journal',
    ],
    [
      'a schedule of fees from a day that is over',
      `INSERT INTO acquirer_fees VALUES ($new, 'PIX', '2020-01-01', 0, 0, 0, NULL, now())`,
      'acquirer_fees_valid_from_check',
    ],
    ['another schedule of fees in the place of one', 'UPDATE acquirer_fees SET bps = 1', 'permission denied'],
    ['schedules of fees that go', 'DELETE FROM acquirer_fees', 'permission denied'],
    [
      'a fee of an invoice in test mode',
      `INSERT INTO corrections SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', 'spec',
         'acquirer', 'pix-api', 'invoice_month', '2026-11'))).* FROM corrections c WHERE id = $correction`,
      'corrections_invoice_check',
    ],
    [
      'a correction that becomes part of an invoice',
      `UPDATE corrections SET acquirer = 'pix-api', invoice_month = '2026-11' WHERE id = $correction`,
      'corrections_fixed',
    ],
    ['a refund under another id', 'UPDATE refunds SET id = $new WHERE id = $refund', 'refunds_fixed'],
    [
      'a release of what nobody was credited with',
      `INSERT INTO releases (id, account_id, mode, currency, transaction_id, amount, release_at)
       SELECT $new, account_id, mode, currency, id, amount, now() FROM transactions WHERE id = $open`,
      'is not in the journal',
    ],
    [
      'a release on another day',
      'UPDATE releases SET release_at = now() WHERE transaction_id = $later',
      'releases_fixed',
    ],
    ['a release of more', 'UPDATE releases SET amount = amount + 1 WHERE transaction_id = $later', 'releases_fixed'],
    [
      'a reserve that becomes the rest',
      `UPDATE releases SET kind = 'sale' WHERE transaction_id = $reserved AND kind = 'reserve'`,
      'releases_fixed',
    ],
    [
      'a reserve beside a release of all that its sale was credited with',
      `INSERT INTO releases (id, account_id, mode, currency, transaction_id, kind, amount, release_at)
       SELECT $new, account_id, mode, currency, transaction_id, 'reserve', 1, release_at FROM releases WHERE transaction_id = $later`,
      'is not in the journal as charge.paid:',
    ],
    [
      'a second reserve of a sale',
      `INSERT INTO releases (id, account_id, mode, currency, transaction_id, kind, amount, release_at)
       SELECT $new, account_id, mode, currency, transaction_id, kind, amount, release_at FROM releases WHERE transaction_id = $reserved AND kind = 'reserve'`,
      'releases_transaction_id_kind_key',
    ],
    [
      'a release of another kind',
      `INSERT INTO releases (id, account_id, mode, currency, transaction_id, kind, amount, release_at)
       SELECT $new, account_id, mode, currency, transaction_id, 'other', amount, release_at FROM releases WHERE transaction_id = $later`,
      'releases_kind_check',
    ],
    [
      'a reserve that is released by the entry of the rest',
      `WITH r AS (UPDATE releases SET released_at = release_at WHERE transaction_id = $reserved AND kind = 'reserve' RETURNING *),
       ${RELEASED}`,
      'is not in the journal as release.reserve:',
    ],
    [
      'a release of which the wallet knows nothing',
      'UPDATE releases SET released_at = release_at WHERE transaction_id = $later',
      'is not in the journal',
    ],
    [
      'a release before its day',
      `WITH r AS (
         UPDATE releases SET released_at = release_at - interval '1 second' WHERE transaction_id = $later RETURNING *),
       ${RELEASED}`,
      'releases_released_at_check',
    ],
    [
      'a release that is taken back',
      'UPDATE releases SET released_at = NULL WHERE transaction_id = $released',
      'releases_final',
    ],
    [
      'a release that was made at another time',
      `UPDATE releases SET released_at = released_at + interval '1 day' WHERE transaction_id = $released`,
      'releases_final',
    ],
    ['another amount of a payout', 'UPDATE payouts SET amount = amount - 1 WHERE id = $payout', 'payouts_fixed'],
    [
      'another receiver of a payout',
      `UPDATE payouts SET target_hash = '\\x00' WHERE id = $payout`,
      'payouts_target_kept',
    ],
    [
      'a payout that fails after it was made, without its money',
      `UPDATE payouts SET status = 'FAILED' WHERE id = $payout`,
      'without the journal entry',
    ],
    [
      'a payout of which more came back than its returns say',
      'UPDATE payouts SET amount_returned = 200 WHERE id = $payout',
      'came back',
    ],
    [
      'a return of a payout that is not in the journal',
      `INSERT INTO payout_returns (payout_id, return_id, account_id, mode, amount, returned_at, created_at)
       VALUES ($payout, 'x', $account, 'test', 1, now(), now())`,
      'is not in the journal',
    ],
    [
      'a return of a payout that is changed',
      'UPDATE payout_returns SET amount = 1 WHERE payout_id = $payout',
      'permission denied',
    ],
    [
      'a payout that nothing was set aside for',
      `INSERT INTO payouts SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'status', 'QUEUED', 'paid_at', NULL, 'amount_returned', 0))).* FROM payouts p WHERE id = $payout`,
      'without the journal entry',
    ],
    [
      'a payout that needs an approval and is sent without one',
      `INSERT INTO payouts SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'status', 'QUEUED', 'needs_approval', true, 'paid_at', NULL, 'amount_returned', 0))).* FROM payouts p WHERE id = $payout`,
      'payouts_approved_by_two',
    ],
    ['another amount of a refund', 'UPDATE refunds SET amount = amount - 1 WHERE id = $refund', 'refunds_fixed'],
    [
      'a refund that fails after it was made',
      `UPDATE refunds SET status = 'FAILED' WHERE id = $refund`,
      'refunds_moves',
    ],
    [
      'refunds that the sale counts otherwise',
      'UPDATE transactions SET refunds_amount = refunds_amount + 1 WHERE id = $paid',
      'are not what it says',
    ],
    [
      'a cashout that the sale counts as a devolution',
      'UPDATE transactions SET cashouts_amount = 0 WHERE id = $refunded',
      'are not what it says',
    ],
    [
      'a refund that nothing was set aside for',
      `WITH made AS (INSERT INTO refunds SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'status', 'PENDING', 'way', 'devolution'))).* FROM refunds r WHERE id = $refund RETURNING *)
       UPDATE transactions t SET refunds_amount = refunds_amount + made.amount FROM made WHERE t.id = made.transaction_id`,
      'without the journal entry',
    ],
    [
      'a case that holds other than its sale says',
      'UPDATE med_cases SET held_amount = held_amount - 1 WHERE id = $case',
      'are not what it says',
    ],
    [
      'a case that holds more than it claims',
      'UPDATE med_cases SET held_amount = amount + 1 WHERE id = $case',
      'med_cases_held_check',
    ],
    [
      'a case that holds from its first row on what its sale does not say',
      `INSERT INTO med_cases SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'reference', 'spec', 'held_amount', 1))).*
       FROM med_cases c WHERE id = $case`,
      'are not what it says',
    ],
    [
      'a case that goes on and has lost',
      'UPDATE med_cases SET lost_amount = 1 WHERE id = $case',
      'med_cases_lost_check',
    ],
    ['a case of another sale', 'UPDATE med_cases SET transaction_id = $paid WHERE id = $case', 'med_cases_fixed'],
    ...[
      'balances',
      'transactions',
      'settlements',
      'refunds',
      'med_cases',
      'pix_returns',
      'releases',
      'corrections',
    ].flatMap((table): [string, string, string][] => [
      [`rows of ${table} that go`, `DELETE FROM ${table}`, 'permission denied'],
      [`${table} without their rules`, `ALTER TABLE ${table} DISABLE TRIGGER ALL`, 'must be owner'],
    ]),
  ])('a wrong change of money: %s', async (_, sql, refusal) => {
    await expect(client.query(written(sql))).rejects.toThrow(refusal);
  });

  it('entries that a check would miss because a table of the same name hides the real one', async () => {
    await client.query('BEGIN');
    try {
      await client.query('CREATE TEMPORARY TABLE journal_lines (LIKE public.journal_lines)');
      await client.query('CREATE TEMPORARY TABLE journal_entries (LIKE public.journal_entries)');
      const forged = `${LINE} SELECT id, l, account_id, mode, currency, 'available', 101 - l * 2 + 1, number, created_at, 0
        FROM public.journal_entries, unnest(ARRAY[50, 52]) l WHERE id = $entry`;
      await expect(
        client.query(written(forged.replace('INSERT INTO journal_lines', 'INSERT INTO public.journal_lines'))),
      ).rejects.toThrow('has its lines already');
    } finally {
      await client.query('ROLLBACK');
    }
    const checks = await service.sql<{ name: string; path: string | null }>(
      `SELECT DISTINCT p.proname AS name, p.proconfig::text AS path FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
       WHERE NOT t.tgisinternal`,
    );
    expect(checks.length).toBeGreaterThan(10);
    expect(checks.filter(({ path }) => path?.includes('search_path=public, pg_temp') !== true)).toEqual([]);
  });

  /**
   * Lists the moves between two statuses that the database allows. Tries each as the owner of the tables, and undoes
   * it.
   * @param set columns to set with the status `$2`
   */
  async function legalMoves(
    table: string,
    id: string,
    statuses: readonly string[],
    set = 'status = $2',
  ): Promise<string[]> {
    const owner = await service.database.pool.connect();
    const legal: string[] = [];
    try {
      for (const from of statuses) {
        for (const to of statuses.filter((other) => other !== from)) {
          await owner.query('BEGIN');
          // With the role of a replica, no trigger checks this preparation.
          await owner.query('SET LOCAL session_replication_role = replica');
          await owner.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [id, from]);
          await owner.query('SET LOCAL session_replication_role = origin');
          const moved = owner.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [id, to]);
          const refusal = await moved.then(
            () => '',
            (error: unknown) => String(error),
          );
          if (refusal === '') legal.push(`${from}>${to}`);
          else expect(refusal).toContain(`${table}_moves`);
          await owner.query('ROLLBACK');
        }
      }
    } finally {
      owner.release();
    }
    return legal.sort();
  }

  const pairs = (moves: readonly { readonly from: string | readonly string[]; readonly to: string }[]): string[] =>
    [...new Set(moves.flatMap(({ from, to }) => [from].flat().map((one) => `${one}>${to}`)))]
      .filter((pair) => !/^(\w+)>\1$/.test(pair))
      .sort();

  it('every move of a sale that its state machine does not have', async () => {
    expect(await legalMoves('transactions', ids['paid'] ?? '', TRANSACTION_STATUSES)).toEqual(
      pairs(Object.values(MOVES)),
    );
  });

  it('every move of a refund that its state machine does not have', async () => {
    expect(await legalMoves('refunds', ids['refund'] ?? '', REFUND_STATUSES)).toEqual(
      pairs(Object.values(REFUND_MOVES)),
    );
  });

  it('every move of a payout that its state machine does not have', async () => {
    // A payout that is PAID has the time of it.
    const set = 'status = $2, paid_at = created_at';
    expect(await legalMoves('payouts', ids['payout'] ?? '', PAYOUT_STATUSES, set)).toEqual(
      pairs(Object.values(PAYOUT_MOVES)),
    );
  });

  it('every move of a case that its state machine does not have', async () => {
    // The held and lost amounts of a case depend on its status.
    await service.simulate(merchant.testKey, ids['disputed'] ?? '', { event: 'med_withdraw' });
    expect(await legalMoves('med_cases', ids['case'] ?? '', MED_CASE_STATUSES)).toEqual(
      pairs(Object.values(MED_MOVES)),
    );
  });

  it.each([
    [
      'a payment',
      'settlements',
      () => ids['review'],
      ['credited', 'returned', 'review', 'unmatched', 'closed'],
      'outcome = $2',
      [
        ...['returned>closed', 'returned>credited', 'review>credited', 'review>returned'],
        ...['unmatched>closed', 'unmatched>credited', 'unmatched>returned'],
      ],
    ],
    [
      'a return',
      'pix_returns',
      () => ids['return'],
      RETURN_STATUSES,
      'status = $2',
      [
        ...['IN_PROGRESS>FAILED', 'IN_PROGRESS>RETURNED'],
        ...['PENDING>FAILED', 'PENDING>IN_PROGRESS', 'PENDING>RETURNED'],
      ],
    ],
    [
      'a correction',
      'corrections',
      () => ids['correction'],
      CORRECTION_STATUSES,
      `status = $2, decided_by = CASE WHEN $2 <> 'waiting' THEN requested_by END,
       decided_at = CASE WHEN $2 <> 'waiting' THEN created_at END`,
      ['waiting>applied', 'waiting>rejected'],
    ],
  ])('every illegal move of %s', async (_, table, id, statuses, set, legal) => {
    expect(await legalMoves(table, id() ?? '', statuses, set)).toEqual(legal);
  });
});
