import type { Difference, DifferenceKind, Reconciliation, Side } from '../reconciliation/index.js';

const MEANINGS: Readonly<Record<DifferenceKind, string>> = {
  missing_here: 'received by the acquirer, not known here',
  missing_there: "settled here, not in the acquirer's list",
  amount_differs: 'the amounts differ',
  return_not_asked: 'money went back, and nobody here asked for it',
  dispute_unknown: 'the bank took money for a dispute that has no case here',
  return_missing_there: 'returned here, not known to the acquirer',
  return_amount_differs: 'the amounts of a return differ',
  return_state_differs: 'a return stands differently',
};

/** Cents, and for a return how it stands. */
function sideText(side: Side | null): string {
  if (side === null) return 'nothing';
  const amount = `R$ ${(side.amount / 100).toFixed(2).replace('.', ',')}`;
  return side.state === null ? amount : `${amount} ${side.state}`;
}

/** One line for each difference, with what it means; none when there is none. */
export function summaryOf(day: string, { acquirers }: Reconciliation): string[] {
  const lines = acquirers.flatMap(({ acquirer, differences }) =>
    differences.map(({ kind, endToEndId, returnId, here, there }) => {
      const name = returnId === null ? endToEndId : `${endToEndId}/${returnId}`;
      return `  ${acquirer} ${name}: ${MEANINGS[kind]} (here ${sideText(here)}, there ${sideText(there)})`;
    }),
  );
  return lines.length === 0 ? [] : [`${day}: ${lines.length} difference${lines.length === 1 ? '' : 's'}`, ...lines];
}

function differenceBody({ kind, endToEndId, returnId, here, there }: Difference): Record<string, unknown> {
  return { kind, end_to_end_id: endToEndId, return_id: returnId, here, there };
}

/** Amounts in cents. */
export function reconciliationBody({ from, to, acquirers }: Reconciliation): Record<string, unknown> {
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    acquirers: acquirers.map(({ acquirer, there, here, differences }) => ({
      acquirer,
      there,
      here,
      differences: differences.map(differenceBody),
    })),
  };
}
