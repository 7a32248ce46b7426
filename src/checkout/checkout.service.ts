import { Injectable } from '@nestjs/common';
import { AccountsService, type Picture, readPicture } from '../accounts/index.js';
import { qrPng } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { notFound } from '../core/errors/index.js';
import { parseId } from '../core/ids.js';
import { mayShowPayable, type Transaction, TransactionsService } from '../transactions/index.js';
import {
  type CheckoutStatus,
  type CheckoutView,
  type ReceiptView,
  toCheckoutStatus,
  toCheckoutView,
  toReceiptView,
} from './checkout.view.js';

/** Data for a visitor who knows only a checkout address. Accepts `<uuid>` and `ch_<uuid>`. */
@Injectable()
export class CheckoutService {
  constructor(
    private readonly transactions: TransactionsService,
    private readonly accounts: AccountsService,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 */
  async view(id: string): Promise<CheckoutView> {
    const transaction = await this.#transaction(id);
    const account = await this.accounts.details(transaction.accountId);
    return toCheckoutView(transaction, account, this.clock.now());
  }

  /**
   * The receipt of a payment by any method. @returns null when it is unpaid, or was paid more than 30 days ago @throws
   * ApiError 404
   */
  async receipt(id: string): Promise<ReceiptView | null> {
    const transaction = await this.#transaction(id);
    const account = await this.accounts.details(transaction.accountId);
    return toReceiptView(transaction, account, this.clock.now());
  }

  /** The merchant's picture. @throws ApiError 404, also when there is none */
  async logo(id: string): Promise<Picture> {
    const { logo } = await this.accounts.details((await this.#transaction(id)).accountId);
    const picture = logo === null ? null : readPicture(logo);
    if (!picture) throw notFound('logo');
    return picture;
  }

  /** @throws ApiError 404 */
  async status(id: string): Promise<CheckoutStatus> {
    return toCheckoutStatus(await this.#transaction(id));
  }

  /**
   * A PNG of the charge's code, also after payment or expiry: a page that embeds the picture keeps it.
   * @throws ApiError 404, also for a charge without code and for a cancelled one
   */
  async qr(id: string): Promise<Buffer> {
    const charge = await this.#transaction(id);
    const { brCode } = charge;
    if (brCode === null || !mayShowPayable(charge)) throw notFound('QR code');
    return qrPng(brCode);
  }

  #transaction(id: string): Promise<Transaction> {
    return this.transactions.getPublic(parseId(id, ['ch_'], 'charge'));
  }
}
