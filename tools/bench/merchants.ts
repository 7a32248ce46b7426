import { createHash, randomBytes } from 'node:crypto';
import { AccountsRepository } from '../../src/accounts/accounts.repository.js';
import { ApiKeysRepository } from '../../src/api-keys/api-keys.repository.js';
import { createDataSource, Database, Reader } from '../../src/core/database/index.js';
import { newId } from '../../src/core/ids.js';

/** A merchant with one wallet and the key to it. */
export interface Merchant {
  readonly accountId: string;
  readonly apiKey: string;
  readonly keyHash: Buffer;
}

/** Makes no users: hashing a hundred passwords would take longer than the measurement. */
export async function makeMerchants(
  databaseUrl: string,
  count: number,
  mode: 'test' | 'live' = 'test',
): Promise<Merchant[]> {
  const dataSource = createDataSource({ url: databaseUrl, pool: 2 });
  await dataSource.initialize();
  try {
    const reader = new Reader(dataSource);
    const accounts = new AccountsRepository(reader);
    const keys = new ApiKeysRepository(reader);
    const createdAt = new Date();
    const merchants = Array.from({ length: count }, (): Merchant => {
      const apiKey = `ak_${mode}_${randomBytes(24).toString('base64url')}`;
      return { accountId: newId(createdAt), apiKey, keyHash: createHash('sha256').update(apiKey).digest() };
    });
    await new Database(dataSource).transaction(async (tx) => {
      for (const { accountId, apiKey, keyHash } of merchants) {
        accounts.insert(tx, { id: accountId, name: 'Padaria', contactEmail: 'owner@example.com', createdAt });
        keys.insert(tx, {
          id: newId(createdAt),
          accountId,
          mode,
          keyHash,
          prefix: apiKey.slice(0, 12),
          label: null,
          createdAt,
          issuedBy: null,
          expiresAt: null,
          allowedIps: [],
          lastUsedAt: null,
        });
      }
    });
    return merchants;
  } finally {
    await dataSource.destroy();
  }
}
