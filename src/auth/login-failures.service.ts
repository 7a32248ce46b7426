import { Injectable } from '@nestjs/common';
import { PersonMails, UsersService } from '../accounts/index.js';
import type { Origin } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import { WorkService } from '../core/work/index.js';
import { LoginFailuresRepository } from './login-failures.repository.js';
import { LoginThrottle } from './login-throttle.service.js';

const MINUTE_MS = 60_000;

/** Logins that have failed: written down, and told to whose they would have been. */
@Injectable()
export class LoginFailures {
  constructor(
    private readonly database: Database,
    private readonly failures: LoginFailuresRepository,
    private readonly throttle: LoginThrottle,
    private readonly users: UsersService,
    private readonly mails: PersonMails,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  /**
   * Counted by the minute: guesses must not fill the audit trail, where nothing is deleted for years.
   * @param userId null when nobody has this e-mail
   */
  async record(email: string, userId: string | null, origin: Origin): Promise<void> {
    const now = this.clock.now();
    const minuteAt = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS);
    const failure = {
      id: newId(now),
      emailHash: this.throttle.hash(email).slice(0, 16),
      ip: origin.ip ?? '',
      minuteAt,
      count: 1,
      userId,
      requestId: origin.requestId,
    };
    await this.database.transaction(async (tx) => {
      const isFirst = await this.failures.count(tx, failure);
      if (isFirst) this.work.add(tx, 'login_failures', failure.id, new Date(minuteAt.getTime() + MINUTE_MS));
    });
  }

  /** Tells the user by mail that logins or codes fail, at most once a day. */
  async warn(userId: string, what: 'logins_failed' | 'codes_failed' | 'decisions_failed'): Promise<void> {
    await this.database.transaction(async (tx) => {
      const email = await this.users.claimWarning(tx, userId);
      if (email !== null) this.mails.news(tx, email, what);
    });
  }
}
