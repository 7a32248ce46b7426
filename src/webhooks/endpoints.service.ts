import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { SecretBox } from '../core/crypto/index.js';
import { Database } from '../core/database/index.js';
import { business, invalidRequest, type Violation } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Mode, Scope } from '../core/mode.js';
import { EventCatalog } from '../outbox/index.js';
import { checkUrl } from './check-url.js';
import { type Endpoint, EndpointsRepository, secretContext } from './endpoints.repository.js';
import { isSubscribable } from './subscription.js';

/** Each is asked about at every event of the account. */
export const MAX_ENDPOINTS = 100;
const MAX_NAMES = 100;

export interface EndpointInput {
  readonly url: string;
  readonly events: readonly string[];
}

/** Where an account wants its webhooks. */
@Injectable()
export class EndpointsService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly endpoints: EndpointsRepository,
    private readonly catalog: EventCatalog,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the endpoint and its secret (64 hex characters), which cannot be read again
   * @throws ApiError 400 with every violation; 422 `webhook_endpoint_limit_reached` at 100 endpoints in the mode
   */
  async register(scope: Scope, input: EndpointInput): Promise<{ endpoint: Endpoint; secret: string }> {
    const violations = [...this.#checkUrl(input.url, scope.mode), ...this.#checkEvents(input.events)];
    if (violations.length > 0) throw invalidRequest(violations);
    const now = this.clock.now();
    const endpoint: Endpoint = {
      id: newId(now),
      url: input.url,
      events: [...new Set(input.events)],
      status: 'ACTIVE',
      createdAt: now,
      updatedAt: now,
    };
    const secret = randomBytes(32).toString('hex');
    const sealed = this.secrets.seal(secret, secretContext(endpoint.id));
    const inserted = await this.database.transaction((tx) =>
      this.endpoints.insert(tx, scope, endpoint, sealed, MAX_ENDPOINTS),
    );
    if (!inserted) {
      throw business(
        'webhook_endpoint_limit_reached',
        `An account has at most ${MAX_ENDPOINTS} webhook endpoints in each mode.`,
      );
    }
    return { endpoint, secret };
  }

  /** Newest first, all of them: there are at most 100. */
  async list(scope: Scope): Promise<Endpoint[]> {
    return this.endpoints.list(scope);
  }

  #checkUrl(url: string, mode: Mode): Violation[] {
    const message = checkUrl(url, mode, this.config);
    return message === null ? [] : [{ param: 'url', code: 'invalid', message }];
  }

  #checkEvents(events: readonly string[]): Violation[] {
    if (events.length === 0 || events.length > MAX_NAMES) {
      return [{ param: 'events', code: 'invalid', message: `must have 1 to ${MAX_NAMES} event names, or "*"` }];
    }
    return events.flatMap((name, index) =>
      isSubscribable(name, this.catalog)
        ? []
        : [
            {
              param: `events.${index}`,
              code: 'invalid',
              message: `"${name.slice(0, 100)}" is not an event; see GET /v1/webhooks/event-catalog`,
            },
          ],
    );
  }
}
