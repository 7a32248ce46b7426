import { newReturnId } from '../../src/brazil/index.js';
import type { SimulatorState } from '../psp-simulator/simulator.js';
import { centsOf } from './live-pix-bank.js';
import type { PlannedPayout } from './payouts-plan.js';
import type { PayoutMerchant } from './payouts-stage.js';
import type { ServiceStage } from './service-stage.js';

/** A payout as the service has it. */
export interface BookedPayout {
  readonly id: string;
  readonly account_id: string;
  readonly status: string;
  readonly amount: number;
  readonly fee: number;
  readonly returned: number;
  readonly returns: number;
  readonly processing_reason: string | null;
}

export interface BookedWallet {
  readonly account_id: string;
  readonly available: number;
  readonly reserved: number;
  readonly clearing: number;
}

/** Rows of the service about all payouts. */
export async function bookedPayouts(stage: ServiceStage): Promise<readonly BookedPayout[]> {
  return stage.rows(
    `SELECT p.id, p.account_id, p.status, p.amount::float8, p.fee::float8, p.amount_returned::float8 AS returned,
       (SELECT count(*)::int FROM payout_returns r WHERE r.payout_id = p.id) AS returns, p.processing_reason
     FROM payouts p`,
  );
}

export async function bookedWallets(stage: ServiceStage): Promise<readonly BookedWallet[]> {
  const sum = (bucket: string): string =>
    `coalesce(sum(amount) FILTER (WHERE bucket = '${bucket}'), 0)::float8 AS ${bucket}`;
  return stage.rows(
    `SELECT account_id, ${['available', 'reserved', 'clearing'].map(sum).join(', ')}
     FROM balances WHERE mode = 'live' GROUP BY account_id`,
  );
}

export interface PayoutsVerdict {
  /** Payouts by their status here. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly sentOnce: number;
  /** Cents that the bank holds, by its own books and by ours. */
  readonly held: { readonly atBank: number; readonly here: number };
  readonly violations: readonly string[];
}

type Send = SimulatorState['sends'][number];

/** Statuses of a payout here that fit a send of each status at the bank, and no send. */
const FITTING: Readonly<Record<string, readonly string[]>> = {
  REALIZADO: ['PAID', 'REFUNDED'],
  NAO_REALIZADO: ['FAILED'],
  none: ['FAILED', 'CANCELLED'],
};

/**
 * Compares the plan with both sides' books. Pure.
 * @param answered ids of the payouts, by their number in the plan @param funds cents that each merchant received
 */
export function judgePayouts(
  plan: readonly PlannedPayout[],
  answered: readonly string[],
  { sends, balances }: Pick<SimulatorState, 'sends' | 'balances'>,
  here: { readonly payouts: readonly BookedPayout[]; readonly wallets: readonly BookedWallet[] },
  merchants: readonly PayoutMerchant[],
  funds: number,
): PayoutsVerdict {
  const sendsById = new Map<string, Send[]>();
  for (const send of sends) {
    const name = send.idEnvio ?? '';
    sendsById.set(name, [...(sendsById.get(name) ?? []), send]);
  }
  const booked = new Map(here.payouts.map((payout) => [payout.id, payout]));
  const violations = plan.flatMap(({ number, amount }) => {
    const id = answered[number] ?? '';
    const payout = booked.get(id);
    if (!payout) return [`payout ${String(number)} is not here`];
    return judgeOne(payout, amount, sendsById.get(newReturnId(id)) ?? []).map(
      (what) => `payout ${String(number)} (${id}, ${payout.status}): ${what}`,
    );
  });
  const names = new Set(here.payouts.map(({ id }) => newReturnId(id)));
  const strange = sends.filter(({ idEnvio }) => !names.has(idEnvio ?? ''));
  if (strange.length > 0) violations.push(`${String(strange.length)} sends at the bank under other names`);
  if (here.payouts.length !== plan.length || new Set(answered).size !== plan.length) {
    violations.push(`${String(here.payouts.length)} payouts instead of ${String(plan.length)}`);
  }
  const wallets = new Map(here.wallets.map((wallet) => [wallet.account_id, wallet]));
  const totals = new Map(balances.map(({ clientId, total }) => [clientId, total]));
  for (const { accountId, clientId } of merchants) {
    const wallet = wallets.get(accountId);
    const gone = here.payouts
      .filter(({ account_id: owner, status }) => owner === accountId && (status === 'PAID' || status === 'REFUNDED'))
      // The fee comes back with the last part of the amount.
      .reduce((all, { status, amount, fee, returned }) => all + amount - returned + (status === 'PAID' ? fee : 0), 0);
    const total = totals.get(clientId);
    const held = wallet && -wallet.clearing;
    if (held !== total) violations.push(`${clientId} has ${String(total)} at the bank and ${String(held)} by clearing`);
    if (wallet?.available !== funds - gone || wallet.reserved !== 0) {
      violations.push(
        `${clientId} has ${String(wallet?.available)} instead of ${String(funds - gone)}, ${String(wallet?.reserved)} reserved`,
      );
    }
  }
  const statuses: Record<string, number> = {};
  for (const { status } of here.payouts) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    statuses,
    sentOnce: [...sendsById.values()].filter(({ length }) => length === 1).length,
    held: {
      atBank: balances.reduce((all, { total }) => all + total, 0),
      here: here.wallets.reduce((all, { clearing }) => all - clearing, 0),
    },
    violations,
  };
}

function judgeOne(payout: BookedPayout, amount: number, sends: readonly Send[]): string[] {
  const [send] = sends;
  if (sends.length > 1) return [`sent ${String(sends.length)} times`];
  const atBank = send?.status ?? 'none';
  if (FITTING[atBank]?.includes(payout.status) !== true) return [`the bank has ${atBank}`];
  if (payout.amount !== amount || (send && centsOf(send.valor) !== amount)) return ['another amount'];
  const back = atBank === 'REALIZADO' ? (send?.devolucoes ?? []) : [];
  const cents = back.reduce((sum, { valor }) => sum + centsOf(valor), 0);
  if (payout.returned !== cents || payout.returns !== back.length) {
    return [`${String(payout.returned)} came back here, ${String(cents)} at the bank`];
  }
  return payout.status === 'REFUNDED' && cents !== amount ? ['refunded, and not all came back'] : [];
}
