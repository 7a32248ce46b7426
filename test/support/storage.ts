import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectStorage } from '../../src/storage/index.js';
import { type S3Fault, startS3 } from './s3.js';
import { TestService } from './service.js';

/** Where the files are in this world, and what goes on there. */
export interface Place {
  readonly service: TestService;
  readonly storage: ObjectStorage;
  /** Names of everything that is stored, `<key>/<name>`. */
  stored(): Promise<string[]>;
  fail(fault: 'down' | S3Fault): Promise<void>;
  mend(): Promise<void>;
  stop(): Promise<void>;
}

export async function onDisk(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'recebe-files-'));
  const service = await TestService.start({ env: { DATA_DIR: directory } });
  const root = join(directory, 'evidence');
  const stored = (): string[] =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'closed')
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return {
    service,
    storage: service.get(ObjectStorage),
    stored: async () => stored(),
    // A file where the directory was: root, as whom tests may run, reads through any mode.
    fail: async () => {
      rmSync(`${root}.away`, { recursive: true, force: true });
      renameSync(root, `${root}.away`);
      writeFileSync(root, '');
    },
    mend: async () => {
      rmSync(root);
      renameSync(`${root}.away`, root);
    },
    stop: async () => {
      await service.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function inS3(): Promise<Place> {
  const s3 = await startS3();
  const service = await TestService.start({ env: { STORAGE_URL: s3.url } });
  return {
    service,
    storage: service.get(ObjectStorage),
    stored: async () => (await s3.keys()).map((key) => key.replace(/^med\//, '')),
    fail: async (fault) => {
      if (fault === 'down') await s3.down();
      else s3.fault = fault;
    },
    mend: async () => {
      s3.fault = null;
      await s3.up();
    },
    stop: async () => {
      await service.stop();
      await s3.stop();
    },
  };
}
