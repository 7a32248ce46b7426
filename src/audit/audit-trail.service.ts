import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { invalidRequest } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Actor, AuditEvent, AuditFilter, WebhookTouched } from './audit-event.js';
import type { AuditEventType } from './audit-event.entity.js';
import { AuditRepository } from './audit.repository.js';

/**
 * Records changes with their actors. Events are never changed, and not deleted within five years: they hold ids, never
 * a password or e-mail.
 */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly events: AuditRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Records an event in the transaction of the change: both happen or neither.
   * @param accountId null when it concerns no account
   * @param about.isHidden the account's own people may not read the event; the account's id is then in `data`
   */
  record(
    tx: Tx,
    actor: Actor,
    type: AuditEventType,
    accountId: string | null,
    about: { apiKeyFingerprint?: string; data?: Readonly<Record<string, unknown>>; isHidden?: boolean } = {},
  ): void {
    const createdAt = this.clock.now();
    const isHidden = about.isHidden === true;
    this.events.insert(tx, isHidden ? null : accountId, {
      id: newId(createdAt),
      type,
      actor,
      apiKeyFingerprint: about.apiKeyFingerprint ?? actor.apiKeyFingerprint ?? null,
      data: isHidden ? { account_id: accountId, ...about.data } : (about.data ?? {}),
      createdAt,
    });
  }

  /** Newest first. @throws ApiError 400 for a cursor that is not an event of the account */
  async list(accountId: string, filter: AuditFilter): Promise<AuditEvent[]> {
    if (filter.before !== null && !(await this.events.exists(accountId, filter.before))) {
      throw invalidRequest([
        { param: 'starting_after', code: 'invalid', message: 'must be the id of one of your audit events' },
      ]);
    }
    return this.events.list(accountId, filter);
  }

  /** Lists existing webhook endpoints and default secrets that this user changed at the dashboard, oldest first. */
  webhooksTouchedBy(tx: Tx, accountId: string, userId: string): Promise<WebhookTouched[]> {
    return this.events.webhooksTouchedBy(tx, accountId, userId);
  }
}
