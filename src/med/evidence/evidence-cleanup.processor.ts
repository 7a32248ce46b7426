import { Injectable } from '@nestjs/common';
import type { Work, WorkAnswer, Worker } from '../../core/work/index.js';
import { EvidenceRemoval } from './evidence-removal.service.js';

/** Removes files that no evidence needs: of uploads that were not completed, and of test mode after 30 days. */
@Injectable()
export class EvidenceCleanupProcessor implements Worker {
  readonly kind = 'evidence_cleanup';
  readonly concurrency = 4;
  readonly backoff = [600_000];
  readonly leaseMs = 600_000;

  constructor(private readonly removal: EvidenceRemoval) {}

  async run({ subjectId: id }: Work): Promise<WorkAnswer> {
    return (await this.removal.cleanUp(id)) ?? 'done';
  }
}
