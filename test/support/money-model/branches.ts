/** All branches of the model's rules. If the stories never reach a branch, they prove nothing about it. */
export const BRANCHES = [
  // Payments
  ...([
    'credited',
    'held for review',
    'wrong amount',
    'late',
    'duplicate',
    'of a closed charge',
    'of another payer',
  ] as const),
  ...(['in the last millisecond', 'told after the expiry', 'reserve kept back', 'pending until a later day'] as const),
  ...(['review accepted', 'review returned', 'cancelled', 'cancelled while held', 'ended unpaid'] as const),
  ...(['sale below the bank fee', 'review accepted of a sale below the bank fee'] as const),
  // Refunds
  ...(['refund by cashout', 'refund by devolution', 'refund of a card', 'refund of the rest'] as const),
  ...(['refund refused: disputed', 'refund refused: more than is left', 'refund refused: balance'] as const),
  ...([
    'refund refused: balance, by its fee alone',
    'refund refused: way',
    'refund at the same moment as another',
  ] as const),
  ...(['refund sent', 'refund arrived', 'refund refused by the bank', 'fee of a failed cashout given back'] as const),
  ...([
    'refund stopped: a case is open',
    'refund stopped: a ruling has taken its money, and the sale is paid again',
  ] as const),
  ...(['refund sent after a ruling that left its money', 'refund arrived while a case is open'] as const),
  ...(['call lost before the bank has it', 'call lost after the bank has it', 'lost call made again'] as const),
  ...([
    'lost call only asked about: a case is open',
    'lost call only asked about: a ruling has taken its money',
    'lost call given up after ten questions in eight minutes',
  ] as const),
  ...(['not given up: too few questions', 'not given up: too early', 'lost cashout given up'] as const),
  ...(['sale refunded', 'sale refunded when its dispute ended', 'failed refund held for a case'] as const),
  ...(['failed refund: a lost case is in doubt', 'failed refund: the sale is paid again'] as const),
  // Disputes
  ...([
    'case opened',
    'case opened, holding less than it claims',
    'case kept back: amount',
    'case kept back: nothing to hold',
  ] as const),
  ...(['case of what a cashout gave back', 'below zero by a case', 'card disputed twice in one way'] as const),
  ...([
    'case won',
    'case lost',
    'case lost on appeal',
    'case appealed',
    'case accepted',
    'case dismissed',
    'case approved',
  ] as const),
  ...([
    'case approved with another amount',
    'approval refused',
    'case beside another one',
    'case beside two others',
  ] as const),
  ...([
    'released money held for another case',
    'sale stays disputed: another case',
    'sale stays disputed: all is lost',
  ] as const),
  ...(['sale paid again, less what was lost', 'ruling of a case that is over'] as const),
  ...(['contradiction: won after all', 'contradiction: another amount'] as const),
  ...(['contradiction takes what a younger case holds', 'contradiction takes of the youngest of two'] as const),
  ...(['contradiction without anything to move', 'ruled before it was approved'] as const),
  ...(['contradiction: more was taken', 'contradiction: less was taken'] as const),
  // Claims that the bank restates
  ...(['claim raised', 'claim lowered', 'claim of a younger case restated', 'claim as the case is again'] as const),
  ...([
    'claim of a case kept back restated',
    'claim of a dismissed case restated',
    'restated claim opens the case',
  ] as const),
  ...(['claim restated of a case that is over', 'restated claim takes the doubt away'] as const),
  ...(['ruling waits for the amount', 'ruling carried out with the amount', 'acceptance refused: amount'] as const),
  ...(['ruling dismissed', 'dismissed ruling approved', 'dismissal refused'] as const),
  ...([
    'restated claim approved as it was',
    'restated claim holds more',
    'restated claim holds less',
    'restated claim leaves money to another case',
    'restated claim finds too little',
  ] as const),
  // Entries of operators
  ...(['loss applied at once', 'loss waits', 'loss approved', 'loss rejected', 'loss given back'] as const),
  ...([
    'loss refused: more than is left',
    'loss refused: a case holds it',
    'loss refused: a cashout gave it back',
  ] as const),
  ...(['loss refused: booked by its id', 'loss refused: its refund is on its way'] as const),
  ...(['loss refused: another one waits', 'loss refused: more comes back than was lost'] as const),
  ...(['approval refused: taken meanwhile', 'second operator required', 'loss given back held for a case'] as const),
  ...([
    'loss given back: a lost case is in doubt',
    'loss given back: the sale is disputed',
    'case of what a loss has left',
    'refund of what a loss has left',
  ] as const),
  ...(['bank fee', 'borne by the platform', 'waits because of what was made alone before'] as const),
  // Payouts
  ...([
    'payout refused: destination',
    'payout refused: not the own account',
    'payout refused: duplicate',
    'payout repeated after one that ended',
    'payout repeated on purpose',
    'payout of all that a limit leaves',
    'payout refused: balance, by its fee alone',
    'payout refused: balance',
    'payout of the whole balance',
    'payout to a saved destination',
    'payout to an inline destination',
    'payout at the same moment as another',
    'payout refused: limit of one payout',
    'payout refused: limit of the day',
    'payout refused: limit of the night',
    'payout put off until the morning',
    'payout waits for approval',
    'payout waits for its new destination',
    'payout to a known destination',
    'payout to an approved destination',
    'inline payout to an approved destination',
    'payout let go by the approval of its destination',
    'payout approved',
    'payout let go by an owner',
    'approval refused: the payout does not wait',
    'approval of a payout that waits for the morning',
    'payout approved, and waits for its new destination',
    'payout refused by a second person',
    'approval refused: by the asker',
    'approval refused: by the one who approved the destination',
    'cancellation refused: the bank has the payout',
    'payout cancelled',
    'payout not uncertain',
    'payout resolved by an operator',
    'payout failed by an operator before it was sent',
    'payout failed at the bank',
    'bank unsure about a paid payout',
    'payout under review',
    'bank does not answer about a payout',
    'lost payout sent again',
    'lost payout given up after an hour',
    'payout call lost before the bank has it',
    'payout call lost after the bank has it',
    'payout refused by the first call',
    'payout refused by a later call',
    'later refusal of a payout ignored',
    'payout put back',
    'payout paid',
    'report of a payout repeated',
    'two returns of a payout reported at once',
    'payout returned whole',
    'payout returned in parts',
    'fee of a returned payout given back',
    'part of a payout returned',
    'payout revoked after a partial return',
    'payout revoked',
    'fee of a failed payout given back',
    'no occurrence: not yet',
    'occurrence: destination removed',
    'occurrence: not the own account',
    'occurrence: below the minimum',
    'occurrence: nothing above what stays',
    'occurrence: a limit leaves too little',
    'occurrence: paid up to a limit',
    'occurrence: paid',
  ] as const),
] as const;

export type Branch = (typeof BRANCHES)[number];

/** Counts how often each branch was reached. */
export class Reached {
  readonly #times = new Map<Branch, number>();

  add(branch: Branch): void {
    this.#times.set(branch, (this.#times.get(branch) ?? 0) + 1);
  }

  /** Branches that were never reached. */
  get missing(): Branch[] {
    return BRANCHES.filter((branch) => !this.#times.has(branch));
  }

  toString(): string {
    return BRANCHES.map((branch) => `${String(this.#times.get(branch) ?? 0).padStart(6)}  ${branch}`).join('\n');
  }
}
