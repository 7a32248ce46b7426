import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  ConfirmationService,
  type Dispute,
  InboxService,
  type ReceivedPix,
} from '../../../src/acquirers/index.js';
import { Database } from '../../../src/core/database/index.js';
import { RefundTransitions } from '../../../src/transactions/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { RefundProcessor } from '../../../src/transactions/refunds/refund.processor.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { FarBank } from '../../support/far-bank.js';
import {
  available,
  openRefunds,
  paymentIdOf,
  type RefundItem,
  type RefundOrError,
  refundsOf,
  requestRefund,
} from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';

interface Paid {
  readonly id: string;
  readonly pix: ReceivedPix;
}

/** Nothing runs by itself: the test takes each step of a refund, so that it can act in between. */
describe('refunds at a remote acquirer', () => {
  const service = TestService.forSpec({ env: { ROLE: 'api' } });
  let bank: FarBank;
  let merchant: Merchant;
  let key: string;

  beforeEach(async () => {
    bank = new FarBank();
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    merchant = await service.merchant();
    key = merchant.testKey;
  });
  afterEach(async () => {
    await expectLedgerCoherent(service.database.url);
    bank.blind = false;
    bank.returnFault = () => null;
    await finish();
    await expectLedgerCoherent(service.database.url);
    // Refund by refund, our records equal what the bank did.
    const rows = await service.sql<{ name: string; amount: number; status: string }>(
      `SELECT payment_reference || '/' || replace(id::text, '-', '') AS name, amount::int, status FROM refunds`,
    );
    for (const [name, { amount, refused }] of bank.returns) {
      const row = rows.find((candidate) => candidate.name === name);
      expect(row).toEqual({ name, amount, status: refused ? 'FAILED' : 'REFUNDED' });
    }
  });

  async function created(amount = 100): Promise<{ id: string; txid: string; amount: number }> {
    const { body } = await service.createCharge(key, { amount });
    return { id: paymentIdOf(body), txid: body.pix.txid ?? '', amount };
  }

  async function settle(pix: ReceivedPix): Promise<void> {
    const inbox = service.get(InboxService);
    const hint = { kind: 'pix', reference: pix.endToEndId } as const;
    await service
      .get(ConfirmationService)
      .confirm(await service.get(Database).transaction((tx) => inbox.store(tx, bank.name, hint)));
  }

  async function paid(amount = 100, changes: Partial<ReceivedPix> = {}): Promise<Paid> {
    const { id, txid } = await created(amount);
    const pix = bank.receive({ txid, amount }, { settledAt: service.clock.now(), ...changes });
    await settle(pix);
    return { id, pix };
  }

  /** Runs a worker once. */
  const step = (refundId: string): Promise<unknown> => service.get(WorkService).runNow('refund', refundId);

  async function finish(): Promise<void> {
    for (let round = 0; round < 20 && (await openRefunds(service)) > 0; round++) {
      const open = await service.sql<{ id: string }>(
        `SELECT id FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS') ORDER BY id`,
      );
      for (const { id } of open) await step(id);
    }
    expect(await openRefunds(service)).toBe(0);
  }

  async function accepted(id: string, body: Record<string, unknown> = {}): Promise<string> {
    const answer = await requestRefund(service, key, id, body);
    expect(answer.status).toBe(201);
    return answer.body.id;
  }

  async function refund(id: string, refundId: string): Promise<RefundItem> {
    const found = (await refundsOf(service, key, id)).find((candidate) => candidate.id === refundId);
    if (!found) throw new Error(`no refund ${refundId}`);
    return found;
  }

  async function tell(reference: string): Promise<void> {
    const inbox = service.get(InboxService);
    const hint = { kind: 'dispute', reference } as const;
    await service
      .get(ConfirmationService)
      .confirm(await service.get(Database).transaction((tx) => inbox.store(tx, bank.name, hint)));
  }

  /** The payer opens a MED. */
  async function disputed(pix: ReceivedPix): Promise<Dispute> {
    const dispute = bank.dispute(pix);
    await tell(dispute.reference);
    return dispute;
  }

  async function won(dispute: Dispute): Promise<void> {
    await tell(bank.rule(dispute, 'disagreed').reference);
  }

  const codeOf = ({ status, body }: Answer<RefundOrError>): string => `${status} ${body.error?.code ?? body.status}`;

  it('are PENDING until the acquirer is called, then IN_PROGRESS, then what the acquirer says', async () => {
    const { id } = await paid();
    const refundId = await accepted(id);
    expect((await refund(id, refundId)).status).toBe('PENDING');
    expect(bank.requests.size).toBe(0);
    await step(refundId);
    expect((await refund(id, refundId)).status).toBe('IN_PROGRESS');
    await step(refundId);
    expect((await refund(id, refundId)).status).toBe('REFUNDED');
    await step(refundId);
    expect([...bank.requests.values()]).toEqual([1]);
  });

  describe('when they come at once', () => {
    it('one of two refunds of 60 on 100 is accepted', async () => {
      for (let round = 1; round <= 10; round++) {
        const { id } = await paid();
        const answers = await Promise.all([60, 60].map((amount) => requestRefund(service, key, id, { amount })));
        expect(answers.map(codeOf).sort()).toEqual(['201 PENDING', '400 refund_amount_exceeds_remaining']);
        expect(await available(service, key)).toBe(40 * round);
      }
    });

    it('ten of thirty refunds of 10 on 100 are accepted', async () => {
      const { id } = await paid();
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => requestRefund(service, key, id, { amount: 10 })),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
      await finish();
      expect((await service.getCharge(key, id)).body.status).toBe('refunded');
      expect(await available(service, key)).toBe(0);
    });

    it('one of two whole refunds is accepted when the balance is enough for one', async () => {
      const poor = await service.merchant({ fee_bps: '5000' });
      key = poor.testKey;
      const payments = [await paid(), await paid()];
      expect(await available(service, key)).toBe(100);
      const answers = await Promise.all(payments.map(({ id }) => requestRefund(service, key, id)));
      expect(answers.map(codeOf).sort()).toEqual(['201 PENDING', '422 insufficient_balance']);
      expect(await available(service, key)).toBe(0);
    });

    it('many workers on one refund have one effect', async () => {
      const { id } = await paid();
      const refundId = await accepted(id);
      for (let round = 0; round < 3; round++) {
        const refunds = service.get(RefundProcessor);
        const work = { subjectId: refundId, attempt: round + 1, prolong: async () => undefined };
        await Promise.all(Array.from({ length: 20 }, () => refunds.run(work)));
      }
      expect((await refund(id, refundId)).status).toBe('REFUNDED');
      expect(bank.returns.size).toBe(1);
    });

    it('refunds during the payment are refused before the money is there', async () => {
      for (let round = 0; round < 10; round++) {
        const charge = await created();
        const pix = bank.receive(charge, { settledAt: service.clock.now() });
        const [, ...answers] = await Promise.all([
          settle(pix),
          ...Array.from({ length: 4 }, () => requestRefund(service, key, charge.id, { amount: 30 })),
        ]);
        const known = ['201 PENDING', '400 payment_not_refundable', '400 refund_amount_exceeds_remaining'];
        for (const answer of answers) expect(known).toContain(codeOf(answer));
        expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(3);
      }
    });

    it('refunds, a cancellation and the payment end cancelled and returned, or paid and refunded', async () => {
      const ends = new Set<string>();
      for (let round = 0; round < 12; round++) {
        const charge = await created();
        const pix = bank.receive(charge, { settledAt: service.clock.now() });
        const cancel = (): Promise<Answer> => service.call('POST', `/v1/payments/${charge.id}/cancel`, { key });
        const [, cancelled, refunded] = await Promise.all(
          round % 2 === 0
            ? [settle(pix), cancel(), requestRefund(service, key, charge.id)]
            : [cancel().then(() => settle(pix)), cancel(), requestRefund(service, key, charge.id)],
        );
        const { status } = (await service.getCharge(key, charge.id)).body;
        expect(cancelled.status).toBe(status === 'cancelled' ? 200 : 400);
        if (status === 'cancelled') expect(codeOf(refunded)).toBe('400 payment_not_refundable');
        ends.add(status);
      }
      expect([...ends].every((status) => status === 'cancelled' || status === 'paid')).toBe(true);
    });
  });

  describe('when an answer is lost', () => {
    it('a refund that took effect is queried in growing pauses, and the money goes back once', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id);
      bank.returnFault = () => 'lost after';
      bank.blind = true;
      service.clock.stand();
      const pauses: number[] = [];
      for (let attempt = 0; attempt < 6; attempt++) {
        await step(refundId);
        expect(await refund(id, refundId)).toMatchObject({ status: 'IN_PROGRESS', endToEndId: null });
        const [row] = await service.sql<{ due_at: Date }>(
          `SELECT due_at FROM work WHERE kind = 'refund' AND subject_id = $1`,
          [refundId],
        );
        pauses.push(((row?.due_at.getTime() ?? 0) - service.clock.now().getTime()) / 1_000);
      }
      service.clock.go();
      expect(pauses).toEqual([0.5, 1, 2, 4, 8, 16]);
      // The money is neither given back on a guess nor gone.
      expect(await available(service, key)).toBe(0);
      bank.blind = false;
      await step(refundId);
      expect((await refund(id, refundId)).status).toBe('REFUNDED');
      expect(bank.returnsOf(pix.endToEndId)).toMatchObject([{ amount: 100 }]);
      expect([...bank.requests.values()]).toEqual([1]);
    });

    it('a refund without effect is made again under the same id', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id);
      bank.returnFault = () => 'lost before';
      await step(refundId);
      bank.returnFault = () => null;
      await step(refundId);
      await step(refundId);
      expect((await refund(id, refundId)).status).toBe('REFUNDED');
      expect(bank.returnsOf(pix.endToEndId)).toMatchObject([{ returnId: refundId.replaceAll('-', ''), amount: 100 }]);
      expect([...bank.requests.values()]).toEqual([2]);
    });

    it('a refused refund gets the refusal later, and its money comes back', async () => {
      const { id } = await paid();
      const refundId = await accepted(id);
      bank.returnFault = () => 'refused unheard';
      await step(refundId);
      expect(await available(service, key)).toBe(0);
      await step(refundId);
      expect(await refund(id, refundId)).toMatchObject({ status: 'FAILED', failureReason: 'refused' });
      expect(await available(service, key)).toBe(100);
    });

    it('a refund whose process died before it recorded the answer is continued by the next process', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id);
      const moves = service.get(RefundTransitions);
      const record = moves.record.bind(moves);
      moves.record = () => Promise.reject(new Error('killed'));
      await step(refundId);
      await step(refundId);
      moves.record = record;
      const work = await service.sql('SELECT attempts, last_error FROM work WHERE subject_id = $1', [refundId]);
      expect(work).toEqual([{ attempts: 2, last_error: 'killed' }]);
      expect(bank.returnsOf(pix.endToEndId)).toHaveLength(1);
      expect((await refund(id, refundId)).status).toBe('IN_PROGRESS');
      await step(refundId);
      expect((await refund(id, refundId)).status).toBe('REFUNDED');
      expect([...bank.requests.values()]).toEqual([1]);
    });
  });

  describe('beside disputes', () => {
    it('a disputed payment is not refunded, and can be refunded again once the dispute is won', async () => {
      const { id, pix } = await paid();
      const dispute = await disputed(pix);
      expect(codeOf(await requestRefund(service, key, id))).toBe('400 charge_disputed');
      await won(dispute);
      await accepted(id);
    });

    it('a refund that the acquirer has not received is stopped and given back', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id);
      await disputed(pix);
      await step(refundId);
      expect(await refund(id, refundId)).toMatchObject({ status: 'FAILED', failureReason: 'charge_disputed' });
      expect(bank.requests.size).toBe(0);
      // The dispute now holds the money of the refund.
      expect(await available(service, key)).toBe(0);
    });

    it('a refund whose call was lost is not sent again before the dispute is ruled', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id);
      bank.returnFault = () => 'lost before';
      await step(refundId);
      bank.returnFault = () => null;
      const dispute = await disputed(pix);
      const calls = [...bank.requests.values()];
      await step(refundId);
      await step(refundId);
      expect([...bank.requests.values()]).toEqual(calls);
      expect((await refund(id, refundId)).status).toBe('IN_PROGRESS');
      await won(dispute);
      await step(refundId);
      expect(bank.returns.size).toBe(1);
      await step(refundId);
      expect((await refund(id, refundId)).status).toBe('REFUNDED');
    });

    it('a partial refund whose call was lost is sent again when the dispute takes the rest', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id, { amount: 40, strategy: 'devolution' });
      bank.returnFault = () => 'lost before';
      await step(refundId);
      bank.returnFault = () => null;
      const dispute = await disputed(pix);
      await step(refundId);
      expect(bank.returns.size).toBe(0);
      await tell(bank.rule(dispute, 'agreed').reference);
      expect((await service.getCharge(key, id)).body.status).toBe('disputed');
      await step(refundId);
      await step(refundId);
      expect(await refund(id, refundId)).toMatchObject({ status: 'REFUNDED', amount: 40 });
      expect(await available(service, key)).toBe(0);
    });

    it('a cashout whose call was lost is not sent once the dispute has taken the payment, and fails', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id, { amount: 40 });
      bank.returnFault = () => 'lost before';
      await step(refundId);
      bank.returnFault = () => null;
      await tell(bank.rule(await disputed(pix), 'agreed').reference);
      expect(await available(service, key)).toBe(-40);
      const calls = bank.requests.size;
      for (let attempt = 0; attempt < 12; attempt++) await step(refundId);
      // The first call may still be on its way.
      expect(await refund(id, refundId)).toMatchObject({ status: 'IN_PROGRESS' });
      service.clock.advance(600);
      await step(refundId);
      expect(await refund(id, refundId)).toMatchObject({ status: 'FAILED', failureReason: 'amount_exceeded' });
      expect([bank.requests.size, bank.returns.size]).toEqual([calls, 0]);
      expect(await available(service, key)).toBe(0);
    });

    it('an unsent cashout is not sent once the dispute has taken the payment', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id, { amount: 40 });
      await tell(bank.rule(await disputed(pix), 'agreed').reference);
      await step(refundId);
      expect(await refund(id, refundId)).toMatchObject({ status: 'FAILED', failureReason: 'charge_disputed' });
      expect(bank.requests.size).toBe(0);
      expect(await available(service, key)).toBe(0);
    });

    it('a refund on its way arrives; the payment is REFUNDED when the dispute is won', async () => {
      const { id, pix } = await paid();
      const refundId = await accepted(id);
      await step(refundId);
      const dispute = await disputed(pix);
      await step(refundId);
      expect((await refund(id, refundId)).status).toBe('REFUNDED');
      expect((await service.getCharge(key, id)).body.status).toBe('disputed');
      await won(dispute);
      expect((await service.getCharge(key, id)).body.status).toBe('refunded');
    });
  });

  it('a cashout goes to the payer or to the key, and the destination is stored nowhere in clear', async () => {
    const { id } = await paid(400, { payerDocument: '11144477735' });
    const random = randomUUID();
    const keys = ['+55 (21) 91234-5678', 'Some.Body@Example.com', random.toUpperCase()];
    for (const destinationKey of [undefined, ...keys]) await accepted(id, { amount: 100, destinationKey });
    await finish();
    expect([...bank.returns.values()].map(({ way, destination }) => [way, destination])).toEqual([
      ['cashout', '11144477735'],
      ['cashout', '+5521912345678'],
      ['cashout', 'some.body@example.com'],
      ['cashout', random],
    ]);
    const tables = await service.sql<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    for (const { name } of tables) {
      const secrets = `11144477735|912345678|some\\.body@example|${random}`;
      const hits = await service.sql(`SELECT 1 FROM "${name}" t WHERE t::text ~* $1`, [secrets]);
      expect({ table: name, hits: hits.length }).toEqual({ table: name, hits: 0 });
    }
  });

  it('are refused when the acquirer does not offer them', async () => {
    const { id } = await paid();
    bank.capabilities = { ...bank.capabilities, refunds: {} };
    expect(codeOf(await requestRefund(service, key, id))).toBe('422 REFUND_NOT_SUPPORTED');
    bank.capabilities = { ...bank.capabilities, refunds: { PIX: ['devolution'] } };
    for (const body of [{ strategy: 'cashout' }, { destinationKey: 'maria@example.com' }]) {
      expect(codeOf(await requestRefund(service, key, id, body))).toBe('422 REFUND_STRATEGY_NOT_SUPPORTED');
    }
    expect(await available(service, key)).toBe(100);
    const refundId = await accepted(id);
    await finish();
    expect((await refund(id, refundId)).strategy).toBe('devolution');
    expect([...bank.returns.values()]).toMatchObject([{ way: 'devolution', destination: null }]);
  });
});
