import { Process, Processor } from '@nestjs/bull';
import type { Work, WorkAnswer, Worker } from '../../core/work/index.js';
import { EvidenceRemoval } from './evidence-removal.service.js';

/** Removes files that no evidence needs: of uploads that were not completed, and of test mode after 30 days. */
@Processor('evidence_cleanup')
export class EvidenceCleanupProcessor implements Worker {
  readonly backoff = [600_000];
  readonly leaseMs = 600_000;

  constructor(private readonly removal: EvidenceRemoval) {}

  @Process({ concurrency: 4 })
  async run({ subjectId: id }: Work): Promise<WorkAnswer> {
    return (await this.removal.cleanUp(id)) ?? 'done';
  }
}
