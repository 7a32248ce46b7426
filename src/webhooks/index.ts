export { EndpointsService } from './endpoints/endpoints.service.js';
export { WebhooksModule } from './webhooks.module.js';
