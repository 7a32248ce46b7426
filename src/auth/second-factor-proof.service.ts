import { Injectable } from '@nestjs/common';
import { SecondFactor } from '../accounts/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { LoginThrottle } from './login-throttle.service.js';

/** Decisions that need a code of the second factor again. Wrong codes are limited: a session may be stolen. */
@Injectable()
export class SecondFactorProof {
  constructor(
    private readonly database: Database,
    private readonly secondFactor: SecondFactor,
    private readonly throttle: LoginThrottle,
  ) {}

  /**
   * Runs `work` in a transaction that takes the code first. If `work` fails, the code stays unused. People without a
   * second factor pass.
   * @param person with the code that was sent, or null
   * @throws ApiError 400 for a missing or wrong code; 429 after too many wrong codes, also for the right one
   */
  async transaction<T>(
    { userId, code }: { readonly userId: string; readonly code: string | null },
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    // Counted before the transaction, which a wrong code rolls back, so that guesses at the same time all count.
    const forget = code === null ? null : await this.throttle.attemptCode(userId);
    let proved = false;
    try {
      return await this.database.transaction(async (tx) => {
        await this.secondFactor.prove(tx, userId, code);
        proved = true;
        return work(tx);
      });
    } finally {
      if (proved) await forget?.();
    }
  }
}
