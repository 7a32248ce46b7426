import { within } from '../within.js';
import type { Poller } from './poller.js';

/** How long a shutdown waits for runs; what they leave is due again when its lease ends. */
const SHUTDOWN_MS = 10_000;

/** Limits the parallel runs of claimed work in this process. A place that becomes free wakes the task that claims. */
export class Runs {
  readonly #underWay = new Set<Promise<void>>();
  #isClosed = false;

  /** @param task of the poller, which claims as much work as there is room for */
  constructor(
    private readonly poller: Poller,
    private readonly task: string,
    private readonly places: number,
  ) {}

  /** How many more runs can begin. */
  get room(): number {
    return this.#isClosed ? 0 : this.places - this.#underWay.size;
  }

  /**
   * Begins a run. If it fails, that is logged; after `end` nothing begins.
   * @param subject identifies the work in the log
   */
  begin(subject: object, work: () => Promise<void>): void {
    if (this.#isClosed) return;
    const run = work()
      .catch((error: unknown) => this.poller.failed(this.task, error, subject))
      .then(() => {
        this.#underWay.delete(run);
        // More may be due than there was room for. A claim for each free place would cost more than it gains.
        if (this.#underWay.size === Math.floor(this.places / 2)) this.poller.wake(this.task);
      });
    this.#underWay.add(run);
  }

  /**
   * Lets no more runs begin, and waits for those under way. Call it in `onModuleDestroy`: later hooks find the clients
   * of acquirers closed, and an answer that was not read would count as the acquirer's failure.
   */
  async end(): Promise<void> {
    this.#isClosed = true;
    await within(SHUTDOWN_MS, Promise.all(this.#underWay));
  }
}
