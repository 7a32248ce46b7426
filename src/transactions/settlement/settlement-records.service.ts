import { Injectable } from '@nestjs/common';
import { AcquirersService, InboxService } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import type { Tx } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import { WalletsService } from '../../wallets/index.js';
import type { ReceivedMoney, Settlement, SettlementDecision } from './settlement.rules.js';
import { SettlementsRepository } from './settlements.repository.js';

/** A transaction, or the account whose money an acquirer keeps. */
export interface Receiver extends Scope {
  /** The id of the transaction; null where there is none. */
  readonly id: string | null;
  readonly currency: string;
}

/** Records each payment that an acquirer has confirmed, and books the money that is not credited. */
@Injectable()
export class SettlementRecords {
  constructor(
    private readonly settlements: SettlementsRepository,
    private readonly acquirers: AcquirersService,
    private readonly inbox: InboxService,
    private readonly wallets: WalletsService,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** Ends the notification that reported the payment. */
  closeNotification(tx: Tx, { notification }: Settlement): void {
    if (notification) this.inbox.close(tx, notification);
  }

  /** @param whose null: the account is not known @returns the settlement's id */
  insert(
    tx: Tx,
    { acquirer, money }: Pick<Settlement, 'acquirer' | 'money'>,
    whose: Receiver | null,
    outcome: SettlementDecision['outcome'] | 'unmatched',
    reason: SettlementDecision['reason'],
  ): string {
    const now = this.clock.now();
    const id = newId(now);
    const { references } = this.acquirers.get(acquirer).capabilities;
    this.settlements.insert(tx, {
      id,
      accountId: whose?.accountId ?? null,
      mode: whose?.mode ?? null,
      transactionId: whose?.id ?? null,
      acquirer,
      namespace: references === 'of the account' ? (whose?.accountId ?? null) : null,
      endToEndId: money.endToEndId,
      txid: money.txid,
      method: money.method,
      amount: money.amount,
      outcome,
      reason,
      // The payer's real document is never exposed; sealed, it can still answer an operator's or a court's question.
      payerDocumentSealed:
        money.payerDocument === null ? null : this.secrets.seal(money.payerDocument, `settlement:${money.endToEndId}`),
      providerFee: money.fee,
      settledAt: money.settledAt,
      createdAt: now,
    });
    return id;
  }

  /** Books money that is not credited, with the acquirer's fee. Locks the account's balances. */
  suspend(tx: Tx, settlementId: string, whose: Receiver, { amount, fee }: ReceivedMoney): void {
    const { id, accountId, mode, currency } = whose;
    this.wallets.suspend(tx, settlementId, { accountId, mode, currency, transactionId: id, amount });
    this.charge(tx, settlementId, whose, fee);
  }

  /** Books the part of an acquirer's fee that no merchant bears. Locks the account's balances. */
  charge(tx: Tx, settlementId: string, { id, accountId, mode, currency }: Receiver, amount: Amount): void {
    this.wallets.chargeFee(tx, settlementId, { accountId, mode, currency, transactionId: id, amount });
  }
}
