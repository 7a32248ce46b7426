import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { badRequest, type Draft, notFound } from '../../core/errors/index.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { EventCatalog, type NewEvent } from '../../outbox/index.js';
import { DeliveryWriter } from '../sending/delivery-writer.service.js';
import { DeliveryLogRepository, type DeliveryRecord } from './delivery-log.repository.js';
import { EndpointsService } from '../endpoints/endpoints.service.js';
import { envelope } from '../sending/envelope.js';
import { messageOf } from '../sending/messages.js';

/** Sends made-up events, for merchants who test their receiver. */
@Injectable()
export class SamplesService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointsService,
    private readonly writer: DeliveryWriter,
    private readonly log: DeliveryLogRepository,
    private readonly catalog: EventCatalog,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends a sample of the event to the endpoint in a single attempt without retries. The sample adds `"sample": true`
   * to a real body, and its ids belong to no object.
   * @returns the delivery, which is on its way
   * @throws ApiError 400 for a name that is not sent, or an endpoint that is INACTIVE; 404
   */
  async send(scope: Scope, endpointId: string, draft: Draft<{ event: string }>): Promise<DeliveryRecord> {
    const now = this.clock.now();
    const { event: sent = '' } = draft.sound;
    const sample = this.#make(scope, sent, now);
    if (!sample) throw draft.refusal([{ param: 'event', code: 'invalid', message: this.#whyNot(sent) }]);
    const { event: name } = draft.accept();
    const endpoint = await this.endpoints.get(scope, endpointId);
    if (endpoint.status !== 'ACTIVE') {
      throw badRequest('webhook_endpoint_inactive', 'The endpoint is INACTIVE: set it ACTIVE first.');
    }
    const { event, payload } = sample;
    const message = messageOf(event, name, JSON.stringify(payload), [endpoint], true, () => newId(now));
    await this.database.transaction(async (tx) => this.writer.write(tx, [message], now, 1));
    const delivery = await this.log.find(scope, message.deliveries[0]?.id ?? '');
    if (!delivery) throw new Error(`The delivery of message ${message.id} was just written`);
    return delivery;
  }

  /**
   * Returns the body that an endpoint would get for the event. @throws ApiError 404 for a name that this version does
   * not send
   */
  show(scope: Scope, name: string): object {
    const sample = this.#make(scope, name, this.clock.now());
    if (!sample) throw notFound('event');
    return sample.payload;
  }

  /** @returns null for a name that this version does not send */
  #make(
    scope: Scope,
    name: string,
    now: Date,
  ): { event: NewEvent & { id: string; sequence: number }; payload: object } | null {
    const sample = this.catalog.sample(name, scope, now);
    if (!sample) return null;
    const { publicEvent } = sample;
    const event = { ...sample.event, id: newId(now), sequence: 1 };
    const content = publicEvent.present(event);
    if (content === null) throw new Error(`The sample of ${name} does not concern it`);
    const body = envelope(publicEvent.family, event, name, content, publicEvent.beside?.(event));
    return { event, payload: { ...body, sample: true } };
  }

  #whyNot(name: string): string {
    return this.catalog.has(name)
      ? 'is sent only when a status is resent, and has no sample'
      : 'is not an event; see GET /v1/webhooks/event-catalog';
  }
}
