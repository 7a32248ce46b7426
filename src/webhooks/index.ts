export { EndpointsService } from './endpoints/endpoints.service.js';
export {
  WebhookAttemptEntity,
  WebhookDefaultSecretEntity,
  WebhookDeliveryEntity,
  WebhookMessageEntity,
  WebhookEndpointEntity,
} from './webhook.entity.js';
export { WebhooksModule } from './webhooks.module.js';
