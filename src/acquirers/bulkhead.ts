/** Failures in a row after which an acquirer is taken for silent. */
const SILENT_AFTER = 8;
/** How many questions to a silent one wait for their answer at once. */
const WHILE_SILENT = 2;
/** How many questions to all silent ones together, half of the workers that ask (16). */
const ALL_WHILE_SILENT = 8;

/**
 * Keeps an acquirer that does not answer from taking every worker away from the others. Of one process; what is put off
 * comes back by its lease.
 */
export class Bulkhead {
  readonly #failures = new Map<string, number>();
  readonly #active = new Map<string, number>();

  /** How many more questions the acquirer may be asked now. */
  room(acquirer: string): number {
    if (!this.#isSilent(acquirer)) return Infinity;
    const waiting = this.#waiting();
    // Places for several that are silent: one of them may answer again.
    const most = waiting < ALL_WHILE_SILENT / 2 ? WHILE_SILENT : 1;
    return Math.min(most - (this.#active.get(acquirer) ?? 0), ALL_WHILE_SILENT - waiting);
  }

  /** @returns false when it is not to be asked now; otherwise `leave` follows */
  enter(acquirer: string): boolean {
    if (this.room(acquirer) <= 0) return false;
    this.#active.set(acquirer, (this.#active.get(acquirer) ?? 0) + 1);
    return true;
  }

  leave(acquirer: string, answered: boolean): void {
    const active = (this.#active.get(acquirer) ?? 1) - 1;
    if (active === 0) this.#active.delete(acquirer);
    else this.#active.set(acquirer, active);
    if (answered) this.#failures.delete(acquirer);
    else this.#failures.set(acquirer, (this.#failures.get(acquirer) ?? 0) + 1);
  }

  #isSilent(acquirer: string): boolean {
    return (this.#failures.get(acquirer) ?? 0) >= SILENT_AFTER;
  }

  /** How many questions to silent ones wait. */
  #waiting(): number {
    let waiting = 0;
    for (const [acquirer, active] of this.#active) if (this.#isSilent(acquirer)) waiting += active;
    return waiting;
  }
}
