import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { newId } from '../core/ids.js';
import { bodyOfItem, deliveryHeaders, type EventBody, standardHeaders } from '../webhooks/index.js';
import { reasonOf } from './client.js';

/** As the time limit of a delivery (docs/contract.md#attempts). */
const LIMIT_MS = 15_000;
/** Posts under way at a time, each of another subject. */
const AT_ONCE = 16;
/** Events that wait here; above that the stream is not read on. */
const MAX_WAITING = 500;
const AGAIN_MS = { least: 250, most: 5_000 };

export interface Forwarded {
  readonly item: EventBody;
  readonly subject: string;
  readonly deliveryId: string;
  /** Null when no answer came in time. */
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

export interface ForwarderOptions {
  readonly url: string;
  readonly secret: string;
  readonly isLegacy: (name: string) => boolean;
  readonly onForwarded: (forwarded: Forwarded) => void;
  /** Nothing listens at `url`: the event is kept and tried again. Called once until something answers. */
  readonly onAway: (reason: string) => void;
  readonly end: AbortSignal;
}

/** Posts events to a local server as deliveries, one at a time of each subject and in its order. */
export class Forwarder {
  /** The end of the last post of each subject. */
  readonly #subjects = new Map<string, Promise<void>>();
  /** Events that were taken, in their order, and whether each is done. */
  readonly #taken: { readonly cursor: string; isDone: boolean }[] = [];
  readonly #places: (() => void)[] = [];
  #free = AT_ONCE;
  #wake: () => void = () => undefined;
  #isAway = false;

  /** @param doneTo cursor up to which everything was forwarded */
  constructor(
    private readonly options: ForwarderOptions,
    public doneTo: string,
  ) {}

  /** Takes an event; resolves when there is room for the next one. */
  async take(item: EventBody): Promise<void> {
    const subject = subjectOf(item);
    const entry = { cursor: item.cursor, isDone: false };
    this.#taken.push(entry);
    const before = this.#subjects.get(subject) ?? Promise.resolve();
    const work = before.then(() => this.#forward(item, subject)).then((isDone) => this.#done(entry, isDone));
    this.#subjects.set(subject, work);
    void work.then(() => {
      if (this.#subjects.get(subject) === work) this.#subjects.delete(subject);
    });
    while (this.#taken.length >= MAX_WAITING && !this.options.end.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Resolves when no post is under way. */
  async settled(): Promise<void> {
    this.#wake();
    await Promise.all(this.#subjects.values());
  }

  #done(entry: { isDone: boolean }, isDone: boolean): void {
    entry.isDone = isDone;
    while (this.#taken[0]?.isDone === true) this.doneTo = this.#taken.shift()?.cursor ?? this.doneTo;
    this.#wake();
  }

  /** @returns false at the end: the event was not forwarded */
  async #forward(item: EventBody, subject: string): Promise<boolean> {
    const { end, isLegacy, secret } = this.options;
    const family = isLegacy(item.type) ? 'legacy' : 'canonical';
    const body = bodyOfItem(item, family);
    const delivery = { id: newId(new Date()), eventType: item.type, family } as const;
    for (let attempt = 0; !end.aborted; attempt++) {
      await this.#enter();
      const started = performance.now();
      const now = Math.floor(Date.now() / 1000);
      const headers = {
        ...deliveryHeaders(delivery, [secret], body, now),
        ...standardHeaders(`wd_${delivery.id}`, [secret], body, now),
      };
      const answer = await this.#post(headers, body).finally(() => this.#leave());
      if (end.aborted && answer.status === null) return false;
      if (!answer.isAway) {
        this.#isAway = false;
        const { status, error } = answer;
        const durationMs = Math.round(performance.now() - started);
        this.options.onForwarded({ item, subject, deliveryId: `wd_${delivery.id}`, status, error, durationMs });
        return true;
      }
      if (!this.#isAway) this.options.onAway(answer.error ?? '');
      this.#isAway = true;
      const wait = Math.min(AGAIN_MS.least * 2 ** attempt, AGAIN_MS.most);
      await delay(wait, undefined, { signal: end }).catch(() => undefined);
    }
    return false;
  }

  /** Posts once. A server that is not there is tried again, as one whose proxy says so; any other answer counts. */
  async #post(
    headers: Record<string, string>,
    body: string,
  ): Promise<{ status: number | null; error: string | null; isAway: boolean }> {
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(LIMIT_MS), this.options.end]);
      const response = await request(this.options.url, { method: 'POST', headers, body, signal });
      await response.body.dump();
      const isAway = [502, 503, 504].includes(response.statusCode);
      return { status: response.statusCode, error: isAway ? `HTTP ${response.statusCode}` : null, isAway };
    } catch (error) {
      const isLate = (error as Error).name === 'TimeoutError';
      return { status: null, error: reasonOf(error), isAway: !isLate };
    }
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#places.push(resolve));
  }

  #leave(): void {
    const next = this.#places.shift();
    if (next) next();
    else this.#free++;
  }
}

/** The object whose events are numbered together, without the prefix of its id. */
function subjectOf({ id, data }: EventBody): string {
  const { object, transactionId } = data as { object?: { id?: string }; transactionId?: string };
  return (object?.id ?? transactionId ?? id).replace(/^[a-z]+_/, '');
}
