import type { SimulatorState } from '../psp-simulator/simulator.js';
import { newReturnId } from '../../src/brazil/index.js';
import { centsOf } from './live-pix-bank.js';
import type { BookedPayment, Books } from './live-pix-books.js';
import type { PlannedPayment } from './live-pix-plan.js';

/** Ids in the service's answers to the merchant about a planned payment. */
export interface Answered {
  /** The payment's id without prefix. */
  readonly id: string;
  readonly txid: string;
  readonly refundIds: string[];
}

export interface Verdict {
  readonly creditedOnce: number;
  readonly notCreditedOnce: number;
  readonly refundsMade: number;
  readonly refundsFailedAtBank: number;
  readonly refundsWrong: number;
  /** Second payments of a charge that were returned automatically. */
  readonly sentBack: number;
  /** Attempts without any trace here or at the bank. */
  readonly attemptsForNothing: number;
  /** Cents that the bank holds, by its own books and by ours. */
  readonly held: { readonly atBank: number; readonly here: number };
  readonly violations: readonly string[];
}

type Bank = Pick<SimulatorState, 'cobs' | 'pix'>;

/** Compares the plan with the answers to the merchant, the bank's bookings, and our books. Pure. */
export function judge(
  plan: readonly PlannedPayment[],
  answered: readonly Answered[],
  bank: Bank,
  here: Books,
): Verdict {
  const booked = new Map(here.payments.map((payment) => [payment.id, payment]));
  const findings = plan.map((planned) => {
    const answer = answered[planned.number];
    const payment = answer && booked.get(answer.id);
    if (!answer || !payment) return { ...NOTHING, violations: [`payment ${String(planned.number)} is not here`] };
    return judgePayment(planned, answer, payment, bank, here);
  });
  const sum = (count: (finding: Finding) => number): number => findings.reduce((all, each) => all + count(each), 0);
  const txids = new Set(answered.map(({ txid }) => txid));
  const others = here.payments.filter(({ txid }) => !txids.has(txid));
  const held = { atBank: heldBy(bank), here: here.clearing };
  return {
    creditedOnce: sum(({ isCredited }) => (isCredited ? 1 : 0)),
    notCreditedOnce: sum(({ isCredited }) => (isCredited ? 0 : 1)),
    refundsMade: sum(({ made }) => made),
    refundsFailedAtBank: sum(({ failed }) => failed),
    refundsWrong: sum(({ wrong }) => wrong),
    sentBack: sum(({ sentBack }) => sentBack),
    attemptsForNothing: others.length,
    held,
    violations: [
      ...findings.flatMap(({ violations }) => violations),
      ...judgeRest(txids, others, findings, bank, here),
      ...(held.atBank === held.here
        ? []
        : [`the bank holds ${String(held.atBank)} and clearing says ${String(held.here)}`]),
    ],
  };
}

/** The amount the bank has received and not returned. */
function heldBy({ pix }: Bank): number {
  const back = pix.flatMap(({ devolucoes = [] }) => devolucoes.filter(({ status }) => status === 'DEVOLVIDO'));
  const sum = (all: readonly { readonly valor: string }[]): number =>
    all.reduce((cents, { valor }) => cents + centsOf(valor), 0);
  return sum(pix) - sum(back);
}

interface Finding {
  readonly isCredited: boolean;
  readonly made: number;
  readonly failed: number;
  readonly wrong: number;
  readonly sentBack: number;
  /** Requested devolutions, as `<end-to-end id>/<id>`. */
  readonly devolutions: readonly string[];
  readonly violations: readonly string[];
}

const NOTHING: Finding = {
  isCredited: false,
  made: 0,
  failed: 0,
  wrong: 0,
  sentBack: 0,
  devolutions: [],
  violations: [],
};

function judgePayment(
  { number, amount, endToEndId, secondEndToEndId, refunds }: PlannedPayment,
  { id, refundIds }: Answered,
  payment: BookedPayment,
  bank: Bank,
  here: Books,
): Finding {
  const name = `payment ${String(number)} (${id})`;
  const violations: string[] = [];
  const all = [endToEndId, ...(secondEndToEndId === null ? [] : [secondEndToEndId])];
  const { credited, entries, entered, end_to_end_id: creditedId } = payment;
  const isCredited =
    credited === 1 && entries === 1 && entered === amount && creditedId !== null && all.includes(creditedId);
  if (!isCredited) {
    violations.push(
      `${name} of ${String(amount)} is ${payment.status}: credited ${String(credited)} times, ` +
        `${String(entries)} entries of ${String(entered)}`,
    );
  }
  const devolutions: string[] = [];
  const devolutionOf = (pixId: string, returnId: string, cents: number): string => {
    devolutions.push(`${pixId}/${returnId}`);
    const found = bank.pix
      .filter((pix) => pix.endToEndId === pixId)
      .flatMap(({ devolucoes = [] }) => devolucoes.filter(({ id: known }) => known === returnId));
    if (found.length !== 1 || found[0] === undefined) return `${String(found.length)} devolutions`;
    return centsOf(found[0].valor) === cents ? found[0].status : `a devolution of ${found[0].valor}`;
  };
  let [made, failed, wrong] = [0, 0, 0];
  for (const refund of refunds) {
    const own = here.refunds.filter((each) => each.transaction_id === id && each.amount === refund.amount);
    const [only] = own;
    const isAnswered = own.length === 1 && only !== undefined && refundIds.includes(only.id);
    const atBank = only ? devolutionOf(creditedId ?? '', newReturnId(only.id), refund.amount) : 'nothing';
    const expected = refund.failsAtBank ? ['FAILED', 'NAO_REALIZADO'] : ['REFUNDED', 'DEVOLVIDO'];
    if (isAnswered && only.status === expected[0] && atBank === expected[1]) {
      if (refund.failsAtBank) failed += 1;
      else made += 1;
      continue;
    }
    wrong += 1;
    violations.push(
      `${name}: a refund of ${String(refund.amount)} should be ${expected.join(' and ')}; ${String(own.length)} here, ` +
        `${only?.status ?? 'none'}, at the bank ${atBank}`,
    );
  }
  let sentBack = 0;
  for (const other of all.filter((each) => each !== creditedId)) {
    const returns = here.returns.filter((each) => each.end_to_end_id === other);
    const [only] = returns;
    const atBank = only ? devolutionOf(other, only.return_id, amount) : 'nothing';
    if (returns.length === 1 && only?.status === 'RETURNED' && atBank === 'DEVOLVIDO') sentBack += 1;
    else
      violations.push(`${name}: the second Pix ${other} is ${only?.status ?? 'not'} sent back, at the bank ${atBank}`);
  }
  return { isCredited, made, failed, wrong, sentBack, devolutions, violations };
}

/** Judges payments and devolutions that are not in the plan. */
function judgeRest(
  txids: ReadonlySet<string>,
  others: readonly BookedPayment[],
  findings: readonly Finding[],
  bank: Bank,
  here: Books,
): string[] {
  const asked = new Set(findings.flatMap(({ devolutions }) => devolutions));
  const unasked = bank.pix.flatMap(({ endToEndId, devolucoes = [] }) =>
    devolucoes.map(({ id }) => `${endToEndId}/${id}`).filter((name) => !asked.has(name)),
  );
  const payable = bank.cobs.filter(({ txid, status }) => !txids.has(txid) && status === 'ATIVA');
  const alive = others.filter(({ status }) => status !== 'REFUSED');
  const refunds = findings.reduce((sum, { made, failed, wrong }) => sum + made + failed + wrong, 0);
  const credits = here.payments.reduce((sum, { entered }) => sum + entered, 0);
  const debits = here.refunds.reduce((sum, { status, amount }) => sum + (status === 'REFUNDED' ? amount : 0), 0);
  return [
    ...unasked.map((name) => `a devolution that nobody asked for: ${name}`),
    ...payable.map(({ txid }) => `a charge at the bank that no merchant was told of: ${txid}`),
    ...alive.map(({ id, status }) => `a ${status} payment that no merchant was told of: ${id}`),
    ...(here.refunds.length === refunds
      ? []
      : [`${String(here.refunds.length)} refunds instead of ${String(refunds)}`]),
    ...(here.available === credits - debits
      ? []
      : [`the merchant has ${String(here.available)} instead of ${String(credits - debits)}`]),
  ];
}
