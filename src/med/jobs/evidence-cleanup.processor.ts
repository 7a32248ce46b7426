import { Process, Processor } from '@nestjs/bull';
import { Database } from '../../core/database/index.js';
import type { Work, WorkAnswer, Worker } from '../../core/work/index.js';
import { ObjectStorage } from '../../storage/index.js';
import { EvidenceRepository } from '../evidence.repository.js';

/** Removes an upload that was never confirmed, and what of a confirmed one came after it. */
@Processor('evidence_cleanup')
export class EvidenceCleanupProcessor implements Worker {
  readonly backoff = [600_000];
  readonly leaseMs = 600_000;

  constructor(
    private readonly database: Database,
    private readonly evidence: EvidenceRepository,
    private readonly storage: ObjectStorage,
  ) {}

  @Process({ concurrency: 4 })
  async run({ subjectId: id }: Work): Promise<WorkAnswer> {
    const found = await this.database.transaction((tx) => this.evidence.abandon(tx, id));
    if (!found) return 'done';
    // The files first: a row that is gone would leave them to nobody.
    await this.storage.close(id, found.objectName);
    await this.database.transaction(async (tx) => this.evidence.forget(tx, id));
    return 'done';
  }
}
