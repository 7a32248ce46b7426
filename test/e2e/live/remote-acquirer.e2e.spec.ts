import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WorkService } from '../../../src/core/work/index.js';
import {
  AcquirersService,
  ConfirmationService,
  InboxService,
  type PixChargeRequest,
} from '../../../src/acquirers/index.js';
import { newEndToEndId } from '../../../src/brazil/index.js';
import { Database } from '../../../src/core/database/index.js';
import { PixIssueService } from '../../../src/transactions/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { FarBank } from '../../support/far-bank.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('a remote acquirer', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  const bank = new FarBank();

  beforeAll(async () => {
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    merchant = await service.merchant();
  });
  afterEach(async () => {
    bank.faults = [];
    bank.returnFault = () => null;
    bank.blind = false;
    await expectLedgerCoherent(service.database.url);
  });

  function statusOf(key: string): Promise<{ status: string }[]> {
    return service.sql(
      `SELECT t.status FROM transactions t JOIN idempotency_keys k ON k.resource_id = t.id WHERE k.key = $1`,
      [key],
    );
  }

  it('creates a charge with an intent, one call, an outcome and one event', async () => {
    const key = randomUUID();
    const created = await service.createCharge(merchant.testKey, {}, key);
    expect(created.status).toBe(201);
    expect(created.body.pix.br_code).toContain('pix.far.example');
    expect(await service.createCharge(merchant.testKey, {}, key)).toMatchObject({ text: created.text });
    const events = await service.sql('SELECT type FROM events WHERE subject_id = $1', [created.body.id.slice(3)]);
    expect(events).toEqual([{ type: 'transaction.created' }]);
  });

  it('is queried at once when an answer was lost', async () => {
    bank.faults = ['lost after'];
    expect((await service.createCharge(merchant.testKey)).status).toBe(201);
  });

  it('leaves a charge with an unknown outcome in flight; a repeated request goes on with the same txid', async () => {
    const key = randomUUID();
    bank.faults = ['lost after'];
    bank.blind = true;
    const unknown = await service.createCharge<{ error: object }>(merchant.testKey, {}, key);
    expect(unknown.status).toBe(503);
    expect(unknown.body.error).toMatchObject({ type: 'provider_error', code: 'provider_unavailable' });
    expect(unknown.headers.get('retry-after')).not.toBeNull();
    expect(await statusOf(key)).toEqual([{ status: 'PENDING' }]);
    const known = bank.charges.size;
    bank.blind = false;
    const repeated = await service.createCharge(merchant.testKey, {}, key);
    expect(repeated.status).toBe(201);
    expect(bank.charges.size).toBe(known);
    expect(await statusOf(key)).toEqual([{ status: 'WAITING_PAYMENT' }]);
  });

  it('is queried by the sweeper about charges that nobody requests again', async () => {
    const [there, lost] = [randomUUID(), randomUUID()];
    bank.faults = ['lost after', 'lost before'];
    bank.blind = true;
    await service.createCharge(merchant.testKey, {}, there);
    await service.createCharge(merchant.testKey, {}, lost);
    bank.blind = false;
    await service.get(PixIssueService).resolveUnknown(0);
    expect(await statusOf(there)).toEqual([{ status: 'WAITING_PAYMENT' }]);
    expect(await statusOf(lost)).toEqual([{ status: 'REFUSED' }]);
    const repeated = await service.createCharge(merchant.testKey, {}, there);
    expect([repeated.status, repeated.body.status]).toEqual([201, 'pending']);
  });

  it('is queried about one charge at a time by the sweeper when it hangs, each in its turn', async () => {
    const keys = [randomUUID(), randomUUID()];
    bank.faults = ['lost before', 'lost before'];
    bank.blind = true;
    for (const key of keys) await service.createCharge(merchant.testKey, {}, key);
    const question = jest.spyOn(bank, 'getPixCharge');
    for (let sweep = 1; sweep <= 2; sweep++) {
      service.clock.advance(1);
      await service.get(PixIssueService).resolveUnknown(0);
      expect(new Set(question.mock.calls.map(([txid]) => txid)).size).toBe(sweep);
      expect(question).toHaveBeenCalledTimes(sweep);
    }
    question.mockRestore();
    bank.blind = false;
    service.clock.advance(1);
    await service.get(PixIssueService).resolveUnknown(0);
    expect((await Promise.all(keys.map(statusOf))).flat()).toEqual([{ status: 'REFUSED' }, { status: 'REFUSED' }]);
  });

  it.each([
    ['refused', 422, 'charge_refused'],
    ['unavailable', 503, 'provider_unavailable'],
  ] as const)(
    'with the fault %s gives %i, leaks nothing of the bank, and frees the key for another try',
    async (fault, status, code) => {
      const key = randomUUID();
      bank.faults = [fault];
      const refused = await service.createCharge<{ error: { code: string } }>(merchant.testKey, {}, key);
      expect(refused.status).toBe(status);
      expect(refused.body.error.code).toBe(code);
      expect(refused.text).not.toContain('secret words');
      expect((await service.createCharge(merchant.testKey, { amount: 5 }, key)).status).toBe(201);
    },
  );

  it('is not asked to create a charge again before the bank denies knowing it', async () => {
    const key = randomUUID();
    const before = bank.charges.size;
    bank.faults = ['lost after', 'refused'];
    bank.blind = true;
    expect((await service.createCharge(merchant.testKey, {}, key)).status).toBe(503);
    expect((await service.createCharge(merchant.testKey, {}, key)).status).toBe(503);
    // No second request was sent: it would have shortened the time to pay the existing charge.
    expect(bank.faults).toEqual(['refused']);
    expect(await statusOf(key)).toEqual([{ status: 'PENDING' }]);
    bank.blind = false;
    expect((await service.createCharge(merchant.testKey, {}, key)).status).toBe(201);
    expect(bank.charges.size).toBe(before + 1);
  });

  it('is not asked to create an expired charge, and the same key makes a new one', async () => {
    const key = randomUUID();
    bank.faults = ['lost before'];
    expect((await service.createCharge(merchant.testKey, { expires_in: 60 }, key)).status).toBe(503);
    const [pending] = await service.sql<{ id: string; txid: string }>(
      `SELECT id, txid FROM transactions WHERE status = 'PENDING'`,
    );
    service.clock.advance(61);
    const repeated = await service.createCharge(merchant.testKey, { expires_in: 60 }, key);
    expect([repeated.status, repeated.body.status]).toEqual([201, 'pending']);
    expect(repeated.body.pix.txid).not.toBe(pending?.txid);
    expect(bank.charges.has(pending?.txid ?? '')).toBe(false);
    expect(await service.sql('SELECT status FROM transactions WHERE id = $1', [pending?.id])).toEqual([
      { status: 'REFUSED' },
    ]);
  });

  it.each(['unavailable', 'lost after'] as const)(
    'has one charge under the key when the sweeper finds it while a repetition gets "%s"',
    async (fault) => {
      const key = randomUUID();
      bank.faults = ['lost before', fault];
      expect((await service.createCharge(merchant.testKey, {}, key)).status).toBe(503);
      const [pending] = await service.sql<{ txid: string }>(`SELECT txid FROM transactions WHERE status = 'PENDING'`);
      const before = bank.charges.size;
      bank.meanwhile = async () => {
        // The delayed first request has now reached the bank.
        bank.charges.set(pending?.txid ?? '', {} as PixChargeRequest);
        await service.get(PixIssueService).resolveUnknown(-60_000);
      };
      const repeated = await service.createCharge(merchant.testKey, {}, key);
      const again = await service.createCharge(merchant.testKey, {}, key);
      expect([repeated.status, again.status]).toEqual([201, 201]);
      expect(again.body.id).toBe(repeated.body.id);
      expect(again.body.pix.txid).toBe(pending?.txid);
      expect(bank.charges.size).toBe(before + 1);
    },
  );

  it('has one charge when a second creation is refused because the first has just arrived', async () => {
    const key = randomUUID();
    bank.faults = ['lost before', 'refused'];
    expect((await service.createCharge(merchant.testKey, {}, key)).status).toBe(503);
    const [pending] = await service.sql<{ txid: string }>(`SELECT txid FROM transactions WHERE status = 'PENDING'`);
    bank.meanwhile = async () => void bank.charges.set(pending?.txid ?? '', {} as PixChargeRequest);
    const repeated = await service.createCharge(merchant.testKey, {}, key);
    expect([repeated.status, repeated.body.pix.txid]).toEqual([201, pending?.txid]);
    expect(await statusOf(key)).toEqual([{ status: 'WAITING_PAYMENT' }]);
  });

  it('completes a charge that is paid while its creation is unknown: created, then paid, with its code', async () => {
    const key = randomUUID();
    bank.faults = ['lost after'];
    bank.blind = true;
    await service.createCharge(merchant.testKey, {}, key);
    bank.blind = false;
    const [pending] = await service.sql<{ id: string; txid: string }>(
      `SELECT id, txid FROM transactions WHERE status = 'PENDING'`,
    );
    const endToEndId = newEndToEndId('12345678', new Date());
    const txid = pending?.txid ?? '';
    bank.pix.set(endToEndId, {
      endToEndId,
      txid,
      amount: 1990,
      settledAt: service.clock.now(),
      fee: 0,
      payerDocument: null,
    });
    await notify(endToEndId);
    const events = await service.sql('SELECT type FROM events WHERE subject_id = $1 ORDER BY id', [pending?.id]);
    expect(events).toEqual([{ type: 'transaction.created' }, { type: 'transaction.paid' }]);
    const repeated = await service.createCharge(merchant.testKey, {}, key);
    expect(repeated.body).toMatchObject({
      status: 'paid',
      pix: { br_code: expect.stringContaining('pix.far.example') },
    });
  });

  it('creates one charge for simultaneous requests under one key', async () => {
    const key = randomUUID();
    const before = bank.charges.size;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => service.createCharge(merchant.testKey, {}, key)),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(bank.charges.size).toBe(before + 1);
  });

  async function notify(endToEndId: string): Promise<void> {
    const inbox = service.get(InboxService);
    const id = await service
      .get(Database)
      .transaction((tx) => inbox.store(tx, bank.name, { kind: 'pix', reference: endToEndId }));
    await service.get(ConfirmationService).confirm(id);
  }

  it('moves nothing for a forged notification, and applies the true one when the bank answers', async () => {
    const { body: charge } = await service.createCharge(merchant.testKey);
    const endToEndId = newEndToEndId('12345678', new Date());
    await notify(endToEndId);
    expect((await service.getCharge(merchant.testKey, charge.id)).body.status).toBe('pending');
    bank.pix.set(endToEndId, {
      endToEndId,
      txid: charge.pix.txid ?? '',
      amount: 1990,
      settledAt: new Date(),
      fee: 7,
      payerDocument: null,
    });
    bank.blind = true;
    await notify(endToEndId);
    bank.blind = false;
    service.clock.advance(60);
    await waitFor('the sweeper to apply it', async () => {
      const { body } = await service.getCharge(merchant.testKey, charge.id);
      return body.status === 'paid';
    });
    const [row] = await service.sql('SELECT provider_fee::int, net_amount::int FROM transactions WHERE id = $1', [
      charge.id.slice(3),
    ]);
    expect(row).toEqual({ provider_fee: 7, net_amount: 1983 });
  });

  it('a Pix without a charge of ours is shown to operators and credited to nobody', async () => {
    const endToEndId = newEndToEndId('12345678', new Date());
    const stray = { endToEndId, txid: null, amount: 5, settledAt: new Date(), fee: 0, payerDocument: null };
    bank.pix.set(endToEndId, stray);
    await notify(endToEndId);
    await notify(endToEndId);
    expect(await service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId])).toEqual([
      { outcome: 'unmatched' },
    ]);
  });

  it('is queried about a return whose answer timed out, and makes it once', async () => {
    const { body: charge } = await service.createCharge(merchant.testKey);
    const endToEndId = newEndToEndId('12345678', new Date());
    const wrong = {
      endToEndId,
      txid: charge.pix.txid ?? '',
      amount: 1,
      settledAt: service.clock.now(),
      fee: 0,
      payerDocument: null,
    };
    bank.pix.set(endToEndId, wrong);
    bank.returnFault = () => 'lost after';
    await notify(endToEndId);
    await waitFor('the return', async () => {
      service.clock.advance(5);
      await service.get(WorkService).sweep();
      const rows = await service.sql(`SELECT 1 FROM pix_returns WHERE end_to_end_id = $1 AND status = 'RETURNED'`, [
        endToEndId,
      ]);
      return rows.length === 1;
    });
    expect(bank.returnsOf(endToEndId)).toMatchObject([{ way: 'devolution', amount: 1 }]);
    expect([...bank.requests.entries()].filter(([name]) => name.startsWith(endToEndId))).toEqual([
      [expect.any(String), 1],
    ]);
  });
});
