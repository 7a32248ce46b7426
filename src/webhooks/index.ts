// Nothing else imports these entities, by which the ORM knows the tables.
import './webhook-default-secret.entity.js';
import './webhook-message.entity.js';
export { DELIVERY_STATUSES } from './webhook-delivery.entity.js';
export type { EventBody } from './dto/event.body.js';
export { standardSecret } from './endpoints/secrets.js';
export { EndpointsService } from './endpoints/endpoints.service.js';
export { bodyOfItem } from './sending/envelope.js';
export { deliveryHeaders, standardHeaders } from './sending/signature.js';
export { WebhooksModule } from './webhooks.module.js';
