import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { notFound } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import type { MedCase } from './med-case.js';
import { MedCasesRepository } from './med-cases.repository.js';

/** Cases as merchants read and answer them. */
@Injectable()
export class MedCasesService {
  constructor(
    private readonly cases: MedCasesRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404, also for what belongs to another account or mode, or is not shown yet */
  async find(scope: Scope, id: string): Promise<MedCase> {
    return seen(await this.cases.find(scope, id));
  }

  /** The same, locked until the end of `tx`. */
  async lock(tx: Tx, scope: Scope, id: string): Promise<MedCase> {
    return seen(await this.cases.lockOwn(tx, scope, id));
  }

  /** Counts one evidence more, in the transaction that confirms it and holds the case's lock. */
  countEvidence(tx: Tx, { id }: MedCase): void {
    this.cases.countEvidence(tx, id, this.clock.now());
  }
}

function seen(found: MedCase | null): MedCase {
  if (!found) throw notFound('MED case');
  return found;
}
