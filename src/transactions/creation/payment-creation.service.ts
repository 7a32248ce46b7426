import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { type Acquirer, AcquirersService, type PaymentMethod } from '../../acquirers/index.js';
import { newTxid, releaseTimeOf } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { Database, leaveGroup, type Tx } from '../../core/database/index.js';
import { business } from '../../core/errors/index.js';
import type { Answer, Claim } from '../../core/idempotency/index.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import { WorkService } from '../../core/work/index.js';
import { METHOD_RULES } from '../payment-methods.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import type { Metadata } from '../transaction.entity.js';
import { isPix, type Transaction, UNTOUCHED } from '../transaction.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { pixRequest } from './pix-draft.js';

export interface NewPayment {
  /** In the smallest unit of `currency`. */
  readonly amount: Amount;
  readonly currency: string;
  /** Each once, at least one. */
  readonly methods: readonly PaymentMethod[];
  readonly customer: {
    readonly id: string | null;
    readonly name: string | null;
    readonly document: string | null;
    readonly email: string | null;
  };
  readonly metadata: Metadata;
  readonly webhookUrl: string | null;
}

const MAX_CURRENCIES = 50;
/** How many currencies of accounts this process remembers; an account's currency never goes away. */
const MAX_KNOWN = 10_000;

/** Makes transactions that are answered at once; if an acquirer has to be called, that happens afterwards. */
@Injectable()
export class PaymentCreationService {
  readonly #known = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly acquirers: AcquirersService,
    private readonly work: WorkService,
    private readonly moves: TransactionMoves,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 422 `no_provider_configured` */
  draft(scope: Scope, account: Account, input: NewPayment): Transaction {
    const acquirer = this.#acquirer(scope, account, input);
    return withLocalCode(this.#draft(scope, account, acquirer.name, input), acquirer, account);
  }

  /**
   * Writes a payment with its key and its answer, and has the acquirer called later.
   * @throws ApiError 422 `currency_limit_reached`
   */
  async insert(claim: Claim, transaction: Transaction, answer: Answer): Promise<void> {
    const isAnnounced = !isPix(transaction) || transaction.brCode !== null;
    // A Pix with its code needs no call, unless the payment offers other methods too.
    const needsCall = transaction.brCode === null || transaction.paymentMethods.length > 1;
    // All deferred: keys, transactions, events and COMMIT of a group reach the database in one round trip.
    await this.database.inGroupCommit('creation', claim.membership, async (tx) => {
      await this.#assertCurrency(tx, transaction);
      claim.take(tx, transaction.id, answer);
      this.transactions.insert(tx, transaction);
      const type = isAnnounced ? 'transaction.created' : 'transaction.accepted';
      this.moves.tell(tx, type, transaction, null);
      if (needsCall) this.work.add(tx, 'acquirer', transaction.id, transaction.createdAt);
    });
  }

  /** @returns the payment as its first answer showed it */
  async created(scope: Scope, id: string): Promise<Transaction> {
    const transaction = await this.transactions.find(scope, id);
    if (!transaction) throw new Error(`The idempotency key names a payment that does not exist: ${id}`);
    return { ...transaction, status: 'WAITING_PAYMENT' };
  }

  /**
   * Limits the currencies of an account, because each answer about its money lists all of them. New currencies of one
   * account are added one after another.
   */
  async #assertCurrency(tx: Tx, { accountId, mode, currency }: Transaction): Promise<void> {
    const place = `${accountId} ${mode} ${currency}`;
    if (currency === 'BRL' || this.#known.has(place)) return;
    leaveGroup(tx);
    const known = await this.transactions.lockCurrencies(tx, { accountId, mode });
    if (known.includes(currency)) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.add(place);
    } else if (known.length >= MAX_CURRENCIES) {
      throw business('currency_limit_reached', `An account has at most ${MAX_CURRENCIES} currencies in each mode.`);
    }
  }

  #acquirer({ mode }: Scope, account: Account, { methods }: NewPayment): Acquirer {
    const acquirer = this.acquirers.for(mode, account);
    const missing = methods.filter((method) => !acquirer.capabilities.methods.includes(method));
    if (missing.length === 0) return acquirer;
    throw business('no_provider_configured', `No acquirer of this account offers ${missing.join(', ')}.`);
  }

  #draft(scope: Scope, account: Account, acquirer: string, input: NewPayment): Transaction {
    const now = this.clock.now();
    return {
      ...UNTOUCHED,
      id: newId(now),
      accountId: scope.accountId,
      mode: scope.mode,
      status: 'WAITING_PAYMENT',
      amount: input.amount,
      currency: input.currency,
      paymentMethods: input.methods,
      customerName: input.customer.name,
      customerDocument: input.customer.document,
      customerEmail: input.customer.email,
      metadata: input.metadata,
      acquirer,
      txid: newTxid(),
      webhookUrl: input.webhookUrl,
      customerId: input.customer.id,
      expiresAt: expiryOf(input.methods, now, account.defaultExpiresIn),
      createdAt: now,
      updatedAt: now,
    };
  }
}

/** Adds the Pix code at once if making it needs no call. */
function withLocalCode(transaction: Transaction, { pixIssuer }: Acquirer, account: Account): Transaction {
  if (!isPix(transaction) || pixIssuer.kind !== 'local') return transaction;
  return { ...transaction, brCode: pixIssuer.issue(pixRequest(transaction, account)).brCode };
}

/** Returns the longest expiry of the payment's methods: for a voucher the last millisecond of its last day. */
function expiryOf(methods: readonly PaymentMethod[], now: Date, defaultExpiresIn: number): Date {
  const voucherDays = Math.max(...methods.map((method) => METHOD_RULES[method].voucherDays ?? 0));
  if (voucherDays > 0) return releaseTimeOf(now, voucherDays + 1);
  return new Date(now.getTime() + defaultExpiresIn * 1000);
}
