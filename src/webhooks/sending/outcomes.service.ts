import { Injectable } from '@nestjs/common';
import { AccountsService, NoticeMails } from '../../accounts/index.js';
import { Clock } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { DeliveryQueueRepository, type Outcome } from './delivery-queue.repository.js';
import { disabledMail } from '../endpoints/disabled-mail.js';
import { isSuccess, isToBeDisabled, nextHealth } from '../endpoints/endpoint-health.js';
import { EndpointHealthRepository } from '../endpoints/endpoint-health.repository.js';

/** Applies the results of attempts to their deliveries and endpoints. */
@Injectable()
export class OutcomesService {
  constructor(
    private readonly database: Database,
    private readonly queue: DeliveryQueueRepository,
    private readonly health: EndpointHealthRepository,
    private readonly accounts: AccountsService,
    private readonly mails: NoticeMails,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Writes the attempts in one transaction; may run twice. Locks endpoints before deliveries, as every other
   * transaction does. Afterwards disables endpoints that have failed for days
   * (docs/contract.md#endpoints-that-are-given-up).
   * @param outcomes in the order in which they came
   */
  async write(outcomes: readonly Outcome[]): Promise<void> {
    const hopeless = await this.database.transaction(async (tx) => {
      this.queue.byIndex(tx);
      const found = await this.#writeHealth(tx, outcomes);
      this.queue.finish(tx, outcomes);
      return found;
    });
    for (const { id, accountId, error } of hopeless) {
      try {
        await this.#disable(id, accountId, error);
      } catch (cause) {
        this.logger.error(
          { error: cause, endpointId: id },
          'an endpoint was not disabled; its next failure will do it',
        );
      }
    }
  }

  /**
   * Sets the endpoint INACTIVE and mails the account's contact, and people who want it, in one commit; later scans cancel waiting deliveries. If
   * several workers decide this, only one does it; if the endpoint works again, none does.
   * @param lastError why its last attempt failed
   */
  async #disable(endpointId: string, accountId: string, lastError: string): Promise<void> {
    const { contactEmail } = await this.accounts.get(accountId);
    await this.database.transaction(async (tx) => {
      const endpoint = await this.health.disable(tx, endpointId, this.clock.now());
      if (!endpoint) return;
      const mail = disabledMail({ id: endpointId, ...endpoint, lastError });
      await this.mails.enqueue(tx, 'webhook', { accountId, to: contactEmail, ...mail });
    });
  }

  /** Sets endpoints that answered 410 INACTIVE. @returns the endpoints to disable after long failure */
  async #writeHealth(
    tx: Tx,
    outcomes: readonly Outcome[],
  ): Promise<{ id: string; accountId: string; error: string }[]> {
    const sent = outcomes.filter(({ attempt }) => attempt.isSigned);
    const failed = sent.filter(({ attempt }) => !isSuccess(attempt.statusCode));
    const locked = await this.health.lock(tx, endpointsOf(sent), endpointsOf(failed));
    const now = this.clock.now();
    const changed = locked.map((endpoint) => {
      // If the merchant has changed the URL meanwhile, an answer from the old one says nothing about the new one.
      const own = sent.filter(
        ({ delivery }) => delivery.endpoint.id === endpoint.id && delivery.endpoint.url === endpoint.url,
      );
      const results = own.map(({ delivery, attempt, endedAt }) => ({
        statusCode: attempt.statusCode,
        at: endedAt,
        attempts: delivery.attempts,
      }));
      return { endpoint, own, next: nextHealth(endpoint, results, now, Math.random) };
    });
    if (changed.length > 0) {
      this.health.update(
        tx,
        changed.map(({ endpoint, next }) => ({ id: endpoint.id, ...next })),
      );
    }
    const gone = changed
      .filter(
        ({ endpoint, own }) => endpoint.kind === 'registered' && own.some(({ attempt }) => attempt.statusCode === 410),
      )
      .map(({ endpoint }) => endpoint);
    for (const { id } of gone) this.health.deactivate(tx, id, now);
    return changed
      .filter(({ endpoint, next }) => !gone.includes(endpoint) && isToBeDisabled(endpoint.kind, next, now))
      .map(({ endpoint, own }) => ({
        id: endpoint.id,
        accountId: endpoint.accountId,
        error: own.at(-1)?.attempt.error ?? '',
      }));
  }
}

function endpointsOf(outcomes: readonly Outcome[]): string[] {
  return [...new Set(outcomes.map(({ delivery }) => delivery.endpoint.id))];
}
