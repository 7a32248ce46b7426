import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { SecretBox } from '../core/crypto/index.js';
import { Logger } from '../core/log/index.js';
import { EventCatalog } from '../outbox/index.js';
import type { TakenDelivery } from './deliveries.repository.js';
import { secretContext } from './endpoints.repository.js';
import { signatureHeader } from './signature.js';
import { type WebhookAnswer, WebhookClient } from './webhook-client.js';

export interface SentAttempt extends WebhookAnswer {
  readonly startedAt: Date;
}

/** Signs a delivery and posts it. */
@Injectable()
export class Sender {
  constructor(
    private readonly catalog: EventCatalog,
    private readonly secrets: SecretBox,
    private readonly client: WebhookClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws Error only when this process is shutting down */
  async send(delivery: TakenDelivery): Promise<SentAttempt> {
    const startedAt = this.clock.now();
    const secret = this.#secretOf(delivery);
    if (secret === null) {
      // A failed attempt like others: with the usual waits an operator has days to bring the key back.
      const error = 'the service could not sign the delivery';
      return { startedAt, statusCode: null, error, retryAfter: null, responseBody: null, durationMs: 0 };
    }
    const unixSeconds = Math.floor(startedAt.getTime() / 1000);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Recebe-Webhooks/1',
      'X-Service-Signature': signatureHeader(this.#familyOf(delivery), secret, delivery.payload, unixSeconds),
      'X-Service-Delivery-Id': `wd_${delivery.id}`,
      'X-Service-Event-Type': delivery.eventType,
    };
    return { startedAt, ...(await this.client.post(delivery.url, headers, delivery.payload)) };
  }

  #familyOf({ eventType }: TakenDelivery): 'canonical' | 'legacy' {
    return this.catalog.list().some((item) => item.event === eventType && item.legacy) ? 'legacy' : 'canonical';
  }

  #secretOf(delivery: TakenDelivery): string | null {
    try {
      return this.secrets.open(delivery.secretSealed, secretContext(delivery.endpointId));
    } catch (error) {
      this.logger.error(
        { error, endpointId: delivery.endpointId },
        'the secret of a webhook endpoint cannot be opened',
      );
      return null;
    }
  }
}
