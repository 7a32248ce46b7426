import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../audit/index.js';
import { Database } from '../core/database/index.js';
import { doubling, type Work, type WorkAnswer, type Worker } from '../core/work/index.js';
import { LoginFailuresRepository } from './login-failures.repository.js';

/** Writes a minute of failed logins into the audit trail, once the minute is over. */
@Injectable()
export class LoginFailuresProcessor implements Worker {
  readonly kind = 'login_failures';
  readonly concurrency = 4;
  readonly backoff = doubling(1_000, 600_000);
  readonly leaseMs = 30_000;

  constructor(
    private readonly database: Database,
    private readonly failures: LoginFailuresRepository,
    private readonly audit: AuditTrail,
  ) {}

  async run({ subjectId }: Work): Promise<WorkAnswer> {
    await this.database.transaction(async (tx) => {
      const failure = await this.failures.take(tx, subjectId);
      if (!failure) return;
      const { userId, emailHash, ip, requestId, accountId, count, minuteAt } = failure;
      // For an e-mail without a user its hash, which shows that the same one is tried again and again.
      const who = userId === null ? { email_hash: emailHash } : { user_id: userId };
      this.audit.record(
        tx,
        { type: 'anonymous', id: null, ip: ip === '' ? null : ip, requestId },
        'login.failed',
        accountId,
        { data: { ...who, count, minute: minuteAt.toISOString() } },
      );
    });
    return 'done';
  }
}
