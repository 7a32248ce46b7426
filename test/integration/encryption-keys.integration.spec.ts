import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import '../../src/app/app.module.js';
import { type Config, readConfig } from '../../src/core/config/index.js';
import { SecretBox } from '../../src/core/crypto/index.js';
import { createDataSource, Database, Reader } from '../../src/core/database/index.js';
import {
  EncryptionKeysRepository,
  openSecrets,
  ResealingRepository,
  ResealingService,
} from '../../src/core/resealing/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const [A, B, C] = ['aa', 'bb', 'cc'].map((byte) => byte.repeat(32)) as [string, string, string];

describe('the encryption keys of stored data', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'recebe-keys-'));
  const file = join(dataDir, 'encryption-key');
  let database: TestDatabase;
  let source: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    source = await createDataSource({ url: database.url, pool: 4 }).initialize();
  });
  beforeEach(async () => {
    await database.pool.query('DELETE FROM encryption_keys; DELETE FROM emails');
    rmSync(file, { force: true });
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  function configOf(key: string | null): Config {
    const env = { DATA_DIR: dataDir, DATABASE_URL: database.url, ALLOW_INSECURE: 'true' };
    return readConfig({ ...env, ...(key === null ? {} : { ENCRYPTION_KEY: key }) });
  }

  /** As a service that starts: with ENCRYPTION_KEY, or null with the file. */
  const start = (key: string | null): Promise<SecretBox> => openSecrets(configOf(key), source);

  /** A mail that waits with its secret. */
  async function sealAMail(secrets: SecretBox, n = 1): Promise<void> {
    const id = `01890000-0000-7000-8000-00000000000${String(n)}`;
    await database.pool.query(
      `INSERT INTO emails (id, recipient, subject, text_body, html_body, secret_sealed, created_at)
       VALUES ($1, 'ana@example.com', 'x', 'x', 'x', $2, now())`,
      [id, secrets.seal('token', `mail:${id}`)],
    );
  }

  async function reseal(secrets: SecretBox): Promise<void> {
    const reader = new Reader(source);
    const repository = new ResealingRepository(source, reader);
    const keys = new EncryptionKeysRepository(reader);
    await new ResealingService(repository, keys, new Database(source), secrets).resealAll(() => undefined);
  }

  const written = async (): Promise<unknown> =>
    (
      await database.pool.query<{ id: string; canary: Buffer }>(
        'SELECT key_id AS id, canary FROM encryption_keys ORDER BY 1',
      )
    ).rows;
  const idsOf = async (): Promise<string[]> => ((await written()) as { id: string }[]).map(({ id }) => id);

  const WRONG =
    /^This key does not open what is stored here: the key in ENCRYPTION_KEY.*copy of the right key.*Nothing was changed/;
  const without = (id: string): RegExp =>
    new RegExp(`^This key does not open.*ENCRYPTION_KEY has no key with the id "${id}"`);

  it.each<[title: string, steps: string[], last: string, refused: RegExp | null, ids: string[]]>([
    ['begins with a new key on an empty database', [], A, null, ['1']],
    ['opens with the right key again', [A, 'seal'], A, null, ['1']],
    ['refuses a wrong key', [A, 'seal'], B, WRONG, ['1']],
    ['refuses a wrong key before anything was sealed', [A], B, WRONG, ['1']],
    ['refuses a lost key whose place a new one takes', [A, 'seal'], `2:${B}`, without('1'), ['1']],
    ['takes a new key before the old one', [A, 'seal'], `2:${B},1:${A}`, null, ['1', '2']],
    ['refuses a wrong old key beside a new one', [A, 'seal'], `2:${B},1:${C}`, WRONG, ['1']],
    ['refuses the old key alone once a new one seals', [A, `2:${B},1:${A}`], A, without('2'), ['1', '2']],
    [
      'refuses to go without the old key before all is resealed',
      [A, 'seal', `2:${B},1:${A}`],
      `2:${B}`,
      without('1'),
      ['1', '2'],
    ],
    ['goes without the old key once all is resealed', [A, 'seal', `2:${B},1:${A}`, 'reseal'], `2:${B}`, null, ['2']],
    [
      'goes without it also after another start with both',
      [A, `2:${B},1:${A}`, 'reseal', `2:${B},1:${A}`],
      `2:${B}`,
      null,
      ['2'],
    ],
    ['verifies a database from before there were canaries', [A, 'seal', 'forget canaries'], A, null, ['1']],
    ['refuses a wrong key of such a database', [A, 'seal', 'forget canaries'], B, WRONG, []],
    ['refuses another key id of such a database', [A, 'seal', 'forget canaries'], `2:${B}`, WRONG, []],
    [
      'keeps both keys of such a database that rotates',
      [A, 'seal', 'forget canaries'],
      `2:${B},1:${A}`,
      null,
      ['1', '2'],
    ],
    ['begins anew under another id when a lost key was given up', [A, 'seal', 'give up 1'], `2:${B}`, null, ['1', '2']],
    ['refuses a new key under the id of one that was given up', [A, 'seal', 'give up 1'], B, WRONG, ['1']],
    ['takes back a key that was given up', [A, 'seal', 'give up 1'], A, null, ['1']],
  ])('%s', async (_, steps, last, refused, ids) => {
    // A step is one of these, or a start with this ENCRYPTION_KEY.
    let secrets = new SecretBox(A);
    for (const step of steps) {
      if (step === 'seal') await sealAMail(secrets);
      else if (step === 'reseal') await reseal(secrets);
      else if (step === 'forget canaries') await database.pool.query('DELETE FROM encryption_keys');
      else if (step === 'give up 1')
        await database.pool.query(`UPDATE encryption_keys SET lost_at = now() WHERE key_id = '1'`);
      else secrets = await start(step);
    }
    const before = await written();
    if (refused === null) await start(last);
    else {
      await expect(start(last)).rejects.toThrow(refused);
      expect(await written()).toEqual(before);
    }
    expect(await idsOf()).toEqual(ids);
  });

  it('are one when two processes begin at once on an empty database, and a process with another key is refused', async () => {
    await Promise.all([start(null), start(null), start(null)]);
    expect(await idsOf()).toEqual(['1']);
    const key = readFileSync(file, 'utf8');
    await start(null);
    expect(readFileSync(file, 'utf8')).toBe(key);

    await database.pool.query('DELETE FROM encryption_keys');
    const both = await Promise.allSettled([start(A), start(B)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it.each(['canary', 'value'])(
    'are not replaced when the key file of a database with a %s is missing, and the file is named',
    async (stored) => {
      const secrets = await start(null);
      const copy = readFileSync(file, 'utf8');
      if (stored === 'value') {
        await sealAMail(secrets);
        await database.pool.query('DELETE FROM encryption_keys');
      }
      rmSync(file);
      await expect(start(null)).rejects.toThrow(`${file} is missing`);
      expect(existsSync(file)).toBe(false);
      writeFileSync(file, copy);
      await start(null);
      expect(await idsOf()).toEqual(['1']);
    },
  );
});
