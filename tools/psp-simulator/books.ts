import { type Bank } from './bank.js';
import { type Merchant, type Pix, type Send } from './model.js';
import type { blocking, movement } from './settings.js';
import type * as z from 'zod';

/** Cents of an account. */
export interface Balance {
  /** All money, the blocked part too. */
  readonly total: number;
  readonly blockedByCourt: number;
  readonly blockedByMed: number;
  /** The money that can be sent; negative if more is blocked than there is. */
  readonly available: number;
}

/** The balances of all merchants: each is the sum of its bookings, made anew whenever it is read. */
export class Books {
  readonly #moved = new Map<Merchant, number>();
  readonly #blocked = new Map<Merchant, { judicial: number; med: number }>();

  constructor(
    private readonly bank: Bank,
    private readonly sendsOf: (merchant: Merchant) => readonly Send[],
  ) {}

  balance(merchant: Merchant): Balance {
    const received = this.bank.pixOf(merchant);
    const { judicial, med } = this.#blocked.get(merchant) ?? { judicial: 0, med: 0 };
    const total =
      merchant.openingBalance +
      (this.#moved.get(merchant) ?? 0) +
      sum(received.map((pix) => pix.amount - sum(pix.returns.filter(isGone).map(({ amount }) => amount)))) -
      sum(this.sendsOf(merchant).map(costOf));
    const blockedByMed = med + sum(received.map(heldByMed));
    return { total, blockedByCourt: judicial, blockedByMed, available: total - judicial - blockedByMed };
  }

  /** @throws Refusal */
  move({ clientId, amount }: z.output<typeof movement>): Balance {
    const merchant = this.bank.onlyMerchant(clientId);
    this.#moved.set(merchant, (this.#moved.get(merchant) ?? 0) + amount);
    return this.balance(merchant);
  }

  /** @throws Refusal */
  block({ clientId, judicial, med }: z.output<typeof blocking>): Balance {
    const merchant = this.bank.onlyMerchant(clientId);
    const before = this.#blocked.get(merchant) ?? { judicial: 0, med: 0 };
    this.#blocked.set(merchant, { judicial: judicial ?? before.judicial, med: med ?? before.med });
    return this.balance(merchant);
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/** A devolution that the merchant requested leaves the account at once; one of the MED when it is settled. */
function isGone({ status, nature }: Pix['returns'][number]): boolean {
  return status === 'DEVOLVIDO' || (status === 'EM_PROCESSAMENTO' && nature === 'ORIGINAL');
}

function heldByMed(pix: Pix): number {
  const open = pix.returns.filter(({ status, nature }) => status === 'EM_PROCESSAMENTO' && nature !== 'ORIGINAL');
  return sum(open.map(({ amount }) => amount));
}

/** Cents that a send has taken from the account so far. */
function costOf(send: Send): number {
  if (send.status === 'NAO_REALIZADO') return 0;
  return send.amount + send.fee - sum(send.returns.map(({ amount }) => amount));
}
