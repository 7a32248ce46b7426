import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../core/queue/index.js';
import { StatementsService } from './statements.service.js';

@Processor('reconciliation.statement')
export class StatementProcessor {
  constructor(private readonly statements: StatementsService) {}

  @Process({ concurrency: 8 })
  async run({ data }: Job<'reconciliation.statement'>): Promise<void> {
    await this.statements.read(data.acquirer, data.list);
  }
}
