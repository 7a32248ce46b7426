import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../log/index.js';

/** A pass of work. `true` means there is more, and the next pass follows at once. */
export type PollTask = () => Promise<boolean | void>;

/** Runs `work` once after `ms`. Returns a function that cancels it. */
export type Timer = (work: () => void, ms: number) => () => void;

type PollerLogger = Pick<Logger, 'error'>;

export interface PollerOptions {
  logger: PollerLogger;
  /** Whether this process runs workers; default true. */
  runsWorkers?: boolean;
  /** A random number from 0 to below 1, for the jitter; default Math.random. */
  random?: () => number;
  /** Default setTimeout. */
  timer?: Timer;
}

interface Entry {
  readonly name: string;
  readonly intervalMs: number;
  readonly task: PollTask;
  cancelTimer: (() => void) | undefined;
  /** When the timer ends, by performance.now(). */
  dueAt: number;
  /** Pause after the current run, if shorter than the interval. */
  restMs: number;
  running: Promise<void> | undefined;
  again: boolean;
}

const RESTING = { cancelTimer: undefined, dueAt: Infinity, restMs: Infinity, running: undefined, again: false };

/**
 * Runs named tasks repeatedly in this process: relay, sweepers, expiry. A task never overlaps itself and never delays
 * other tasks. An error is logged and never stops the loop. Several processes may run the same task, so tasks claim
 * their rows (`FOR UPDATE SKIP LOCKED`).
 */
export class Poller {
  private readonly entries = new Map<string, Entry>();
  /** Tasks that were woken before they were there. Queues hand jobs over before the application has started. */
  private readonly woken = new Set<string>();
  private readonly logger: PollerLogger;
  private readonly runsWorkers: boolean;
  private readonly random: () => number;
  private readonly timer: Timer;
  private stopped = false;

  constructor(options: PollerOptions) {
    this.logger = options.logger;
    this.runsWorkers = options.runsWorkers ?? true;
    this.random = options.random ?? Math.random;
    this.timer =
      options.timer ??
      ((work, ms) => {
        const handle = setTimeout(work, ms);
        return () => clearTimeout(handle);
      });
  }

  /**
   * Runs `task` every `intervalMs` ±10 %, measured from the end of one run to the start of the next. The first run
   * comes after one interval, or with `wake`, also an earlier one. Throws on a name already taken and after `stop`.
   */
  every(name: string, intervalMs: number, task: PollTask): void {
    if (this.stopped) throw new Error('The poller has been stopped');
    if (this.entries.has(name)) throw new Error(`Task "${name}" is already polled`);
    const entry: Entry = { name, intervalMs, task, ...RESTING };
    this.entries.set(name, entry);
    if (this.woken.delete(name)) this.start(entry);
    else this.rest(entry);
  }

  /** Like `every`, in processes that run workers only. @returns whether this process does */
  onWorkers(name: string, intervalMs: number, task: PollTask): boolean {
    if (this.runsWorkers) this.every(name, intervalMs, task);
    return this.runsWorkers;
  }

  /**
   * Runs the task now. During a run, any number of calls causes one more run: the current one may have read before the
   * caller's commit. Does nothing after `stop`.
   * @returns false for a task that this process does not run, or not yet: then it runs as soon as it is there
   */
  wake(name: string): boolean {
    const entry = this.entries.get(name);
    if (entry) this.start(entry);
    else this.woken.add(name);
    return entry !== undefined;
  }

  /** Runs the task after `ms` at the latest; during a run, `ms` counts from its end. Otherwise works like `wake`. */
  wakeIn(name: string, ms: number): void {
    const entry = this.entries.get(name);
    if (!entry || this.stopped) return;
    if (entry.running) entry.restMs = Math.min(entry.restMs, ms);
    else if (performance.now() + ms < entry.dueAt) this.sleep(entry, ms);
  }

  /** Logs that a task, or a part of its work, has failed. @param subject identifies the part */
  failed(name: string, err: unknown, subject: object = {}): void {
    this.logger.error({ err, task: name, ...subject }, 'periodic task failed');
  }

  /** Starts nothing further and waits for the current runs. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const entry of this.entries.values()) entry.cancelTimer?.();
    for (const entry of this.entries.values()) await entry.running;
  }

  private rest(entry: Entry): void {
    // Without jitter all processes of one deployment would always hit the database at the same moment.
    this.sleep(entry, Math.min(entry.intervalMs * (0.9 + 0.2 * this.random()), entry.restMs));
  }

  private sleep(entry: Entry, ms: number): void {
    entry.cancelTimer?.();
    entry.restMs = Infinity;
    entry.dueAt = performance.now() + ms;
    entry.cancelTimer = this.timer(() => this.start(entry), ms);
  }

  private start(entry: Entry): void {
    if (this.stopped) return;
    if (entry.running) {
      entry.again = true;
      return;
    }
    entry.cancelTimer?.();
    entry.running = this.run(entry);
  }

  private async run(entry: Entry): Promise<void> {
    do {
      // Yield to the event loop between passes: a task with endless work and no I/O would starve everything else.
      await nextTurn();
      entry.again = false;
      if (this.stopped) break;
      try {
        if ((await entry.task()) === true) entry.again = true;
      } catch (err) {
        this.failed(entry.name, err);
      }
    } while (entry.again && !this.stopped);
    // Keep this in the same turn as the check above: a wake in between would set `again` on a finished run.
    entry.running = undefined;
    if (!this.stopped) this.rest(entry);
  }
}
