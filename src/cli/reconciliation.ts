import { moneyText } from '../core/money/index.js';
import type {
  BalanceComparison,
  Difference,
  DifferenceKind,
  FeeReconciliation,
  PayoutComparison,
  PayoutDifference,
  PayoutDifferenceKind,
  PayoutSide,
  Reconciliation,
  Side,
} from '../reconciliation/index.js';

interface Explanation {
  readonly meaning: string | ((difference: Difference) => string);
  readonly remedy: string;
}

const EXPLANATIONS: Readonly<Record<DifferenceKind, Explanation>> = {
  unreadable: {
    meaning: "in the acquirer's list, and cannot be read",
    remedy:
      'It is credited to no account before it can be read. The log says where it is wrong (`an answer of the PSP is not believed`): tell the PSP, and us. What has an id is in GET /v1/operations/unreadable.',
  },
  missing_here: {
    meaning: 'received by the acquirer, not known here',
    remedy: 'Its list is read every minute; if it stays away, see why in the log.',
  },
  missing_there: {
    meaning: "settled here, not in the acquirer's list",
    remedy: 'Ask the PSP what has become of it, before its money is paid out.',
  },
  amount_differs: { meaning: 'the amounts differ', remedy: 'Ask the PSP which one was received.' },
  return_not_asked: {
    meaning: 'money went back that was not asked for here',
    remedy: "If it was made in the bank's app, the balance here is too high by it; refund here instead.",
  },
  dispute_unknown: {
    meaning: ({ there }) =>
      `the bank ${there?.state === 'returned' ? 'took' : 'is about to take'} money for a dispute that has no case here`,
    remedy: 'Within a day it has one; if it waits for its payment, it is in GET /v1/operations/med/waiting.',
  },
  dispute_waits: {
    meaning: 'the bank has come to its end with a dispute whose case waits for an operator',
    remedy: "Decide it at the operators' desk: GET /v1/operations/med.",
  },
  dispute_amount_differs: {
    meaning: 'the amounts of a dispute differ',
    remedy:
      'Within a day the case follows the bank, or waits for an operator, unless one has dismissed what it says: then approve the case, or settle it with the PSP.',
  },
  dispute_state_differs: {
    meaning: 'a dispute stands differently',
    remedy:
      'Within a day the case follows the bank, unless an operator has dismissed what it says: then approve the case, or settle it with the PSP.',
  },
  dispute_missing_there: {
    meaning: 'a dispute lost here, of which the acquirer has taken nothing',
    remedy: "Ask the PSP what has become of it: the money is still with it, and off the merchant's balance.",
  },
  return_missing_there: {
    meaning: 'returned here, not known to the acquirer',
    remedy: 'Ask the PSP: the payer has not got it back.',
  },
  return_amount_differs: {
    meaning: 'the amounts of a return differ',
    remedy: 'Ask the PSP which one the payer has got back.',
  },
  return_state_differs: {
    meaning: 'a return stands differently',
    remedy:
      'While it is on its way here it is asked about again by itself; one that is over here is settled with the PSP.',
  },
  ledger_differs: {
    meaning: 'the ledger has another part of it at the acquirer',
    remedy: 'Run `ledger verify`; what it and this say is what to ask us with.',
  },
};

const ENTER_LOSS =
  'Enter it with POST /v1/operations/corrections as a `loss` of that amount without `charge_id`, with the end-to-end id as `bank_reference`.';

const PAYOUT_EXPLANATIONS: Readonly<Record<PayoutDifferenceKind, Omit<Explanation, 'meaning'> & { meaning: string }>> =
  {
    payout_unreadable: {
      meaning: "a send in the acquirer's list cannot be read",
      remedy: 'The log says where it is wrong (`an answer of the PSP is not believed`): tell the PSP, and us.',
    },
    payout_unknown_here: {
      meaning: 'money was sent that was not sent from here',
      remedy: `Somebody has sent it in the bank's app: the balance here is too high by it. ${ENTER_LOSS}`,
    },
    payout_given_back: {
      meaning: 'sent by the acquirer, and given back to the merchant here',
      remedy: `The merchant has the money twice. Ask the PSP whether it was paid. If so: ${ENTER_LOSS}`,
    },
    payout_twice: {
      meaning: 'sent more than once by the acquirer under one id',
      remedy: `Ask the PSP to get the second one back. Until then: ${ENTER_LOSS}`,
    },
    payout_missing_there: {
      meaning: "paid here, not in the acquirer's list",
      remedy: 'Ask the PSP what has become of it: its money should still be there, and off the balance here.',
    },
    payout_amount_differs: { meaning: 'the amounts of a send differ', remedy: 'Ask the PSP which one was sent.' },
    payout_state_differs: {
      meaning: 'a send stands differently',
      remedy: 'The list is read every hour, and the payout is queried: if it stays, see why in the log.',
    },
    payout_unfinished: {
      meaning: 'a send has no end for longer than the acquirer may examine it',
      remedy: 'Ask the PSP. A payout that it cannot find is in GET /v1/operations/payouts, for an operator to decide.',
    },
    payout_return_unknown: {
      meaning: 'money of a send came back that is not booked here',
      remedy:
        "A payout's return is booked when its list is read: within the hour, and for thirty days. A refund's, and a later one: enter it as a `loss` of the negative amount, with the return's id as `bank_reference`.",
    },
    payout_return_missing_there: {
      meaning: 'money of a send came back here, and the acquirer has no such return',
      remedy: "Ask the PSP: the merchant's balance is too high by it.",
    },
    payout_return_amount_differs: {
      meaning: 'the amounts of the return of a send differ',
      remedy: 'Ask the PSP which one came back.',
    },
  };

/** Amount in cents and, for a return or a send, its status. */
function sideText(side: Side | PayoutSide | null): string {
  if (side === null) return 'nothing';
  if (side.amount === null) return 'unreadable';
  const amount = `R$ ${(side.amount / 100).toFixed(2).replace('.', ',')}`;
  return side.state === null ? amount : `${amount} ${side.state}`;
}

function caseName(caseId: string): string {
  return `med_${caseId}`;
}

/** Two lines for each difference: what it means, and what to do about it. */
export function summaryOf(day: string, { acquirers, balance }: Reconciliation): string[] {
  const found = acquirers.flatMap(({ acquirer, differences, payouts }) => [
    ...differences.map((difference) => {
      const { kind, endToEndId, returnId, caseId, here, there } = difference;
      const name = [endToEndId ?? '(no id)', ...(returnId === null ? [] : [returnId])].join('/');
      const subject = [acquirer, name, ...(caseId === null ? [] : [caseName(caseId)])].join(' ');
      const { meaning, remedy } = EXPLANATIONS[kind];
      const said = typeof meaning === 'string' ? meaning : meaning(difference);
      return `  ${subject}: ${said} (here ${sideText(here)}, there ${sideText(there)})\n    ${remedy}`;
    }),
    ...(payouts?.differences ?? []).map((difference) => payoutText(acquirer, difference)),
  ]);
  if (balance && balance.difference !== 0) found.push(balanceText(balance));
  return found.length === 0 ? [] : [`${day}: ${found.length} difference${found.length === 1 ? '' : 's'}`, ...found];
}

function payoutText(acquirer: string, difference: PayoutDifference): string {
  const { kind, sendId, endToEndId, returnId, subject, here, there } = difference;
  const name = [endToEndId ?? sendId ?? '(no id)', ...(returnId === null ? [] : [returnId])].join('/');
  const { meaning, remedy } = PAYOUT_EXPLANATIONS[kind];
  const of = subject ? ` ${subjectName(subject)}` : '';
  return `  ${acquirer} ${name}${of}: ${meaning} (here ${sideText(here)}, there ${sideText(there)})\n    ${remedy}`;
}

function subjectName({ subject, id }: NonNullable<PayoutDifference['subject']>): string {
  return subject === 'payout' ? `po_${id}` : `refund ${id}`;
}

/** Names the difference of the balances, and its usual causes. */
function balanceText({ there, here, difference }: BalanceComparison): string {
  const text = (amount: number): string => moneyText(amount, 'BRL');
  const blocked = Object.entries(there.blocked).map(([cause, amount]) => `, ${text(amount)} blocked (${cause})`);
  const more = difference > 0 ? 'more' : 'less';
  return [
    `  balance: there is ${text(Math.abs(difference))} ${more} than the books say (there ${text(there.available)} available${blocked.join('')}; here ${text(here.held)} held, ${text(here.underWay)} of it under way)`,
    here.fees === 0
      ? null
      : `    The books have ${text(here.fees)} of fees: if the PSP takes them out of the balance, give --fees-debited.`,
    '    Settle the differences above first, and run it again: a payment of this moment may be on its way.',
    '    The rest is money that the books do not know, as an opening balance: enter it as a `loss`, borne by the merchant or the platform, negative if there is more.',
  ]
    .filter((line) => line !== null)
    .join('\n');
}

/** A line for each acquirer that could not be compared. */
export function failuresOf(day: string, { notCompared }: Reconciliation): string[] {
  return notCompared.map(
    ({ acquirer, error }) =>
      `${day}: ${acquirer} was not compared, the PSP did not answer as it should: ${error}\n` +
      '    Run `acquirer check`; if it is disconnected, after `acquirer configure` with its PSP and key.',
  );
}

/** Explains the difference between an invoice and our books, and what to do about it; empty when they agree. */
export function feeSummaryOf(
  account: string,
  month: string,
  { acquirer, here, invoice, difference }: FeeReconciliation,
): string[] {
  if (difference === 0) return [];
  const [said, booked, apart] = [invoice, here, Math.abs(difference)].map((amount) => moneyText(amount, 'BRL'));
  const body = {
    ...{ kind: 'bank_fee', account_id: account, mode: 'live', amount: difference, borne_by: 'platform' },
    ...{ acquirer, invoice_month: month },
  };
  return [
    `${month}: the invoice of ${acquirer} has ${said}, the books have ${booked}: ${apart} ${difference > 0 ? 'more' : 'less'}`,
    "    Compare the counts with the invoice's. If the schedule is wrong, `acquirer fees set` has another one from tomorrow on.",
    '    Enter the difference, with a reason and a key: POST /v1/operations/corrections, or on the dashboard under Corrections:',
    `    ${JSON.stringify(body)}`,
  ];
}

/** 1: there is a difference; 3: no difference was found, but an acquirer was not compared. */
export function exitCodeOf({ acquirers, notCompared, balance }: Reconciliation): number {
  if (balance && balance.difference !== 0) return 1;
  if (acquirers.some(({ differences, payouts }) => differences.length + (payouts?.differences.length ?? 0) > 0))
    return 1;
  return notCompared.length > 0 ? 3 : 0;
}

function differenceBody({ kind, endToEndId, returnId, caseId, here, there }: Difference): Record<string, unknown> {
  const case_id = caseId && caseName(caseId);
  return { kind, end_to_end_id: endToEndId, return_id: returnId, case_id, here, there };
}

function payoutsBody({ there, here, differences }: PayoutComparison): Record<string, unknown> {
  return {
    there,
    here,
    differences: differences.map(({ kind, sendId, endToEndId, returnId, subject, here: ours, there: theirs }) => ({
      ...{ kind, send_id: sendId, end_to_end_id: endToEndId, return_id: returnId },
      payout_id: subject?.subject === 'payout' ? subjectName(subject) : null,
      refund_id: subject?.subject === 'refund' ? subject.id : null,
      ...{ here: ours, there: theirs },
    })),
  };
}

/** Amounts in cents. */
export function reconciliationBody(result: Reconciliation): Record<string, unknown> {
  const { from, to, acquirers, notCompared, balance } = result;
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    acquirers: acquirers.map(({ acquirer, there, here, differences, payouts }) => ({
      acquirer,
      there,
      here,
      differences: differences.map(differenceBody),
      payouts: payouts && payoutsBody(payouts),
    })),
    balance: balance && {
      there: balance.there,
      here: { held: balance.here.held, under_way: balance.here.underWay, fees: balance.here.fees },
      difference: balance.difference,
    },
    not_compared: notCompared,
  };
}
