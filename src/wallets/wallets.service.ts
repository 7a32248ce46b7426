import { Injectable } from '@nestjs/common';
import { releaseTimeOf } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { groupBy } from '../core/group-by.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { type Amount, basisPoints } from '../core/money/index.js';
import type { EntryType } from './entry-types.js';
import { LedgerService, type Posting } from './ledger.service.js';
import { type PlannedRelease, ReleasesRepository } from './releases.repository.js';
import type { ReleaseKind } from './release.entity.js';
import { type NegativeBalance, type NegativeFilter, WalletsRepository } from './wallets.repository.js';

/** How many days a currency's calendar of releases may have: `release_days` and `reserve_days` are at most a year. */
const MAX_RELEASES = 400;

/** Amounts in the currency's smallest unit. */
export interface WalletBalance {
  readonly currency: string;
  readonly available: Amount;
  readonly pending: Amount;
  readonly retained: Amount;
  readonly nextReleaseAt: Date | null;
  readonly nextReleaseAmount: Amount | null;
}

export interface CreditedSettlement extends Scope {
  readonly transactionId: string;
  readonly currency: string;
  readonly amount: Amount;
  readonly providerFee: Amount;
  readonly platformFee: Amount;
  readonly netAmount: Amount;
  readonly paidAt: Date;
  /** True if the money waited in suspense for an operator's decision. */
  readonly wasSuspended: boolean;
  /** Calendar days in São Paulo until the money is spendable; 0 is at once (docs/contract.md#fees-and-release). */
  readonly releaseDays: number;
  /** The share of the amount that is held in `pending` for `reserveDays`, if that is longer than `releaseDays`. */
  readonly reserveBps: number;
  readonly reserveDays: number;
}

/** Money that an acquirer has received and no merchant is credited with. */
export interface SuspendedMoney extends Scope {
  /** Null: the money came without a sale. */
  readonly transactionId: string | null;
  readonly currency: string;
  readonly amount: Amount;
}

/** A fee of an acquirer. */
type ChargedFee = SuspendedMoney;

/** A correction by an operator. */
export interface CorrectedMoney extends Scope {
  readonly correctionId: string;
  /** The sale that is corrected; null: none. */
  readonly transactionId: string | null;
  readonly currency: string;
  /**
   * - `returned_elsewhere`: the acquirer does not hold the money any more.
   * - `write_off`: the money has no owner, and the platform keeps it.
   * - `bank_fee`: the acquirer has charged it.
   * - `loss`: the acquirer has taken it.
   */
  readonly kind: 'returned_elsewhere' | 'write_off' | 'bank_fee' | 'loss';
  /** The party that pays; null: the money is in suspense. */
  readonly borneBy: 'merchant' | 'platform' | null;
  /** Negative: a fee or a loss that came back. */
  readonly amount: Amount;
}

const BEARERS = { merchant: 'available', platform: 'platform_fees' } as const;

const CORRECTED_INTO = {
  returned_elsewhere: 'clearing',
  write_off: 'platform_fees',
  bank_fee: 'provider_fees',
  loss: 'clearing',
} as const;

/** Money that a merchant sends back to a payer: the full refund, and the part of its fee that the merchant bears. */
export interface RefundMoney extends Scope {
  readonly refundId: string;
  readonly transactionId: string;
  readonly currency: string;
  readonly amount: Amount;
  readonly fee: Amount;
}

/** Money that a merchant sends out: the full payout, and the service's fee for it. */
export interface PayoutMoney extends Scope {
  readonly payoutId: string;
  readonly currency: string;
  readonly amount: Amount;
  readonly fee: Amount;
}

/** A movement of a transaction's money for a dispute. */
export interface DisputeMove extends Scope {
  readonly caseId: string;
  /** True for a card payment, whose loss is a chargeback. */
  readonly isCard: boolean;
  readonly transactionId: string;
  readonly currency: string;
  /**
   * - `held`: from the available balance, which may go below zero.
   * - `released`: back to the available balance.
   * - `lost`: gone to the payer.
   * - `corrected`: gone to the payer after the end, straight from the available balance; negative: come back to it.
   *
   * Each move happens only once with the same `detail`.
   */
  readonly what: 'held' | 'released' | 'lost' | 'corrected';
  /** The cause of a move other than the case's opening or end, such as a failed refund; null for opening and end. */
  readonly detail: string | null;
  readonly amount: Amount;
}

const DISPUTE_TYPES: Readonly<Record<DisputeMove['what'], EntryType>> = {
  held: 'med_hold',
  released: 'med_release',
  lost: 'med_loss',
  corrected: 'correction',
};

const DISPUTE_LINES: Readonly<Record<DisputeMove['what'], (amount: Amount) => Posting['lines']>> = {
  held: (amount) => ({ available: -amount, retained: amount }),
  released: (amount) => ({ retained: -amount, available: amount }),
  // The acquirer has given the money to the payer's bank: it holds that much less for us.
  lost: (amount) => ({ retained: -amount, clearing: amount }),
  corrected: (amount) => ({ available: -amount, clearing: amount }),
};

@Injectable()
export class WalletsService {
  constructor(
    private readonly wallets: WalletsRepository,
    private readonly releases: ReleasesRepository,
    private readonly ledger: LedgerService,
    private readonly clock: Clock,
  ) {}

  /** Credits a settlement only once: its cause is the transaction. Locks the account's balances. */
  credit(tx: Tx, settlement: CreditedSettlement): void {
    const { accountId, mode, currency, transactionId, amount, netAmount, releaseDays, reserveDays } = settlement;
    const reserve = reserveDays > releaseDays ? Math.min(basisPoints(amount, settlement.reserveBps), netAmount) : 0;
    const waits = releaseDays > 0 ? netAmount - reserve : 0;
    const hold = (kind: ReleaseKind, held: Amount, days: number): void => {
      if (held === 0) return;
      const releaseAt = releaseTimeOf(settlement.paidAt, days);
      const id = newId(this.clock.now());
      this.releases.insert(tx, { id, accountId, mode, currency, transactionId, kind, amount: held, releaseAt });
    };
    hold('sale', waits, releaseDays);
    hold('reserve', reserve, reserveDays);
    this.ledger.post(tx, [
      {
        accountId,
        mode,
        currency,
        transactionId,
        cause: `charge.paid:${transactionId}`,
        type: 'sale',
        lines: {
          [settlement.wasSuspended ? 'suspense' : 'clearing']: -amount,
          available: netAmount - waits - reserve,
          pending: waits + reserve,
          platform_fees: settlement.platformFee,
          provider_fees: settlement.providerFee,
        },
      },
    ]);
  }

  /** Keeps money that pays nothing in suspense, once for each settlement. Locks the account's balances. */
  suspend(tx: Tx, settlementId: string, money: SuspendedMoney): void {
    this.#postSuspense(tx, `suspense.received:${settlementId}`, money, -money.amount);
  }

  /** Books that suspended money is with its payer again, once for each return. Locks the account's balances. */
  giveBack(tx: Tx, returnId: string, money: SuspendedMoney): void {
    this.#postSuspense(tx, `suspense.returned:${returnId}`, money, money.amount);
  }

  /**
   * Books an acquirer's fee that no merchant bears, once for each settlement, refund or return. Locks the account's
   * balances.
   * @param of the id of the settlement, refund or return
   */
  chargeFee(tx: Tx, of: string, fee: ChargedFee): void {
    this.#postFee(tx, `provider_fee:${of}`, fee, fee.amount);
  }

  /** Passes the fee of suspended money on to the merchant, once for each sale. Locks the account's balances. */
  passFee(tx: Tx, transactionId: string, fee: ChargedFee): void {
    this.#postFee(tx, `provider_fee.passed:${transactionId}`, fee, -fee.amount);
  }

  #postFee(tx: Tx, cause: string, { accountId, mode, currency, transactionId }: ChargedFee, amount: Amount): void {
    if (amount === 0) return;
    const lines = { platform_fees: -amount, provider_fees: amount };
    this.ledger.post(tx, [{ accountId, mode, currency, transactionId, cause, type: 'provider_fee', lines }]);
  }

  #postSuspense(tx: Tx, cause: string, money: SuspendedMoney, clearing: Amount): void {
    const { accountId, mode, currency, transactionId } = money;
    const lines = { clearing, suspense: -clearing };
    this.ledger.post(tx, [{ accountId, mode, currency, transactionId, cause, type: 'suspense', lines }]);
  }

  /**
   * Sets a refund's money aside, only once. Locks the account's balances: call it last in a transaction.
   * @returns false, and writes nothing, when less is available
   */
  async reserveRefund(tx: Tx, refund: RefundMoney): Promise<boolean> {
    const total = refund.amount + refund.fee;
    if ((await this.wallets.lockAvailable(tx, refund, refund.currency)) < total) return false;
    this.#postRefund(tx, refund, 'reserved', { available: -total, reserved: total });
    return true;
  }

  /** Gives back the money that was set aside for a refund, because the refund failed. */
  releaseRefund(tx: Tx, refund: RefundMoney): void {
    const total = refund.amount + refund.fee;
    this.#postRefund(tx, refund, 'released', { reserved: -total, available: total });
  }

  /** Books that the payer has the money: the acquirer holds that much less for us. */
  payRefund(tx: Tx, refund: RefundMoney): void {
    const { amount, fee } = refund;
    this.#postRefund(tx, refund, 'paid', { reserved: -(amount + fee), clearing: amount, platform_fees: fee });
  }

  #postRefund(tx: Tx, refund: RefundMoney, what: 'reserved' | 'released' | 'paid', lines: Posting['lines']): void {
    const { accountId, mode, currency, transactionId, refundId } = refund;
    const cause = `refund.${what}:${refundId}`;
    const type = what === 'released' ? 'refund_failed' : 'refund';
    this.ledger.post(tx, [{ accountId, mode, currency, transactionId, cause, type, lines }]);
  }

  /**
   * Locks the wallet until the end of `tx`, for rules that compare its payouts. Nothing may be locked after it.
   * @returns the available balance
   */
  lockAvailable(tx: Tx, scope: Scope, currency: string): Promise<Amount> {
    return this.wallets.lockAvailable(tx, scope, currency);
  }

  /** Sets a payout's money aside. The caller has compared it with `lockAvailable`. */
  reservePayout(tx: Tx, payout: PayoutMoney): void {
    const total = payout.amount + payout.fee;
    this.#postPayout(tx, payout, 'reserved', 'payout', { available: -total, reserved: total });
  }

  /** Gives back the money that was set aside for a payout, because the payout was not sent. */
  releasePayout(tx: Tx, payout: PayoutMoney): void {
    const total = payout.amount + payout.fee;
    this.#postPayout(tx, payout, 'released', 'payout_failed', { reserved: -total, available: total });
  }

  /** Books that the receiver has the money: the acquirer holds that much less for us. */
  payPayout(tx: Tx, payout: PayoutMoney): void {
    const { amount, fee } = payout;
    const lines = { reserved: -(amount + fee), clearing: amount, platform_fees: fee };
    this.#postPayout(tx, payout, 'paid', 'payout', lines);
  }

  /**
   * Gives a paid payout back that its bank has revoked.
   * @param returned the part that came back before
   */
  reversePayout(tx: Tx, payout: PayoutMoney, returned: Amount): void {
    const { amount, fee } = payout;
    const rest = amount - returned;
    const lines = { clearing: -rest, platform_fees: -fee, available: rest + fee };
    this.#postPayout(tx, payout, 'reversed', 'payout_failed', lines);
  }

  /**
   * Books a part of a payout that came back, once for each return.
   * @param amount of the part
   * @param isWhole whether all of the payout is back with this part: the fee is given back too, by an entry of its own
   */
  returnPayout(tx: Tx, payout: PayoutMoney, returnId: string, amount: Amount, isWhole: boolean): void {
    const { fee } = payout;
    const lines = { clearing: -amount, available: amount };
    this.#postPayout(tx, payout, 'returned', 'payout_returned', lines, returnId);
    if (!isWhole || fee === 0) return;
    this.#postPayout(tx, payout, 'fee_returned', 'payout_returned', { platform_fees: -fee, available: fee });
  }

  #postPayout(
    tx: Tx,
    { accountId, mode, currency, payoutId }: PayoutMoney,
    what: 'reserved' | 'released' | 'paid' | 'reversed' | 'returned' | 'fee_returned',
    type: EntryType,
    lines: Posting['lines'],
    detail?: string,
  ): void {
    const cause = `payout.${what}:${payoutId}${detail === undefined ? '' : `:${detail}`}`;
    this.ledger.post(tx, [{ accountId, mode, currency, transactionId: null, cause, type, lines }]);
  }

  /** Posts the movements of disputes, in one go. Locks the account's balances: call it last in a transaction. */
  moveDisputed(tx: Tx, moves: readonly DisputeMove[]): void {
    this.ledger.post(
      tx,
      moves.map(({ accountId, mode, currency, transactionId, caseId, isCard, what, detail, amount }) => ({
        accountId,
        mode,
        currency,
        transactionId,
        cause: `med.${what}:${caseId}${detail === null ? '' : `:${detail}`}`,
        type: what === 'lost' && isCard ? 'chargeback' : DISPUTE_TYPES[what],
        lines: DISPUTE_LINES[what](amount),
      })),
    );
  }

  /** Books an operator's correction, once for each correction. Locks the account's balances. */
  correct(
    tx: Tx,
    { correctionId, accountId, mode, currency, transactionId, kind, borneBy, amount }: CorrectedMoney,
  ): void {
    const from = borneBy === null ? 'suspense' : BEARERS[borneBy];
    const type = borneBy === null ? 'suspense' : 'correction';
    const lines = { [from]: -amount, [CORRECTED_INTO[kind]]: amount };
    const cause = `correction:${correctionId}`;
    this.ledger.post(tx, [{ accountId, mode, currency, transactionId, cause, type, lines }]);
  }

  /** Lists the planned releases, the next first. @param currency null for all */
  async plannedReleases(scope: Scope, currency: string | null): Promise<PlannedRelease[]> {
    return this.releases.calendar(scope, currency, MAX_RELEASES);
  }

  /** Returns an entry for each currency that the account ever had money in; `primary` is first, even if empty. */
  async balances(scope: Scope, primary: string): Promise<WalletBalance[]> {
    const [rows, releases] = await Promise.all([this.wallets.balances(scope), this.releases.next(scope)]);
    const own = groupBy(rows, ({ currency }) => currency);
    const next = new Map(releases.map((release) => [release.currency, release]));
    return [...new Set([primary, ...own.keys()])].map((currency) => {
      const of = (bucket: string): Amount => own.get(currency)?.find((row) => row.bucket === bucket)?.amount ?? 0;
      const release = next.get(currency);
      return {
        currency,
        available: of('available'),
        pending: of('pending'),
        retained: of('retained'),
        nextReleaseAt: release?.releaseAt ?? null,
        nextReleaseAmount: release?.amount ?? null,
      };
    });
  }

  /** Lists wallets below zero, the longest first. Reads across accounts: for operators. */
  negative(filter: NegativeFilter): Promise<NegativeBalance[]> {
    return this.wallets.negative(filter);
  }

  /** Locks the wallets whose notice is due; each is locked by one worker only. */
  lockNegative(tx: Tx, now: Date, limit: number): Promise<NegativeBalance[]> {
    return this.wallets.lockNegative(tx, now, limit);
  }

  /** @param at null: the merchant gets no more notices */
  setNegativeNotice(tx: Tx, balance: NegativeBalance, at: Date | null): void {
    this.wallets.setNegativeNotice(tx, balance, at);
  }
}
