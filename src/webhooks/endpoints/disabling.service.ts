import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../accounts/index.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { Mailer } from '../../core/mail/index.js';
import { disabledMail } from './disabled-mail.js';
import { EndpointHealthRepository } from './endpoint-health.repository.js';

/** Gives up endpoints that have not answered for days (docs/contract.md#endpoints-that-are-given-up). */
@Injectable()
export class DisablingService {
  constructor(
    private readonly database: Database,
    private readonly health: EndpointHealthRepository,
    private readonly accounts: AccountsService,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  /**
   * INACTIVE, with the mail to the account's contact, in one commit; what waits is cancelled by the next looks. Of
   * several workers that come to the same conclusion one does it; none does when the endpoint is well again.
   * @param lastError why its last attempt failed
   */
  async disable(endpointId: string, accountId: string, lastError: string): Promise<void> {
    const { contactEmail } = await this.accounts.get(accountId);
    await this.database.transaction(async (tx) => {
      const endpoint = await this.health.disable(tx, endpointId, this.clock.now());
      if (!endpoint) return;
      this.mailer.enqueue(tx, {
        accountId,
        to: contactEmail,
        ...disabledMail({ id: endpointId, ...endpoint, lastError }),
      });
    });
  }
}
