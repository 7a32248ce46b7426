import { Module } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { SecretBox } from '../core/crypto/index.js';
import { DiskLinks } from './disk-links.js';
import { DiskFiles } from './disk-files.service.js';
import { DiskStorage } from './disk.storage.js';
import { ObjectStorage } from './object-storage.js';
import { StorageController } from './storage.controller.js';

/** Makes the configured storage: files on our disk, or an S3 store. */
async function createStorage(config: Config, links: DiskLinks, clock: Clock): Promise<ObjectStorage> {
  const { storage } = config;
  if (storage.kind === 'disk') return new DiskStorage(storage.directory, links, config.storageMinFree);
  // Imported only here: AWS's SDK costs every start a tenth of a second and twenty megabytes.
  const { S3Storage } = await import('./s3.storage.js');
  return new S3Storage(storage, clock);
}

@Module({
  controllers: [StorageController],
  providers: [
    {
      provide: DiskLinks,
      useFactory: (config: Config, secrets: SecretBox, clock: Clock) => new DiskLinks(config, secrets, clock),
      inject: [CONFIG, SecretBox, Clock],
    },
    { provide: ObjectStorage, useFactory: createStorage, inject: [CONFIG, DiskLinks, Clock] },
    DiskFiles,
  ],
  exports: [ObjectStorage],
})
export class StorageModule {}
