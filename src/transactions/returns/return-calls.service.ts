import { Injectable } from '@nestjs/common';
import {
  type Acquirer,
  AcquirersService,
  type PayoutDeskCapabilities,
  type ReturnRequest,
  type ReturnState,
} from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Logger } from '../../core/log/index.js';
import { doubling, LeaseLost, type Prolong } from '../../core/work/index.js';

/** A refused or unknown call is believed only after this many attempts and at least this much time. */
const PATIENCE = 10;
const BELIEVED_AFTER_MS = 8 * 60_000;

/** Earlier calls that may have reached the acquirer. */
export interface EarlierCalls {
  readonly attempts: number;
  /**
   * When the first attempt was made. The number of attempts alone proves little: some end before the call, and
   * operators hasten others.
   */
  readonly since: Date;
}

/** Waits between two attempts to send money back. */
export const RETURN_BACKOFF = doubling(500, 3_600_000);

/**
 * Takes money that goes back one step further at its acquirer: refunds, and returns of Pix that paid nothing. A return
 * with an unknown outcome stays in progress and is asked for again.
 */
@Injectable()
export class ReturnCalls {
  constructor(
    private readonly acquirers: AcquirersService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Asks for the return. At most three calls are made. A call may take almost as long as a lease, so the lease is renewed before
   * each. A run that was overtaken then makes no further call.
   * @param earlier null when no earlier call can have reached the acquirer, otherwise it is looked for first
   * @throws LeaseLost
   */
  advance(
    acquirerName: string,
    request: ReturnRequest,
    earlier: EarlierCalls | null,
    prolong: Prolong,
  ): Promise<ReturnState> {
    const { returnId } = request;
    return this.#call(acquirerName, request, async () => {
      const acquirer = this.acquirers.get(acquirerName);
      await prolong();
      if (earlier === null) return await acquirer.requestReturn(request);
      const before = await acquirer.getReturn(request);
      if (before.kind !== 'not_found') return before;
      await prolong();
      // Repeats under the same name, which the acquirer takes for the same return.
      const again = await acquirer.requestReturn(request);
      if (again.kind !== 'failed') return again;
      // The refusal may concern the second call only: the first one may have arrived in between, or may still arrive.
      // The refusal counts if the acquirer still does not know the return.
      await prolong();
      const after = await acquirer.getReturn(request);
      if (after.kind !== 'not_found') return after;
      const isAboutReceiver = again.reason === 'destination_invalid';
      if (deskOf(acquirer, request) && !isAboutReceiver) {
        // An earlier call may have used the balance while its bank hides it. Calls go on: the same name never pays twice.
        this.logger.error({ acquirer: acquirerName, returnId, reason: again.reason }, 'a repeated cashout is refused');
        return { kind: 'in_progress' };
      }
      return this.#isBelieved(acquirer, request, earlier) ? again : { kind: 'in_progress' };
    });
  }

  /**
   * Only looks the return up.
   * @param unwanted the earlier calls of a return that is not wanted any more: it has failed when the acquirer still
   *   does not know it; null: the return is still wanted
   */
  ask(acquirerName: string, request: ReturnRequest, unwanted: EarlierCalls | null): Promise<ReturnState> {
    return this.#call(acquirerName, request, async () => {
      const acquirer = this.acquirers.get(acquirerName);
      const state = await acquirer.getReturn(request);
      if (state.kind !== 'not_found') return state;
      const isFinal = deskOf(acquirer, request)?.isNotFoundFinal ?? true;
      const isOver = unwanted !== null && isFinal && this.#isBelieved(acquirer, request, unwanted);
      return isOver ? { kind: 'failed', reason: 'amount_exceeded' } : { kind: 'in_progress' };
    });
  }

  #isBelieved(acquirer: Acquirer, request: ReturnRequest, { attempts, since }: EarlierCalls): boolean {
    const ageMs = this.clock.now().getTime() - since.getTime();
    // A bank may examine a cashout for an hour, and not show it meanwhile.
    const quietMs = deskOf(acquirer, request)?.quietMs ?? 0;
    return attempts >= PATIENCE && ageMs >= Math.max(BELIEVED_AFTER_MS, quietMs);
  }

  async #call(acquirer: string, request: ReturnRequest, call: () => Promise<ReturnState>): Promise<ReturnState> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      const { returnId } = request;
      this.logger.warn({ error, acquirer, returnId }, 'the outcome of a return is not known; asking again');
      return { kind: 'in_progress' };
    }
  }
}

/** The rules of the desk that sends a cashout; undefined for a return that no desk sends. */
function deskOf(acquirer: Acquirer, { way }: ReturnRequest): PayoutDeskCapabilities | undefined {
  return way === 'cashout' ? acquirer.payouts?.capabilities : undefined;
}
