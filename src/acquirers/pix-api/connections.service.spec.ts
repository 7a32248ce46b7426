import { describe, expect, it } from '@jest/globals';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import type { ConnectionsRepository } from './connections.repository.js';
import { ConnectionsService } from './connections.service.js';
import { DESKS } from './desks/index.js';

function connections(stored: Readonly<Record<string, string>>): ConnectionsService {
  const repository: Partial<ConnectionsRepository> = {
    profiles: async () => Object.entries(stored).map(([id, profile]) => ({ id, profile })),
    callbacksOf: async (id) =>
      stored[id] === undefined ? null : { profile: stored[id], oldestSecret: 1, newestSecret: 1 },
  };
  return new ConnectionsService(repository as ConnectionsRepository, new SecretBox('11'.repeat(32)), new Clock());
}

describe('the desk of a connection', () => {
  it('is asked for again in a second while the connection is not read, and is never guessed', async () => {
    const service = connections({ c1: 'efi', c2: 'bb' });
    expect(() => service.deskOf('c1')).toThrow(expect.objectContaining({ status: 503 }));
    await service.learnProfile('c1');
    expect(service.deskOf('c1')).toBe(DESKS['efi']);
    expect(() => service.deskOf('c2')).toThrow(expect.objectContaining({ status: 503 }));
  });

  it('is known of all connections once they are read, and null where the PSP has none', async () => {
    const service = connections({ c1: 'efi', c2: 'bb' });
    await service.learnProfiles();
    expect([service.deskOf('c1'), service.deskOf('c2')]).toEqual([DESKS['efi'], null]);
  });

  it('is unknown of a connection that does not exist', async () => {
    const service = connections({});
    await service.learnProfile('c1');
    expect(() => service.deskOf('c1')).toThrow(expect.objectContaining({ status: 503 }));
  });

  it('reads callbacks of its PSP', async () => {
    const service = connections({ c1: 'efi', c2: 'bb' });
    expect(await service.callerOf('c1')).toMatchObject({ desk: DESKS['efi'] });
    expect(await service.callerOf('c2')).toMatchObject({ desk: null });
  });
});
