/** Each branch of each rule that the model knows. A walk that never reaches one of them would prove nothing about it. */
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
    'case of what a loss has left',
    'refund of what a loss has left',
  ] as const),
  ...(['bank fee', 'borne by the platform', 'waits because of what was made alone before'] as const),
] as const;

export type Branch = (typeof BRANCHES)[number];

/** How often each branch was reached. */
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
