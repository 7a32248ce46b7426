import { Injectable } from '@nestjs/common';
import type { Violation } from '../../core/errors/index.js';
import type { Mode } from '../../core/mode.js';
import { EventCatalog } from '../../outbox/index.js';
import { WebhookClient } from '../sending/webhook-client.service.js';
import type { EndpointChange } from './endpoints.repository.js';
import { isSubscribable } from './subscription.js';

const MAX_NAMES = 100;

/** Validates an endpoint that a merchant submits: the URL must be allowed and the event names must exist. */
@Injectable()
export class EndpointCheck {
  constructor(
    private readonly client: WebhookClient,
    private readonly catalog: EventCatalog,
  ) {}

  /** @returns what is wrong with the fields that are present */
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

  /** @param events a list of anything: an item that is not a string is reported as an unknown event */
  #checkEvents(events: readonly unknown[]): Violation[] {
    const problems = events.slice(0, MAX_NAMES).flatMap((name, index) =>
      typeof name === 'string' && isSubscribable(name, this.catalog)
        ? []
        : [
            {
              param: `events.${index}`,
              code: 'invalid',
              // The message does not repeat the value: a secret may have been pasted into the wrong field.
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
