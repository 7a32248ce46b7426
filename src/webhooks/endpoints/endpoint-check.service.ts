import { Injectable } from '@nestjs/common';
import type { Violation } from '../../core/errors/index.js';
import type { Mode } from '../../core/mode.js';
import { EventCatalog } from '../../outbox/index.js';
import { WebhookClient } from '../sending/webhook-client.service.js';
import type { EndpointChange } from './endpoints.repository.js';
import { isSubscribable } from './subscription.js';

const MAX_NAMES = 100;

/** Whether an endpoint may be as a merchant wants it: its URL may be posted to, and its events are events. */
@Injectable()
export class EndpointCheck {
  constructor(
    private readonly client: WebhookClient,
    private readonly catalog: EventCatalog,
  ) {}

  /** @returns what is wrong with the fields that are named */
  async problems({ url, events }: EndpointChange, mode: Mode): Promise<Violation[]> {
    return [
      ...(url === undefined ? [] : await this.#checkUrl(url, mode)),
      ...(events === undefined ? [] : this.#checkEvents(events)),
    ];
  }

  async #checkUrl(url: string, mode: Mode): Promise<Violation[]> {
    const message = await this.client.checkTarget({ url, mode });
    return message === null ? [] : [{ param: 'url', code: 'invalid', message }];
  }

  /** @param events a list of anything: what is no text is no event either, and is named as such */
  #checkEvents(events: readonly unknown[]): Violation[] {
    const problems = events.slice(0, MAX_NAMES).flatMap((name, index) =>
      typeof name === 'string' && isSubscribable(name, this.catalog)
        ? []
        : [
            {
              param: `events.${index}`,
              code: 'invalid',
              // Not what was sent instead: it may be a secret that was pasted into the wrong place.
              message: 'is not an event; see GET /v1/webhooks/event-catalog',
            },
          ],
    );
    if (events.length > 0 && events.length <= MAX_NAMES) return problems;
    return [
      { param: 'events', code: 'invalid', message: `must have 1 to ${MAX_NAMES} event names, or "*"` },
      ...problems,
    ];
  }
}
