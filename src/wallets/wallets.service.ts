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
import type { ReleaseKind } from './wallet.entity.js';
import { type NegativeBalance, type NegativeFilter, WalletsRepository } from './wallets.repository.js';

/** Days of a currency's calendar of releases: `release_days` and `reserve_days` are at most a year. */
const MOST_RELEASES = 400;

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
  /** It waited in suspense for an operator's decision. */
  readonly wasSuspended: boolean;
  /** Calendar days in São Paulo until the money is spendable; 0 is at once (docs/contract.md#fees-and-release). */
  readonly releaseDays: number;
  /** The share of the amount that is held in `pending` for `reserveDays`, where that is longer than `releaseDays`. */
  readonly reserveBps: number;
  readonly reserveDays: number;
}

/** Money that an acquirer has received and no merchant is credited with. */
export interface SuspendedMoney extends Scope {
  /** Null: it came for no sale. */
  readonly transactionId: string | null;
  readonly currency: string;
  readonly amount: Amount;
}

/** What an acquirer charges. */
type ChargedFee = SuspendedMoney;

/** What an operator puts right. */
export interface CorrectedMoney extends Scope {
  readonly correctionId: string;
  /** The sale that it is about; null: none. */
  readonly transactionId: string | null;
  readonly currency: string;
  /**
   * `returned_elsewhere`: the acquirer holds it no more; `write_off`: nobody wants it, and the platform keeps it; `bank_fee`:
   * the acquirer has charged it; `loss`: the acquirer has taken it.
   */
  readonly kind: 'returned_elsewhere' | 'write_off' | 'bank_fee' | 'loss';
  /** Who pays it; null: it is in suspense. */
  readonly borneBy: 'merchant' | 'platform' | null;
  /** Below zero: a fee or a loss that came back. */
  readonly amount: Amount;
}

const BEARERS = { merchant: 'available', platform: 'platform_fees' } as const;

const CORRECTED_INTO = {
  returned_elsewhere: 'clearing',
  write_off: 'platform_fees',
  bank_fee: 'provider_fees',
  loss: 'clearing',
} as const;

/** Money that a merchant sends back to a payer: the refund in full, and the fee of it that the merchant bears. */
export interface RefundMoney extends Scope {
  readonly refundId: string;
  readonly transactionId: string;
  readonly currency: string;
  readonly amount: Amount;
  readonly fee: Amount;
}

/** What a dispute does with money of one transaction. */
export interface DisputeMove extends Scope {
  readonly caseId: string;
  /** A card payment's: its loss is a chargeback. */
  readonly isCard: boolean;
  readonly transactionId: string;
  readonly currency: string;
  /**
   * `held`: from the available balance, which may go below zero; `released`: back to it; `lost`: gone to the payer;
   * `corrected`: gone to the payer after the end, straight from the available balance, or come back from there when
   * negative. Each once for ever with the same `detail`.
   */
  readonly what: 'held' | 'released' | 'lost' | 'corrected';
  /** What it is done for beyond the case's own opening and end, as the refund that failed; null: for these. */
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
  // The acquirer has given it to the payer's bank: it holds that much less for us.
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

  /** Credits a settlement once for ever: its cause is the transaction. Locks the account's balances. */
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

  /** Keeps what is nobody's payment, once for each settlement. Locks the account's balances. */
  suspend(tx: Tx, settlementId: string, money: SuspendedMoney): void {
    this.#postSuspense(tx, `suspense.received:${settlementId}`, money, -money.amount);
  }

  /** What was kept is with its payer again, once for each return. Locks the account's balances. */
  giveBack(tx: Tx, returnId: string, money: SuspendedMoney): void {
    this.#postSuspense(tx, `suspense.returned:${returnId}`, money, money.amount);
  }

  /**
   * Enters what the acquirer charges and no merchant bears, once for each settlement, refund or return. Locks the account's
   * balances.
   * @param of the id of the settlement, refund or return
   */
  chargeFee(tx: Tx, of: string, fee: ChargedFee): void {
    this.#postFee(tx, `provider_fee:${of}`, fee, fee.amount);
  }

  /** The fee of what was suspended is the merchant's after all, once for each sale. Locks the account's balances. */
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
   * Sets a refund's money aside, once for ever. Locks the account's balances: call it last in a transaction.
   * @returns false, and writes nothing, when less is available
   */
  async reserveRefund(tx: Tx, refund: RefundMoney): Promise<boolean> {
    const total = refund.amount + refund.fee;
    if ((await this.wallets.lockAvailable(tx, refund, refund.currency)) < total) return false;
    this.#postRefund(tx, refund, 'reserved', { available: -total, reserved: total });
    return true;
  }

  /** The refund failed: gives back what was set aside. */
  releaseRefund(tx: Tx, refund: RefundMoney): void {
    const total = refund.amount + refund.fee;
    this.#postRefund(tx, refund, 'released', { reserved: -total, available: total });
  }

  /** The payer has the money: the acquirer holds that much less for us. */
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

  /** Posts what disputes do, in one go. Locks the account's balances: call it last in a transaction. */
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

  /** Enters what an operator puts right, once for each correction. Locks the account's balances. */
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

  /** What waits for its release, the next first. @param currency null for all */
  async plannedReleases(scope: Scope, currency: string | null): Promise<PlannedRelease[]> {
    return this.releases.calendar(scope, currency, MOST_RELEASES);
  }

  /** One entry for each currency the account ever had money in; `primary` first, also when it is empty. */
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

  /** Wallets below zero, longest first. Across accounts: for operators. */
  negative(filter: NegativeFilter): Promise<NegativeBalance[]> {
    return this.wallets.negative(filter);
  }

  /** Those whose merchants are to be told by then, locked; in any number of workers each is one's. */
  lockNegative(tx: Tx, now: Date, limit: number): Promise<NegativeBalance[]> {
    return this.wallets.lockNegative(tx, now, limit);
  }

  /** @param at null: the merchant is not told again */
  setNegativeNotice(tx: Tx, balance: NegativeBalance, at: Date | null): void {
    this.wallets.setNegativeNotice(tx, balance, at);
  }
}
