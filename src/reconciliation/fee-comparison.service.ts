import { Injectable } from '@nestjs/common';
import { FEE_OPERATIONS, type FeeOperation, LiveAcquirersService } from '../acquirers/index.js';
import { saoPauloMonthBounds } from '../brazil/index.js';
import type { Amount } from '../core/money/index.js';
import { InternalRecordsRepository } from '../transactions/index.js';
import { PayoutRecordsRepository } from './payout-records.repository.js';

/** An acquirer's fees of a month by our books. Amounts in cents. */
export interface FeeReconciliation {
  readonly acquirer: string;
  readonly operations: readonly {
    readonly operation: FeeOperation;
    readonly count: number;
    readonly amount: Amount;
    readonly fee: Amount;
  }[];
  /** Corrections of that invoice that operators have entered. */
  readonly corrections: { readonly count: number; readonly amount: Amount };
  readonly here: Amount;
  readonly invoice: Amount;
  /** Invoice less our books. */
  readonly difference: Amount;
}

/** Compares the acquirers' invoices of a month with our books. Reads only. */
@Injectable()
export class FeeComparisons {
  constructor(
    private readonly live: LiveAcquirersService,
    private readonly records: InternalRecordsRepository,
    private readonly payouts: PayoutRecordsRepository,
  ) {}

  /**
   * Compares the fees of a month in São Paulo. Incoming Pix and payouts count by the bank's clock, returns and cashouts
   * by when their end became known here.
   * @param connectionId null: the only one of the account
   * @param month `2026-11`
   * @param invoice the amount that the PSP invoices
   * @throws ApiError 404, 400 where the account has several connections, 422 `no_provider_configured`
   */
  async compare(
    accountId: string,
    connectionId: string | null,
    month: string,
    invoice: Amount,
  ): Promise<FeeReconciliation> {
    const { acquirer } = await this.live.connectionOf(accountId, connectionId);
    const { from, to } = saoPauloMonthBounds(month);
    const sends = await this.payouts.charged(acquirer, accountId, from, to);
    const charged = [
      ...(await this.records.charged(acquirer, accountId, from, to)),
      { operation: 'payout' as const, ...sends },
    ];
    const corrections = await this.records.enteredFees(acquirer, month);
    const operations = FEE_OPERATIONS.map(
      (operation) => charged.find((each) => each.operation === operation) ?? { operation, count: 0, amount: 0, fee: 0 },
    );
    const here = operations.reduce((sum, { fee }) => sum + fee, corrections.amount);
    return { acquirer, operations, corrections, here, invoice, difference: invoice - here };
  }
}
