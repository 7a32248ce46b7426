import { Injectable } from '@nestjs/common';
import { newEndToEndId, newRtrId } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import type { ReturnName, ReturnRequest, ReturnState } from '../acquirer.port.js';
import { SandboxBankRepository } from './sandbox-bank.repository.js';

/** How long a return is in progress (docs/contract.md#sandbox: within about a second). */
const RETURN_MS = 400;
/** An ISPB that no bank has. */
const ISPB = '00000000';

/** The sandbox bank's desk for money that goes back to payers. */
@Injectable()
export class SandboxReturns {
  constructor(
    private readonly database: Database,
    private readonly bank: SandboxBankRepository,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** Makes a return. If the request repeats a name, the return is the existing one. */
  async request(request: ReturnRequest): Promise<ReturnState> {
    const { accountId, cause, way, reference, returnId, amount, destination } = request;
    const now = this.clock.now();
    const references = { devolution: newRtrId, cashout: newEndToEndId, card: () => null };
    await this.database.transaction((tx) =>
      this.bank.insertReturn(tx, {
        holderId: accountId,
        mayFail: cause === 'refund',
        endToEndId: reference,
        returnId,
        way,
        amount,
        destinationSealed:
          destination === null ? null : this.secrets.seal(destination, `sandbox_return:${reference}/${returnId}`),
        bankReference: references[way](ISPB, now),
        requestedAt: now,
      }),
    );
    const state = await this.get(request);
    return state.kind === 'not_found' ? { kind: 'failed', reason: 'amount_exceeded' } : state;
  }

  async get({ accountId, reference, returnId }: ReturnName): Promise<ReturnState> {
    const row = await this.bank.findReturn(accountId, reference, returnId);
    if (!row) return { kind: 'not_found' };
    const age = this.clock.now().getTime() - row.requestedAt.getTime();
    if (age < RETURN_MS) return { kind: 'in_progress' };
    return row.fails
      ? { kind: 'failed', reason: 'refused' }
      : { kind: 'returned', bankReference: row.bankReference, fee: 0 };
  }

  /**
   * Makes the next refund of the charge end FAILED (`refund_fail` of docs/sandbox.md). Repeating this changes nothing.
   * Unwanted money that is sent back automatically does not use it up.
   */
  async failNext(txid: string): Promise<void> {
    await this.database.transaction(async (tx) => this.bank.failNextRefund(tx, txid, this.clock.now()));
  }
}
