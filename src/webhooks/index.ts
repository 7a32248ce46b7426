export { EndpointsService } from './endpoints.service.js';
export {
  WebhookAttemptEntity,
  WebhookDefaultSecretEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
} from './webhook.entity.js';
export { WebhooksModule } from './webhooks.module.js';
