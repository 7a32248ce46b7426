/**
 * The announced end of this process: readiness is 503, no connection is kept alive any more, streams end, and requests
 * are still served.
 */
export class Drain {
  readonly #controller = new AbortController();

  /** Aborted once the end is announced. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isUnderWay(): boolean {
    return this.signal.aborted;
  }

  begin(): void {
    this.#controller.abort();
  }
}
