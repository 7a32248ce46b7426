export { type ApiKey } from './api-key.entity.js';
export { apiKeyDetails, apiKeyList } from './api-keys.serializer.js';
export { ApiKeyListBody, RevokedBody } from './dto/api-key.body.js';
export { ApiKeysModule } from './api-keys.module.js';
export { ApiKeysService } from './api-keys.service.js';
