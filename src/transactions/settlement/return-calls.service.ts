import { Injectable } from '@nestjs/common';
import { AcquirersService, type ReturnRequest, type ReturnState } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Logger } from '../../core/log/index.js';
import { doubling, LeaseLost, type Prolong } from '../../core/work/index.js';

/** That a call is refused or unknown is believed after so many attempts, and not before so much time has passed. */
const PATIENCE = 10;
const BELIEVED_AFTER_MS = 8 * 60_000;

/** What may have reached the acquirer before. */
export interface EarlierCalls {
  readonly attempts: number;
  /** When the first attempt was made. The number alone says little: some end before the call, operators hasten others. */
  readonly since: Date;
}

/** When money on its way back is asked for again. */
export const RETURN_BACKOFF = doubling(500, 3_600_000);

/**
 * Takes money that goes back one step further at its acquirer: refunds, and Pix that are returned by themselves. What is
 * not known is in progress, and is asked for again.
 */
@Injectable()
export class ReturnCalls {
  constructor(
    private readonly acquirers: AcquirersService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Asks for the return. Each of at most three calls may take almost as long as a lease, so the lease begins anew before
   * each of them: a run that was overtaken asks for nothing any more.
   * @param earlier null when no earlier call can have reached the acquirer, otherwise it is looked for first
   * @throws LeaseLost
   */
  advance(
    acquirerName: string,
    request: ReturnRequest,
    earlier: EarlierCalls | null,
    prolong: Prolong,
  ): Promise<ReturnState> {
    return this.#call(acquirerName, request, async () => {
      const acquirer = this.acquirers.get(acquirerName);
      await prolong();
      if (earlier === null) return await acquirer.requestReturn(request);
      const before = await acquirer.getReturn(request);
      if (before.kind !== 'not_found') return before;
      await prolong();
      // Under the same name, which an acquirer takes for the same return.
      const again = await acquirer.requestReturn(request);
      if (again.kind !== 'failed') return again;
      // The refusal may be about the second call only: the first one, late on its way, may have arrived in between or
      // may still do so. It is believed when the acquirer keeps to it.
      await prolong();
      const after = await acquirer.getReturn(request);
      if (after.kind !== 'not_found') return after;
      return this.#isBelieved(earlier) ? again : { kind: 'in_progress' };
    });
  }

  /**
   * Only looks for it.
   * @param unwanted the earlier calls of a return that is not wanted any more: it has failed when the acquirer goes on not
   *   to know it; null of one that is still wanted
   */
  ask(acquirerName: string, request: ReturnRequest, unwanted: EarlierCalls | null): Promise<ReturnState> {
    return this.#call(acquirerName, request, async () => {
      const state = await this.acquirers.get(acquirerName).getReturn(request);
      if (state.kind !== 'not_found') return state;
      const isOver = unwanted !== null && this.#isBelieved(unwanted);
      return isOver ? { kind: 'failed', reason: 'amount_exceeded' } : { kind: 'in_progress' };
    });
  }

  #isBelieved({ attempts, since }: EarlierCalls): boolean {
    return attempts >= PATIENCE && this.clock.now().getTime() - since.getTime() >= BELIEVED_AFTER_MS;
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
