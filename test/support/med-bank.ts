import {
  AcquirersService,
  ConfirmationService,
  type Dispute,
  InboxService,
  type ReceivedPix,
} from '../../src/acquirers/index.js';
import { Database } from '../../src/core/database/index.js';
import { WorkService } from '../../src/core/work/index.js';
import { FarBank } from './far-bank.js';
import { openRefunds, requestRefund } from './refunds.js';
import type { TestService } from './service.js';

export interface Paid {
  /** `ch_<uuid>` */
  readonly id: string;
  readonly pix: ReceivedPix;
}

/** A far bank whose notifications reach the service one by one, as a test says; nothing else runs by itself. */
export class ToldBank {
  readonly bank = new FarBank();

  constructor(private readonly service: TestService) {
    service.get(AcquirersService).register(this.bank, { servesTestMode: true });
  }

  /** @returns the id of the stored notification */
  hint(kind: 'pix' | 'dispute', reference: string): Promise<string> {
    const inbox = this.service.get(InboxService);
    return this.service.get(Database).transaction((tx) => inbox.store(tx, this.bank.name, { kind, reference }));
  }

  async process(notificationId: string): Promise<void> {
    await this.service.get(ConfirmationService).confirm(notificationId);
  }

  async tell({ reference }: Pick<Dispute, 'reference'>): Promise<void> {
    await this.process(await this.hint('dispute', reference));
  }

  async settle({ endToEndId }: ReceivedPix): Promise<void> {
    await this.process(await this.hint('pix', endToEndId));
  }

  /** A charge and its Pix, which the bank has not reported. */
  async received(key: string, amount = 100): Promise<Paid> {
    const { body } = await this.service.createCharge(key, { amount });
    const pix = this.bank.receive({ txid: body.pix.txid ?? '', amount }, { settledAt: this.service.clock.now() });
    return { id: body.id, pix };
  }

  async paid(key: string, amount = 100): Promise<Paid> {
    const paid = await this.received(key, amount);
    await this.settle(paid.pix);
    return paid;
  }

  async disputed(paid: Paid, changes: Partial<Dispute> = {}): Promise<Dispute> {
    const dispute = this.bank.dispute(paid.pix, changes);
    await this.tell(dispute);
    return dispute;
  }

  /** @param result null: the payer withdraws */
  async ruled(dispute: Dispute, result: 'agreed' | 'disagreed' | null): Promise<void> {
    await this.tell(this.bank.rule(dispute, result));
  }

  async refund(key: string, { id }: Paid, amount: number, strategy = 'devolution'): Promise<string> {
    const answer = await requestRefund(this.service, key, id, { amount, strategy });
    if (answer.status !== 201) throw new Error(`The refund was answered ${answer.text}`);
    return answer.body.id;
  }

  /** A worker takes the refund one step further. */
  step(refundId: string): Promise<unknown> {
    return this.service.get(WorkService).runNow('refund', refundId);
  }

  /** All refunds come to their end. */
  async finish(): Promise<void> {
    for (let round = 0; round < 20 && (await openRefunds(this.service)) > 0; round++) {
      const open = await this.service.sql<{ id: string }>(
        `SELECT id FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS')`,
      );
      for (const { id } of open) await this.step(id);
    }
  }
}
