import { randomUUID } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import {
  AcquirersService,
  ConfirmationService,
  type Dispute,
  InboxService,
  type ReceivedPix,
} from '../../src/acquirers/index.js';
import { Database } from '../../src/core/database/index.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { FarBank, type ReturnFault } from '../support/far-bank.js';
import { available, openRefunds, paymentIdOf, type RefundOrError, requestRefund } from '../support/refunds.js';
import { trial } from '../support/scale.js';
import { type Answer, type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';
import { Random } from '../../tools/harness/random.js';

jest.setTimeout(600_000);

const ROUNDS = trial(25, 8);
const WORKERS = 20;
const TRANSACTIONS = 50;
/** Steps of one worker's sequence; after each of them, when all workers have taken theirs, everything is checked. */
const STEPS = 5;

/** How a request for a refund may be answered; anything else is a failure. */
const REFUND_ANSWERS = [
  '201 PENDING',
  '400 payment_not_refundable',
  '400 charge_disputed',
  '400 refund_amount_exceeds_remaining',
  '422 insufficient_balance',
];

interface Payment {
  readonly merchant: Merchant;
  readonly id: string;
  readonly txid: string;
  readonly amount: number;
  pix: ReceivedPix | null;
  /** As the bank has them. */
  readonly disputes: Dispute[];
}

/** Everything that can happen to payments, drawn by a seed, against a bank that loses answers and refuses returns. */
class Turmoil {
  readonly bank = new FarBank();
  readonly accepted = new Set<string>();
  readonly answers = new Map<string, number>();
  sequences = 0;
  readonly #random: Random;

  constructor(
    private readonly service: TestService,
    private readonly merchants: readonly Merchant[],
    seed: number,
  ) {
    this.#random = new Random(seed);
    const faults: (ReturnFault | null)[] = ['lost before', 'lost after', 'lost after', 'refused', 'refused unheard'];
    this.bank.returnFault = () => (this.#random.between(1, 2) === 1 ? this.#pick(faults) : null);
    this.bank.blind = () => this.#random.between(1, 4) === 1;
    service.get(AcquirersService).register(this.bank, { servesTestMode: true });
  }

  async round(merchant: Merchant): Promise<void> {
    const payments = await Promise.all(Array.from({ length: TRANSACTIONS }, () => this.#create(merchant)));
    for (let step = 0; step < STEPS; step++) {
      await Promise.all(Array.from({ length: WORKERS }, () => this.#step(this.#pick(payments))));
      await expectLedgerCoherent(this.service.database.url);
      // Due questions are asked in the middle of the next step.
      this.service.clock.advance(3);
    }
    this.sequences += WORKERS;
  }

  /** The bank answers again, disputes are ruled, and everything open comes to its end. */
  async calm(): Promise<void> {
    this.bank.returnFault = () => null;
    this.bank.blind = false;
    // A refund whose call may have been lost before its payment was disputed waits for the ruling.
    for (const dispute of this.bank.disputes.values()) {
      if (dispute.closedAt === null) await this.#tell('dispute', this.bank.rule(dispute, 'disagreed').reference);
    }
    await waitFor(
      'everything to come to its end',
      async () => {
        this.service.clock.advance(3_600);
        const [row] = await this.service.sql<{ open: number }>(
          `SELECT ((SELECT count(*) FROM pix_returns WHERE status IN ('PENDING', 'IN_PROGRESS'))
                 + (SELECT count(*) FROM acquirer_notifications WHERE status = 'pending'))::int AS open`,
        );
        return row?.open === 0 && (await openRefunds(this.service)) === 0;
      },
      60_000,
    );
  }

  async #create(merchant: Merchant): Promise<Payment> {
    const { body } = await this.service.createCharge(merchant.testKey, { amount: this.#random.between(1, 200) });
    const { amount } = body;
    const payment: Payment = {
      merchant,
      id: paymentIdOf(body),
      txid: body.pix.txid ?? '',
      amount,
      pix: null,
      disputes: [],
    };
    if (this.#random.between(1, 2) === 1) await this.#pay(payment);
    return payment;
  }

  async #step(payment: Payment): Promise<void> {
    const draw = this.#random.between(1, 100);
    if (draw <= 30) return this.#pay(payment);
    if (draw <= 76) return this.#refund(payment);
    if (draw <= 84) return this.#cancel(payment);
    if (draw <= 90) return this.#dispute(payment);
    if (draw <= 96) return this.#rule(payment);
    return this.#trespass(payment);
  }

  /** Mostly as it should be; sometimes a second Pix, or one of another amount. */
  async #pay(payment: Payment): Promise<void> {
    const settledAt = this.service.clock.now();
    const amount = this.#random.between(1, 10) === 1 ? payment.amount + 1 : payment.amount;
    const again = payment.pix !== null && this.#random.between(1, 3) > 1;
    const pix = again && payment.pix ? payment.pix : this.bank.receive({ txid: payment.txid, amount }, { settledAt });
    payment.pix ??= pix;
    await this.#twice(() => this.#tell('pix', pix.endToEndId));
  }

  async #tell(kind: 'pix' | 'dispute', reference: string): Promise<void> {
    const inbox = this.service.get(InboxService);
    const store = this.service.get(Database).transaction((tx) => inbox.store(tx, this.bank.name, { kind, reference }));
    await this.service.get(ConfirmationService).confirm(await store);
  }

  async #refund({ merchant, id, amount }: Payment): Promise<void> {
    const part = this.#random.between(1, Math.ceil(amount * 1.2));
    const body = {
      idempotencyKey: `stress-${randomUUID()}`,
      ...(this.#random.between(1, 4) === 1 ? {} : { amount: part }),
      ...(this.#random.between(1, 3) === 1 ? { strategy: this.#pick(['cashout', 'devolution']) } : {}),
      ...(this.#random.between(1, 3) === 1 ? { passFeeToTenant: true } : {}),
    };
    const send = (): Promise<Answer<RefundOrError>> => requestRefund(this.service, merchant.testKey, id, body);
    const twins = await this.#twice(() => insist(send));
    for (const answer of twins) {
      const code = codeOf(answer);
      expect(REFUND_ANSWERS).toContain(code);
      this.answers.set(code, (this.answers.get(code) ?? 0) + 1);
      if (answer.status === 201) this.accepted.add(answer.body.id);
    }
    const ids = new Set(twins.filter(({ status }) => status === 201).map(({ text }) => text));
    expect(ids.size).toBeLessThanOrEqual(1);
  }

  async #cancel({ merchant, id }: Payment): Promise<void> {
    const path = `/v1/payments/${id}/cancel`;
    const send = (): Promise<Answer<RefundOrError>> => this.service.call('POST', path, { key: merchant.testKey });
    const twins = await this.#twice(() => insist(send));
    for (const answer of twins) {
      expect(['200 CANCELLED', '400 payment_not_cancellable']).toContain(codeOf(answer));
      this.answers.set(`cancel ${codeOf(answer)}`, (this.answers.get(`cancel ${codeOf(answer)}`) ?? 0) + 1);
    }
  }

  /** A MED, now and then a second one, and sometimes of another amount: that one waits for an operator. */
  async #dispute({ pix, disputes }: Payment): Promise<void> {
    if (pix === null || disputes.length === 2) return;
    const dispute = this.bank.dispute(pix, this.#random.between(1, 10) === 1 ? { amount: pix.amount + 1 } : {});
    disputes.push(dispute);
    await this.#twice(() => this.#tell('dispute', dispute.reference));
  }

  /** Mostly for the merchant, so that the story goes on. */
  async #rule({ disputes }: Payment): Promise<void> {
    const index = disputes.findIndex(({ closedAt }) => closedAt === null);
    const open = disputes[index];
    if (!open) return;
    const ruled = this.bank.rule(open, this.#pick(['disagreed', 'disagreed', null, 'agreed']));
    disputes[index] = ruled;
    await this.#twice(() => this.#tell('dispute', ruled.reference));
  }

  async #trespass({ merchant, id }: Payment): Promise<void> {
    const strangers = this.merchants.filter((other) => other !== merchant).map(({ testKey }) => testKey);
    const key = this.#pick([...strangers, merchant.liveKey]);
    const twins = await this.#twice(() => requestRefund(this.service, key, id, { amount: 1 }));
    expect(twins.map(codeOf)).toEqual(['404 not_found', '404 not_found']);
  }

  #twice<T>(send: () => Promise<T>): Promise<T[]> {
    return Promise.all([send(), send()]);
  }

  #pick<T>(from: readonly T[]): T {
    const found = from[this.#random.between(0, from.length - 1)];
    if (found === undefined) throw new Error('nothing to pick');
    return found;
  }
}

/** Repeats what was answered with "not now", as a client does: a machine under load makes twins wait too long. */
async function insist(send: () => Promise<Answer<RefundOrError>>): Promise<Answer<RefundOrError>> {
  return waitFor(
    'an answer',
    async () => {
      const answer = await send();
      const isBusy = answer.status === 503 || answer.body.error?.code === 'idempotency_key_in_use';
      return isBusy ? null : answer;
    },
    60_000,
  );
}

function codeOf({ status, body }: Answer<RefundOrError>): string {
  return `${status} ${body.error?.code ?? body.status}`;
}

describe('refunds in turmoil', () => {
  const service = TestService.forSpec();

  it(`stay coherent in ${ROUNDS * WORKERS} sequences by ${WORKERS} workers on ${TRANSACTIONS} payments at a time, every request sent twice`, async () => {
    const { seed } = Random.seeded();
    // A merchant with such fees often cannot refund a payment.
    const rich = await service.merchant({ fee_bps: '150', pix_out_fee: '3' });
    const poor = await service.merchant({ fee_bps: '9000' });
    const turmoil = new Turmoil(service, [rich, poor], seed);
    const started = performance.now();
    try {
      for (let round = 0; round < ROUNDS; round++) await turmoil.round(round % 4 === 3 ? poor : rich);
      await turmoil.calm();
      await expectLedgerCoherent(service.database.url);
      await check(turmoil, [rich, poor]);
    } catch (error) {
      throw new Error(`STRESS_SEED=${seed}, after ${turmoil.sequences} sequences`, { cause: error });
    }
    const seconds = Math.round((performance.now() - started) / 1000);
    const answers = [...turmoil.answers].map(([code, count]) => `${count} × ${code}`).join(', ');
    process.stderr.write(`STRESS_SEED=${seed}: ${turmoil.sequences} sequences in ${seconds} s; ${answers}\n`);
  });

  /** Compares the service with facts that only the bank and the clients know. */
  async function check(turmoil: Turmoil, merchants: readonly Merchant[]): Promise<void> {
    const refunds = await service.sql<{ id: string; name: string; amount: number; status: string }>(
      `SELECT id, payment_reference || '/' || replace(id::text, '-', '') AS name, amount::int, status FROM refunds`,
    );
    // Each refund confirmed to a client exists, and no other.
    expect(refunds.map(({ id }) => id).sort()).toEqual([...turmoil.accepted].sort());
    // The bank has paid each that is REFUNDED, once, and no other: its books are kept by name.
    const returned = await service.sql<{ name: string; amount: number; status: string }>(
      `SELECT end_to_end_id || '/' || return_id AS name, amount::int, status FROM pix_returns`,
    );
    const paid = [
      ...refunds.filter(({ status }) => status === 'REFUNDED'),
      ...returned.filter(({ status }) => status === 'RETURNED'),
    ];
    const booked = [...turmoil.bank.returns].filter(([, { refused }]) => !refused);
    expect(booked.map(([name, { amount }]) => `${name} ${amount}`).sort()).toEqual(
      paid.map(({ name, amount }) => `${name} ${amount}`).sort(),
    );
    // No payer has more back than was paid, and the merchant has what came in less what went out.
    for (const pix of turmoil.bank.pix.values()) {
      const back = turmoil.bank.returnsOf(pix.endToEndId).reduce((sum, { amount }) => sum + amount, 0);
      expect(back).toBeLessThanOrEqual(pix.amount);
    }
    for (const { accountId, testKey } of merchants) {
      const [sums] = await service.sql<{ balance: number }>(
        `SELECT ((SELECT coalesce(sum(net_amount), 0) FROM transactions WHERE account_id = $1 AND paid_at IS NOT NULL)
               - (SELECT coalesce(sum(amount + fee), 0) FROM refunds WHERE account_id = $1 AND status = 'REFUNDED')
               - (SELECT coalesce(sum(held_amount + lost_amount), 0) FROM med_cases WHERE account_id = $1))::int AS balance`,
        [accountId],
      );
      expect(await available(service, testKey)).toBe(sums?.balance);
    }
    // Each case is as the bank has its dispute.
    const cases = await service.sql<{ reference: string; bank_status: string; ended: boolean; visible: boolean }>(
      `SELECT reference, bank_status, money_outcome IS NOT NULL AS ended, visible FROM med_cases`,
    );
    expect(cases.length).toBe(turmoil.bank.disputes.size);
    for (const { reference, bank_status, ended, visible } of cases) {
      const dispute = turmoil.bank.disputes.get(reference);
      expect({ reference, bank_status, ended }).toEqual({
        reference,
        bank_status: dispute?.status,
        ended: visible && dispute?.closedAt !== null,
      });
    }
    // The test proves something only if every kind of answer occurred.
    for (const code of REFUND_ANSWERS)
      expect({ code, given: turmoil.answers.has(code) }).toEqual({ code, given: true });
    expect(refunds.filter(({ status }) => status === 'FAILED').length).toBeGreaterThan(ROUNDS);
    expect(refunds.filter(({ status }) => status === 'REFUNDED').length).toBeGreaterThan(4 * ROUNDS);
  }
});
