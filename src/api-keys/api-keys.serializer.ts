import type { ApiKeyListBody, IssuedApiKeyBody } from './dto/api-key.body.js';
import type { ApiKey } from './api-key.entity.js';

/** The answer to issue and rotate: the only one with the cleartext. */
export function issuedApiKey(key: ApiKey, apiKey: string, fingerprint: string): IssuedApiKeyBody {
  return {
    id: key.id,
    apiKey,
    fingerprint,
    prefix: key.prefix,
    label: key.label,
    createdAt: key.createdAt.toISOString(),
    mode: key.mode,
  };
}

export function apiKeyList(keys: readonly ApiKey[], canManage: boolean): ApiKeyListBody {
  return {
    data: keys.map((key) => ({
      id: key.id,
      prefix: key.prefix,
      label: key.label,
      createdAt: key.createdAt.toISOString(),
      mode: key.mode,
    })),
    access: { canManage },
  };
}
