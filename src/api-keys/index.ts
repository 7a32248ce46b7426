export { type ApiKey, ApiKeyEntity } from './api-key.entity.js';
export { apiKeyDetails } from './api-keys.serializer.js';
export { RevokedBody } from './dto/api-key.body.js';
export { ApiKeysModule } from './api-keys.module.js';
export { ApiKeysService } from './api-keys.service.js';
