import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { type Config, ConfigError, localSecret } from '../config/index.js';
import { SecretBox } from '../crypto/index.js';
import { Database, Reader } from '../database/index.js';
import { readIfThere } from '../private-files.js';
import type { EncryptionKeyEntity } from './encryption-key.entity.js';
import { EncryptionKeysRepository } from './encryption-keys.repository.js';
import { ResealingRepository, type SealedRow } from './resealing.repository.js';

const CANARY = 'canary';
const contextOf = (keyId: string): string => `encryption_key:${keyId}`;
const WITHOUT_A_COPY = 'Nothing was changed. Without a copy: docs/operations.md, "A lost key".';

type Sealed = Pick<SealedRow, 'sealed' | 'context'>;

/**
 * Reads the keys of the configuration and checks that they open the stored values. A service with other keys would use
 * up the attempts of every delivery. A second danger: it would seal new rows under a key that the next start does not
 * have.
 * @throws ConfigError where a key is wrong or missing; nothing has been written then
 */
export async function openSecrets(config: Config, dataSource: DataSource): Promise<SecretBox> {
  const reader = new Reader(dataSource);
  const keys = new EncryptionKeysRepository(reader);
  const known = await keys.list();
  // A database from before there were canaries: check some of its values instead.
  const samples = known.length === 0 ? await new ResealingRepository(dataSource, reader).samples() : [];
  const secrets = readKeys(config, known.some(({ lostAt }) => lostAt === null) || samples.length > 0);
  const where = config.encryptionKey === undefined ? keyFile(config) : 'ENCRYPTION_KEY';

  refuseUnopened(secrets, known, where);
  if (samples.length > 0 && !samples.some((sample) => canOpen(secrets, sample))) throw wrongKey(where);
  const [first = ''] = secrets.keyIds;
  const added = samples.length > 0 ? secrets.keyIds : [first].filter((id) => known.every((key) => key.id !== id));
  if (added.length === 0) return secrets;
  await new Database(dataSource, 1).transaction(async (tx) => {
    for (const id of added) await keys.add(tx, id, secrets.seal(CANARY, contextOf(id), id));
  });
  // A process that started at the same moment may have added another key of this id.
  refuseUnopened(secrets, await keys.list(), where);
  return secrets;
}

const keyFile = ({ dataDir }: Config): string => join(dataDir, 'encryption-key');

/** @param isNeeded sealed values exist: a key that is made now could not open them */
function readKeys(config: Config, isNeeded: boolean): SecretBox {
  if (config.encryptionKey === undefined && isNeeded && readIfThere(keyFile(config)) === null) {
    throw new ConfigError(
      `${keyFile(config)} is missing, and what is stored here is sealed with the key that was in it. ` +
        `Put its copy back, or give the key in ENCRYPTION_KEY. ${WITHOUT_A_COPY}`,
    );
  }
  return new SecretBox(config.encryptionKey ?? localSecret(config.dataDir, 'encryption-key'));
}

function refuseUnopened(secrets: SecretBox, known: readonly EncryptionKeyEntity[], where: string): void {
  for (const { id, canary, lostAt } of known) {
    if (secrets.keyIds.includes(id)) {
      if (canary === null || !canOpen(secrets, { sealed: canary, context: contextOf(id) })) throw wrongKey(where, id);
    } else if (lostAt === null) {
      throw new ConfigError(
        `This key does not open what is stored here: ${where} has no key with the id "${id}", under which some of it ` +
          `is sealed. Put that key back, behind a new one if there is one (<new>,${id}:<64 hex>); it may go when ` +
          `\`secrets reseal\` has said "unreadable": 0. ${WITHOUT_A_COPY}`,
      );
    }
  }
}

function wrongKey(where: string, id?: string): ConfigError {
  const name = id === undefined ? '' : ` (id "${id}")`;
  return new ConfigError(
    `This key does not open what is stored here: the key in ${where}${name} is another one than the one that sealed it. ` +
      `Put the copy of the right key back there. ${WITHOUT_A_COPY}`,
  );
}

function canOpen(secrets: SecretBox, { sealed, context }: Sealed): boolean {
  try {
    if (typeof sealed === 'string') secrets.openText(sealed, context);
    else secrets.open(sealed, context);
    return true;
  } catch {
    return false;
  }
}
