import { Agent, request } from 'undici';
import { type WireSendNotice } from './efi-wire.js';
import { type Faults } from './faults.js';
import { type Settings } from './settings.js';
import { type Timers } from './timers.js';
import { type WirePix } from './wire.js';

/** How long a delayed callback waits for another one to overtake it. */
const OVERTAKING_MS = 2_000;

/** A received Pix, or one that was sent. */
export type CallbackEntry = WirePix | WireSendNotice;

export interface CallbackAttempt {
  readonly at: string;
  /** Null: no answer. */
  readonly status: number | null;
}

/** A callback with its attempts so far. */
export interface CallbackRecord {
  readonly url: string;
  readonly pix: readonly CallbackEntry[];
  readonly attempts: readonly CallbackAttempt[];
  readonly outcome: 'pending' | 'delivered' | 'givenUp' | 'lost';
}

interface Callback extends CallbackRecord {
  attempts: CallbackAttempt[];
  outcome: CallbackRecord['outcome'];
}

/** Calls back merchants about their Pix, in the background, until a 2xx or until the configured retries are used up. */
export class Callbacks {
  readonly #records: Callback[] = [];
  /** Pix by URL: those gathered for one callback, and those that wait to be overtaken. */
  readonly #gathered = new Map<string, CallbackEntry[]>();
  readonly #held = new Map<string, CallbackEntry[]>();
  // Accepts any certificate: the receiver is software under development.
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 });

  constructor(
    private readonly settings: Settings,
    private readonly faults: Faults,
    private readonly timers: Timers,
    private readonly now: () => Date,
  ) {}

  get records(): readonly CallbackRecord[] {
    return this.#records;
  }

  announce(webhookUrl: string, pix: CallbackEntry): void {
    const url = this.settings.callbacks.suffix ? `${webhookUrl}/pix` : webhookUrl;
    const fault = this.faults.ofCallback('tipo' in pix ? 'sent' : 'received');
    switch (fault?.kind) {
      case 'lose':
        this.#records.push({ url, pix: [pix], attempts: [], outcome: 'lost' });
        return;
      case 'delay':
        this.timers.after(fault.ms, () => {
          this.#gather(url, pix);
        });
        return;
      case 'reorder':
        this.#held.set(url, [...(this.#held.get(url) ?? []), pix]);
        this.timers.after(OVERTAKING_MS, () => {
          this.#release(url);
        });
        return;
      case 'duplicate':
        for (let time = 0; time < fault.times; time += 1) this.#gather(url, pix);
        return;
      case undefined:
        this.#gather(url, pix);
    }
  }

  async stop(): Promise<void> {
    await this.#agent.destroy();
  }

  #gather(url: string, pix: CallbackEntry): void {
    const { batch, batchWaitMs } = this.settings.callbacks;
    const gathered = [...(this.#gathered.get(url) ?? []), pix];
    this.#gathered.set(url, gathered);
    if (gathered.length >= batch) this.#flush(url);
    else if (gathered.length === 1) {
      this.timers.after(batchWaitMs, () => {
        this.#flush(url);
      });
    }
  }

  #flush(url: string): void {
    const pix = this.#gathered.get(url) ?? [];
    this.#gathered.delete(url);
    if (pix.length === 0) return;
    const callback: Callback = { url, pix, attempts: [], outcome: 'pending' };
    this.#records.push(callback);
    void this.#attempt(callback).finally(() => {
      this.#release(url);
    });
  }

  /** Sends the delayed Pix, now that another callback has overtaken them. */
  #release(url: string): void {
    const held = this.#held.get(url) ?? [];
    this.#held.delete(url);
    for (const pix of held) this.#gather(url, pix);
  }

  async #attempt(callback: Callback): Promise<void> {
    const at = this.now().toISOString();
    const status = await this.#post(callback);
    callback.attempts.push({ at, status });
    if (status !== null && status >= 200 && status < 300) {
      callback.outcome = 'delivered';
      return;
    }
    const wait = this.settings.callbacks.retryDelaysMs[callback.attempts.length - 1];
    if (wait === undefined) callback.outcome = 'givenUp';
    else this.timers.after(wait, () => void this.#attempt(callback));
  }

  async #post({ url, pix }: Callback): Promise<number | null> {
    const { shape, timeoutMs } = this.settings.callbacks;
    try {
      const { statusCode, body } = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(shape === 'object' ? { pix } : pix),
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(timeoutMs),
      });
      await body.dump();
      return statusCode;
    } catch {
      return null;
    }
  }
}
