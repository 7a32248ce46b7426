import type { ApiKeyBody, ApiKeyDetailsBody, ApiKeyListBody, IssuedApiKeyBody } from './dto/api-key.body.js';
import type { ApiKey } from './api-key.entity.js';

/** The answer to issue and rotate: the only one with the cleartext. */
export function issuedApiKey(key: ApiKey, apiKey: string): IssuedApiKeyBody {
  return { ...apiKeyBody(key), apiKey, fingerprint: fingerprintOf(key.keyHash) };
}

export function apiKeyBody(key: ApiKey): ApiKeyBody {
  return {
    id: key.id,
    prefix: key.prefix,
    label: key.label,
    createdAt: key.createdAt.toISOString(),
    mode: key.mode,
  };
}

export function apiKeyDetails(key: ApiKey): ApiKeyDetailsBody {
  return {
    ...apiKeyBody(key),
    fingerprint: fingerprintOf(key.keyHash),
    issued_by: key.issuedBy,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    allowed_ips: key.allowedIps,
  };
}

export function apiKeyList(keys: readonly ApiKey[], canManage: boolean): ApiKeyListBody {
  return {
    data: keys.map(apiKeyBody),
    access: { canManage },
  };
}

/** The name of a key in logs and in the audit trail. */
export function fingerprintOf(hash: Buffer): string {
  return `sha256:${hash.toString('hex').slice(0, 16)}`;
}
