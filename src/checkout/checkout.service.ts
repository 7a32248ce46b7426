import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import { LRUCache } from 'lru-cache';
import { qrPng } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { notFound } from '../core/errors/index.js';
import { parseId } from '../core/ids.js';
import { isPix, type Transaction, TransactionsService } from '../transactions/index.js';
import { type CheckoutStatus, type CheckoutView, toCheckoutStatus, toCheckoutView } from './checkout.view.js';

/** About 2 MB of pictures. */
const KEPT_PICTURES = 1_000;

/** What somebody who holds only a checkout address may read. Takes `<uuid>` and `ch_<uuid>`. */
@Injectable()
export class CheckoutService {
  /** By code. */
  readonly #pictures = new LRUCache<string, Buffer>({ max: KEPT_PICTURES });

  constructor(
    private readonly transactions: TransactionsService,
    private readonly accounts: AccountsService,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 */
  async view(id: string): Promise<CheckoutView> {
    const transaction = await this.#charge(id);
    const account = await this.accounts.get(transaction.accountId);
    return toCheckoutView(transaction, account, this.clock.now());
  }

  /** @throws ApiError 404 */
  async status(id: string): Promise<CheckoutStatus> {
    return toCheckoutStatus(await this.#charge(id));
  }

  /**
   * A PNG of the charge's code, also once it is over: what a merchant embedded keeps its picture.
   * @throws ApiError 404, also for a charge that has no code yet
   */
  async qr(id: string): Promise<Buffer> {
    const { brCode } = await this.#charge(id);
    if (brCode === null) throw notFound('QR code');
    const known = this.#pictures.get(brCode);
    if (known) return known;
    const png = qrPng(brCode);
    this.#pictures.set(brCode, png);
    return png;
  }

  /** Payments without Pix have no checkout (docs/contract.md#checkout). */
  async #charge(id: string): Promise<Transaction> {
    const transaction = await this.transactions.getPublic(parseId(id, ['ch_'], 'charge'));
    if (!isPix(transaction)) throw notFound('charge');
    return transaction;
  }
}
