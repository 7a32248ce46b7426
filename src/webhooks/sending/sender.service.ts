import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Logger } from '../../core/log/index.js';
import { EventCatalog } from '../../outbox/index.js';
import { defaultSecretContext } from '../endpoints/secrets.repository.js';
import type { ClaimedDelivery, ClaimedEndpoint } from './delivery-queue.repository.js';
import { messageContext } from '../log/deliveries.repository.js';
import { secretContext } from '../endpoints/endpoints.repository.js';
import { deliveryHeaders, standardHeaders } from './signature.js';
import { type WebhookAnswer, WebhookClient } from './webhook-client.service.js';

export interface SentAttempt extends WebhookAnswer {
  readonly startedAt: Date;
  /** False when the service could not sign: nothing was sent, so the receiver is not to blame. */
  readonly isSigned: boolean;
}

/** Signs a delivery and posts it. */
@Injectable()
export class Sender {
  /** Secrets opened once for all deliveries of a claim, and forgotten with the claim. */
  readonly #opened = new WeakMap<ClaimedEndpoint, readonly string[]>();

  constructor(
    private readonly catalog: EventCatalog,
    private readonly secrets: SecretBox,
    private readonly client: WebhookClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws Error only when this process is shutting down */
  async send(delivery: ClaimedDelivery): Promise<SentAttempt> {
    const startedAt = this.clock.now();
    const secrets = this.#secretsOf(delivery.endpoint, startedAt);
    const payload = this.#payloadOf(delivery);
    if (secrets.length === 0 || payload === null) {
      // A signing failure counts as a failed attempt: with the usual waits an operator has days to restore the key.
      const error = 'the service could not sign the delivery';
      const answer = { statusCode: null, error, retryAfter: null, responseBody: null, durationMs: 0 };
      return { startedAt, isSigned: false, ...answer };
    }
    const target = { url: delivery.endpoint.url, mode: delivery.endpoint.mode };
    const unixSeconds = Math.floor(startedAt.getTime() / 1000);
    const { id, eventType } = delivery;
    const signed = { id, eventType, family: this.catalog.familyOf(eventType) };
    const headers = {
      ...deliveryHeaders(signed, secrets, payload, unixSeconds),
      ...(delivery.endpoint.signature === 'standard' ? standardHeaders(`wd_${id}`, secrets, payload, unixSeconds) : {}),
    };
    return { startedAt, isSigned: true, ...(await this.client.post(target, headers, payload)) };
  }

  /** The secret and, during the overlap of a rotation, the previous one; empty when the secret cannot be opened. */
  #secretsOf(endpoint: ClaimedEndpoint, at: Date): readonly string[] {
    const known = this.#opened.get(endpoint);
    if (known) return known;
    const { secretSealed, previousSecretSealed, previousSecretUntil } = endpoint;
    const isOverlap = previousSecretUntil !== null && previousSecretUntil > at;
    const secret = this.#open(endpoint, secretSealed);
    const previous = secret !== null && isOverlap ? this.#open(endpoint, previousSecretSealed) : null;
    const secrets = [secret, previous].filter((opened) => opened !== null);
    this.#opened.set(endpoint, secrets);
    return secrets;
  }

  /** The body that all attempts send, byte for byte; null when it cannot be opened. */
  #payloadOf({ id, messageId, payload }: ClaimedDelivery): string | null {
    try {
      return this.secrets.openText(payload, messageContext(messageId));
    } catch (error) {
      this.logger.error({ error, deliveryId: id }, 'the payload of a webhook cannot be opened');
      return null;
    }
  }

  #open({ id, accountId, mode, kind }: ClaimedEndpoint, sealed: Buffer | null): string | null {
    const context = kind === 'direct' ? defaultSecretContext(accountId, mode) : secretContext(id);
    try {
      if (sealed === null) throw new Error('there is none');
      return this.secrets.open(sealed, context);
    } catch (error) {
      this.logger.error({ error, endpointId: id, kind }, 'the secret of a webhook endpoint cannot be opened');
      return null;
    }
  }
}
