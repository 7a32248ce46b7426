/** Payout desks of PSPs. BACEN's API Pix cannot send money, so each PSP has endpoints of its own. */
import { isReturnId } from '../../../brazil/index.js';
import type { Clock } from '../../../core/clock.js';
import type { Logger } from '../../../core/log/index.js';
import type { Amount } from '../../../core/money/index.js';
import type { NotificationHint } from '../../acquirer.port.js';
import type {
  ListedPayout,
  PayoutAnswer,
  PayoutBalance,
  PayoutDesk,
  PayoutDeskCapabilities,
  PayoutOrder,
  PayoutState,
  SentPayout,
  UnreadablePayout,
} from '../../payout-desk.port.js';
import type { Answers } from '../answers.js';
import { providerFee } from '../fees.js';
import { type DeskCall, NOT_GRANTED, type PixApiClient, type PspAnswer } from '../pix-api.client.js';
import { PixApiError } from '../pix-api.errors.js';

/**
 * The endpoints of one PSP, translated to the port. A desk may throw: `ConnectionDesk` catches. A `PixApiError` of the
 * kind `unavailable` means that nothing was sent.
 */
export interface Desk {
  /** The public document of the endpoints. */
  readonly source: string;
  readonly capabilities: PayoutDeskCapabilities;
  /** The scopes that the token needs, each with its use. Without the first one nothing can be sent. */
  readonly scopes: readonly [DeskScope, ...DeskScope[]];
  /** Whether the PSP sends only for a Pix key with a registered webhook. */
  readonly needsWebhook: boolean;
  readonly send: (psp: DeskPsp, order: PayoutOrder) => Promise<PayoutAnswer>;
  readonly lookUp: (psp: DeskPsp, sent: SentPayout) => Promise<PayoutState>;
  readonly list: ((psp: DeskPsp, from: Date, to: Date) => AsyncIterable<ListedPayout | UnreadablePayout>) | null;
  readonly balance: ((psp: DeskPsp) => Promise<PayoutBalance>) | null;
  /**
   * The hints of one entry of a callback to the address that is registered for the Pix key. Null: the entry is not about
   * a payout.
   */
  readonly hintsOf: (entry: unknown) => readonly NotificationHint[] | null;
}

/**
 * Gives the connection's client, as it was read some seconds ago. With `send` it is read now: money must not leave by
 * credentials that were replaced.
 */
export type ClientOf = (use?: 'send') => Promise<PixApiClient>;

export interface DeskScope {
  readonly scope: string;
  readonly use: string;
}

/** The PSP of one call, with the facts of its connection. */
export interface DeskPsp {
  readonly pixKey: string;
  /** The longest window of a list, in hours. */
  readonly longestWindow: number;
  readonly now: Date;
  readonly answers: Answers;
  /** @throws PixApiError */
  call(call: DeskCall): Promise<PspAnswer>;
  /** The PSP's fee for a payout of this amount. */
  fee(amount: Amount, at: Date): Amount;
}

/** Pauses before a send is tried again, if the PSP asks for none. */
const PAUSES_MS: Readonly<Record<string, number>> = { http_403: 10 * 60_000, http_429: 60_000 };
const USUAL_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 24 * 3_600_000;

/** The desk of one connection: no call of its methods throws but those of `list` and `balance`. */
export class ConnectionDesk implements PayoutDesk {
  readonly capabilities: PayoutDeskCapabilities;
  readonly list: PayoutDesk['list'];
  readonly balance: PayoutDesk['balance'];

  /** @param client gives the connection's current client at each call */
  constructor(
    private readonly acquirer: string,
    private readonly desk: Desk,
    private readonly client: ClientOf,
    private readonly answers: Answers,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    const { capabilities, list, balance } = desk;
    this.capabilities = capabilities;
    this.list = list && ((from, to) => this.#list(list, from, to));
    this.balance = balance && (async () => balance(await this.#psp()));
  }

  async send(order: PayoutOrder): Promise<PayoutAnswer> {
    const { sendId } = order;
    let psp: DeskPsp;
    try {
      // Only our own ids are put into paths.
      if (!isReturnId(sendId)) throw new RangeError('a send id has 1 to 35 letters and digits');
      psp = await this.#psp('send');
    } catch (error) {
      this.logger.error(
        { error, acquirer: this.acquirer, sendId },
        'a payout is not sent: its connection is of no use',
      );
      return { kind: 'not_now', retryAfterMs: USUAL_PAUSE_MS };
    }
    try {
      return await this.desk.send(psp, order);
    } catch (error) {
      const { kind, reason, retryAfterMs } = failureOf(error);
      this.logger.warn({ error, acquirer: this.acquirer, sendId, code: reason }, `a payout is ${kind}`);
      if (kind === 'unknown') return { kind };
      // Without the scope no later attempt would do better.
      if (reason === NOT_GRANTED) return { kind: 'refused', reason: 'refused' };
      const pauseMs = retryAfterMs ?? PAUSES_MS[reason] ?? USUAL_PAUSE_MS;
      return { kind: 'not_now', retryAfterMs: Math.min(Math.max(pauseMs, 1_000), LONGEST_PAUSE_MS) };
    }
  }

  async lookUp(sent: SentPayout): Promise<PayoutState> {
    const { sendId } = sent;
    try {
      if (!isReturnId(sendId)) throw new RangeError('a send id has 1 to 35 letters and digits');
      return await this.desk.lookUp(await this.#psp(), sent);
    } catch (error) {
      this.logger.warn({ error, acquirer: this.acquirer, sendId }, 'the state of a payout is unknown');
      return { kind: 'unknown' };
    }
  }

  async *#list(list: NonNullable<Desk['list']>, from: Date, to: Date): ReturnType<NonNullable<Desk['list']>> {
    yield* list(await this.#psp(), from, to);
  }

  async #psp(use?: 'send'): Promise<DeskPsp> {
    const client = await this.client(use);
    return {
      pixKey: client.pixKey,
      longestWindow: client.profile.longestWindow.value,
      now: this.clock.now(),
      answers: this.answers,
      call: (call) => client.callDesk(call),
      fee: (amount, at) => providerFee(client.fees, 'payout', amount, at),
    };
  }
}

/** Anything but a clear failure of the client may have happened after the money was sent. */
function failureOf(error: unknown): Pick<PixApiError, 'kind' | 'reason' | 'retryAfterMs'> {
  return error instanceof PixApiError ? error : { kind: 'unknown', reason: 'failed', retryAfterMs: null };
}
