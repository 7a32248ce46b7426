import { Initial1700000000000 } from './1700000000000-initial.js';
import { WebhookManagement1700000001000 } from './1700000001000-webhook-management.js';

/** In the order in which they are applied. */
export const MIGRATIONS = [Initial1700000000000, WebhookManagement1700000001000];
