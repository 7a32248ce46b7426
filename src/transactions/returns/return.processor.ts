import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import type { Work, WorkAnswer, Worker } from '../../core/work/index.js';
import { WalletsService } from '../../wallets/index.js';
import { SettlementsRepository } from '../settlement/settlements.repository.js';
import { RETURN_BACKOFF, ReturnCalls } from './return-calls.service.js';

/** Carries returns out: calls the bank and books the outcome. If the outcome is unknown, the return stays in flight. */
@Injectable()
export class ReturnProcessor implements Worker {
  readonly kind = 'return';
  readonly concurrency = 16;
  readonly backoff = RETURN_BACKOFF;
  readonly leaseMs = 30_000;

  constructor(
    private readonly database: Database,
    private readonly settlements: SettlementsRepository,
    private readonly calls: ReturnCalls,
    private readonly wallets: WalletsService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Takes a return one step further. */
  async run({ subjectId: id, attempt, prolong }: Work): Promise<WorkAnswer> {
    const pixReturn = await this.settlements.openReturn(id);
    if (!pixReturn) return 'done';
    const { accountId, acquirer, endToEndId, returnId, way, amount, currency, createdAt } = pixReturn;
    const name = { accountId, way, reference: endToEndId, returnId };
    const request = { ...name, cause: 'unwanted', amount, currency, destination: null } as const;
    // If a worker died after its call, the return is PENDING although the bank has it. Only the first attempt may
    // assume that the bank does not know it.
    const state = await this.calls.advance(
      acquirer,
      request,
      attempt === 1 ? null : { attempts: attempt, since: createdAt },
      prolong,
    );
    const now = this.clock.now();
    await this.database.transaction(async (tx) => {
      switch (state.kind) {
        case 'returned':
          if (!(await this.settlements.completeReturn(tx, id, now, state.fee))) return;
          this.wallets.giveBack(tx, id, pixReturn);
          return this.wallets.chargeFee(tx, id, { ...pixReturn, amount: state.fee });
        case 'failed':
          // If another run has taken over, the bank may have accepted that run's call: `prolong` throws then.
          await prolong(tx);
          // Nobody is out of pocket, the money is still with us: an operator has to look.
          this.logger.error({ returnId, reason: state.reason }, 'a return was refused');
          return this.settlements.moveReturn(tx, id, 'FAILED', state.reason, now);
        case 'in_progress':
        case 'not_found':
          return this.settlements.moveReturn(tx, id, 'IN_PROGRESS', null, now);
      }
    });
    return state.kind === 'returned' || state.kind === 'failed' ? 'done' : 'again';
  }
}
