import { Injectable } from '@nestjs/common';
import { SecondFactor } from '../accounts/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { LoginFailures } from './login-failures.service.js';
import { LoginThrottle } from './login-throttle.service.js';

/** Decisions that need a code of the second factor again. Wrong codes are limited: a session may be stolen. */
@Injectable()
export class SecondFactorProof {
  constructor(
    private readonly database: Database,
    private readonly secondFactor: SecondFactor,
    private readonly throttle: LoginThrottle,
    private readonly failures: LoginFailures,
  ) {}

  /**
   * Runs `work` in a transaction that takes the code first. If `work` fails, the code stays unused. People without a
   * second factor pass.
   * @param person with the code that was sent, or null
   * @param work hears whether the person has a second factor, whose code was right
   * @throws ApiError 400 for a missing or wrong code; 429 after too many wrong codes, also for the right one
   */
  async transaction<T>(
    { userId, code }: { readonly userId: string; readonly code: string | null },
    work: (tx: Tx, hasProved: boolean) => Promise<T>,
  ): Promise<T> {
    // Counted before the transaction, which a wrong code rolls back, so that guesses at the same time all count.
    const forget = code === null ? null : await this.#attempt(userId);
    let isRight = false;
    try {
      return await this.database.transaction(async (tx) => {
        const hasProved = await this.secondFactor.prove(tx, userId, code);
        isRight = true;
        return work(tx, hasProved);
      });
    } finally {
      if (isRight) await forget?.();
    }
  }

  /** Counts a code. The person gets a mail when no more are taken. @returns uncounts it @throws ApiError 429 */
  #attempt(userId: string): Promise<() => Promise<void>> {
    return this.throttle.attemptCode(userId).catch(async (error: unknown) => {
      await this.failures.warn(userId, 'decisions_failed');
      throw error;
    });
  }
}
