/** Failures in a row after which an acquirer counts as silent. */
const SILENT_AFTER = 8;
/** Maximum number of queries to one silent acquirer that wait for their answer. */
const WHILE_SILENT = 2;
/** Maximum number of queries to all silent acquirers together: half of the workers that query (16). */
const ALL_WHILE_SILENT = 8;

/**
 * Keeps an acquirer that does not answer from blocking every worker. Counts within one process. A query that is put off
 * is due again when its lease ends.
 */
export class Bulkhead {
  readonly #failures = new Map<string, number>();
  readonly #active = new Map<string, number>();

  /** How many more queries may be sent to the acquirer now. */
  room(acquirer: string): number {
    if (!this.#isSilent(acquirer)) return Infinity;
    const waiting = this.#waiting();
    // If several acquirers are silent, each keeps a place: any of them may answer again.
    const most = waiting < ALL_WHILE_SILENT / 2 ? WHILE_SILENT : 1;
    return Math.min(most - (this.#active.get(acquirer) ?? 0), ALL_WHILE_SILENT - waiting);
  }

  /** @returns false when the acquirer must not be queried now; otherwise the caller calls `leave` afterwards */
  enter(acquirer: string): boolean {
    if (this.room(acquirer) <= 0) return false;
    this.#active.set(acquirer, (this.#active.get(acquirer) ?? 0) + 1);
    return true;
  }

  /** @param answered null: the acquirer was not queried after all */
  leave(acquirer: string, answered: boolean | null): void {
    const active = (this.#active.get(acquirer) ?? 1) - 1;
    if (active === 0) this.#active.delete(acquirer);
    else this.#active.set(acquirer, active);
    if (answered === null) return;
    if (answered) this.#failures.delete(acquirer);
    else this.#failures.set(acquirer, (this.#failures.get(acquirer) ?? 0) + 1);
  }

  #isSilent(acquirer: string): boolean {
    return (this.#failures.get(acquirer) ?? 0) >= SILENT_AFTER;
  }

  /** Counts the queries to silent acquirers that wait. */
  #waiting(): number {
    let waiting = 0;
    for (const [acquirer, active] of this.#active) if (this.#isSilent(acquirer)) waiting += active;
    return waiting;
  }
}
