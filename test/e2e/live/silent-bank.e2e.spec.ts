import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  ConfirmationService,
  InboxService,
  type NotificationHint,
  type PixChargeState,
  type ReceivedPix,
} from '../../../src/acquirers/index.js';
import { Database } from '../../../src/core/database/index.js';
import { ExpiryService } from '../../../src/transactions/index.js';
import { FarBank } from '../../support/far-bank.js';
import { type ChargeAnswer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

/** A bank that names the Pix that paid a charge, and returns that Pix late or never. */
class PixlessBank extends FarBank {
  pixIs: 'given' | 'lost' | 'held' = 'given';
  chargeIs: 'given' | 'held' = 'given';
  asked = 0;
  askedCharges: string[] = [];
  readonly held: { readonly give: () => void; readonly lose: () => void }[] = [];

  override async getPix(endToEndId: string): Promise<ReceivedPix | null> {
    this.asked += 1;
    if (this.pixIs === 'lost') throw new Error('time-out');
    if (this.pixIs === 'held') await this.#hold();
    return super.getPix(endToEndId);
  }

  override async getPixCharge(txid: string): Promise<PixChargeState> {
    this.askedCharges.push(txid);
    if (this.chargeIs === 'held') await this.#hold();
    return super.getPixCharge(txid);
  }

  #hold(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.held.push({ give: () => resolve(), lose: () => reject(new Error('time-out')) });
    });
  }

  giveAll(): void {
    this.pixIs = 'given';
    this.chargeIs = 'given';
    for (const { give } of this.held.splice(0)) give();
  }
}

describe('a bank that gives no answers', () => {
  const service = TestService.forSpec({ env: { ROLE: 'api' } });
  let bank: PixlessBank;
  let key: string;

  beforeEach(async () => {
    bank = new PixlessBank(`bank-${randomUUID()}`);
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    key = (await service.merchant()).testKey;
  });
  afterEach(() => bank.giveAll());

  const charge = async (): Promise<ChargeAnswer> => (await service.createCharge(key, { expires_in: 60 })).body;
  const payInSilence = ({ pix, amount }: ChargeAnswer): ReceivedPix =>
    bank.receive({ txid: pix.txid ?? '', amount }, { settledAt: service.clock.now() });
  const store = (hint: NotificationHint): Promise<string> =>
    service.get(Database).transaction((tx) => service.get(InboxService).store(tx, bank.name, hint));
  const confirm = (id: string): Promise<unknown> => service.get(ConfirmationService).confirm(id);

  it('gets fewer queries even if it reports charges as paid without giving their Pix', async () => {
    bank.pixIs = 'lost';
    for (let count = 0; count < 8; count++) {
      const made = await charge();
      payInSilence(made);
      await confirm(await store({ kind: 'charge', reference: made.pix.txid ?? '' }));
    }
    bank.pixIs = 'held';
    bank.asked = 0;
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const made = await charge();
      payInSilence(made);
      ids.push(await store({ kind: 'charge', reference: made.pix.txid ?? '' }));
    }
    const all = ids.map(confirm);
    await waitFor('two questions', () => bank.asked >= 2);
    await new Promise((go) => setTimeout(go, 300));
    const asked = bank.asked;
    bank.giveAll();
    await Promise.all(all);
    expect(asked).toBe(2);
  });
});

describe('a charge past its expiry whose bank is silent about its Pix', () => {
  const service = TestService.forSpec();
  let bank: PixlessBank;
  let key: string;

  beforeEach(async () => {
    bank = new PixlessBank(`bank-${randomUUID()}`);
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    key = (await service.merchant()).testKey;
  });
  afterEach(() => bank.giveAll());

  it('does not expire when the bank names a Pix that may not be queried now', async () => {
    const made = (await service.createCharge(key, { expires_in: 60 })).body;
    const pix = bank.receive({ txid: made.pix.txid ?? '', amount: made.amount }, { settledAt: service.clock.now() });
    const store = (reference: string): Promise<string> =>
      service
        .get(Database)
        .transaction((tx) => service.get(InboxService).store(tx, bank.name, { kind: 'pix', reference }));
    const confirm = async (reference: string): Promise<unknown> =>
      service.get(ConfirmationService).confirm(await store(reference));
    const e2e = (): string => `E${randomUUID().replaceAll('-', '').slice(0, 31)}`;
    bank.pixIs = 'lost';
    for (let count = 0; count < 8; count++) await confirm(e2e());
    bank.pixIs = 'held';
    const holding = [confirm(e2e()), confirm(e2e())];
    await waitFor('two questions to hang', () => bank.held.length === 2);
    service.clock.advance(63);
    await waitFor('the charge to be asked about', () => bank.askedCharges.length > 0);
    await new Promise((go) => setTimeout(go, 500));
    service.clock.advance(11 * 60);
    await service.get(ExpiryService).expireDue();
    const [row] = await service.sql('SELECT status FROM transactions WHERE id = $1', [made.id.slice(3)]);
    bank.giveAll();
    await Promise.all(holding);
    await waitFor('the Pix to be settled', async () => {
      service.clock.advance(60);
      return (await service.sql('SELECT 1 FROM settlements WHERE end_to_end_id = $1', [pix.endToEndId])).length > 0;
    });
    const settled = await service.sql('SELECT outcome, reason FROM settlements WHERE end_to_end_id = $1', [
      pix.endToEndId,
    ]);
    expect([row, settled]).toEqual([{ status: 'WAITING_PAYMENT' }, [{ outcome: 'credited', reason: null }]]);
  });

  it('is queried although another bank, with as many connections, answers no queries', async () => {
    const silent: PixlessBank[] = [];
    for (let count = 0; count < 16; count++) {
      const one = new PixlessBank(`bank-${randomUUID()}`);
      service.get(AcquirersService).register(one, { servesTestMode: true });
      const merchant = await service.merchant();
      for (let each = 0; each < 10; each++) await service.createCharge(merchant.testKey, { expires_in: 60 });
      one.chargeIs = 'held';
      silent.push(one);
    }
    const held = (): number => silent.reduce((sum, one) => sum + one.held.length, 0);
    service.clock.advance(65);
    // Each question times out, until every one of these connections is known to be silent.
    await waitFor('all to have failed often', () => {
      service.clock.advance(1);
      for (const one of silent) for (const { lose } of one.held.splice(0)) lose();
      return silent.every((one) => one.askedCharges.length >= 10);
    });
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    const made = (await service.createCharge(key, { expires_in: 60 })).body;
    expect(bank.charges.has(made.pix.txid ?? '')).toBe(true);
    service.clock.advance(16);
    await waitFor('questions that hang', () => held() >= 8);
    service.clock.advance(65);
    await waitFor('its question', () => bank.askedCharges.length > 0, 60_000);
    for (const one of silent) one.giveAll();
  });

  it('is queried although another bank, with more charges, does not answer', async () => {
    const other = new PixlessBank(`bank-${randomUUID()}`);
    const silent = bank;
    // Charges of the silent bank come first and outnumber the others.
    const merchant = await service.merchant();
    for (let count = 0; count < 40; count++) await service.createCharge(key, { expires_in: 60 });
    service.get(AcquirersService).register(other, { servesTestMode: true });
    const made = (await service.createCharge(merchant.testKey, { expires_in: 61 })).body;
    expect(other.charges.has(made.pix.txid ?? '')).toBe(true);
    silent.chargeIs = 'held';
    service.clock.advance(65);
    await waitFor('the first questions', () => silent.held.length === 16);
    for (const { lose } of silent.held.splice(0)) lose();
    await waitFor('the question of the other bank', () => other.askedCharges.length > 0, 60_000);
    silent.giveAll();
  });
});
