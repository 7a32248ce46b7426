import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { Clock } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import { badRequest, invalidRequest, notFound, type Violation } from '../../core/errors/index.js';
import type { CursorFilter } from '../../core/http/index.js';
import type { Scope } from '../../core/mode.js';
import type { CurrencyTotal } from '../../core/totals.js';
import { end } from '../cases/dispute.rules.js';
import type { MedCase } from '../cases/med-case.js';
import { MED_MOVES } from '../cases/med-cases.machine.js';
import { MedCasesRepository } from '../cases/med-cases.repository.js';
import { MedTransitions } from '../cases/med-transitions.service.js';
import type { MedCaseOrder } from './dto/list-med-cases.query.js';
import { type MedCaseFilter, MedCaseListsRepository } from './med-case-lists.repository.js';

/** A merchant's query; `after` is the id of one of its cases. */
export interface MedCaseQuery extends CursorFilter, Pick<MedCaseFilter, 'status' | 'type'> {
  readonly order: MedCaseOrder;
  readonly transactionId: string | null;
  /** Any sale of the customer whose cases are listed; null: all customers. */
  readonly customerOf: string | null;
  readonly after: string | null;
}

/** Lists cases for merchants, and takes their answers. */
@Injectable()
export class MedCasesService {
  constructor(
    private readonly database: Database,
    private readonly cases: MedCasesRepository,
    private readonly lists: MedCaseListsRepository,
    private readonly transitions: MedTransitions,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404, also if another account or mode has it, or while it is hidden */
  async find(scope: Scope, id: string): Promise<MedCase> {
    return seen(await this.cases.find(scope, id));
  }

  /** Finds a case as `find` does, and locks it until the end of `tx`. */
  async lock(tx: Tx, scope: Scope, id: string): Promise<MedCase> {
    return seen(await this.cases.lockOwn(tx, scope, id));
  }

  /** Counts the evidence of a case, in the database transaction that confirms or ends it under the case's lock. */
  countEvidence(tx: Tx, id: string, change: 1 | -1): void {
    this.cases.countEvidence(tx, id, change, this.clock.now());
  }

  /** @throws ApiError 400 for a cursor that is not one of the caller's cases, and for cases that wait for no answer */
  async list(scope: Scope, { after, order, ...query }: MedCaseQuery): Promise<MedCase[]> {
    const filter = await this.#filterOf(scope, query);
    const violations: Violation[] = [];
    const last = after === null ? null : await this.cases.find(scope, after);
    if (after !== null && last === null) {
      violations.push({ param: 'starting_after', code: 'invalid', message: 'must be the id of one of your cases' });
    }
    if (order === 'deadline' && filter.status !== null && filter.status !== 'open') {
      violations.push({ param: 'status', code: 'invalid', message: 'must be open, or left out, with order=deadline' });
    }
    if (violations.length > 0) throw invalidRequest(violations);
    return order === 'deadline'
      ? this.lists.openByDeadline(scope, { ...filter, after: last })
      : this.lists.list(scope, { ...filter, after: last });
  }

  async totals(scope: Scope, { order, ...query }: MedCaseQuery): Promise<CurrencyTotal[]> {
    const filter = await this.#filterOf(scope, query);
    return this.lists.totals(scope, order === 'deadline' ? { ...filter, status: 'open' } : filter);
  }

  async #filterOf(
    scope: Scope,
    { transactionId, customerOf, ...filter }: Omit<MedCaseQuery, 'after' | 'order'>,
  ): Promise<Omit<MedCaseFilter, 'after'>> {
    const ofCharge = transactionId === null ? null : [transactionId];
    if (customerOf === null) return { ...filter, transactionIds: ofCharge };
    const ofCustomer = await this.lists.salesOfCustomer(scope, customerOf);
    const both = ofCustomer.filter((id) => transactionId === null || id === transactionId);
    return { ...filter, transactionIds: both };
  }

  /**
   * Records an appeal, here only: the bank does not learn of it. @throws ApiError 404, 400 for a case that is not open
   */
  async appeal(scope: Scope, id: string, reason: string, actor: Actor): Promise<MedCase> {
    return this.database.transaction(async (tx) => {
      const found = await this.lock(tx, scope, id);
      if (!MED_MOVES.appealed.from.includes(found.status)) throw notOpen(found);
      const appealed = await this.transitions.appeal(tx, found, reason);
      this.audit.record(tx, actor, 'med_case.appealed', scope.accountId, { data: { case_id: id, mode: scope.mode } });
      return appealed;
    });
  }

  /**
   * Gives the money up, for good. @throws ApiError 404, 400 for a case that is not open, or whose amount is in doubt
   */
  async accept(scope: Scope, id: string, actor: Actor): Promise<MedCase> {
    const { transactionId } = await this.find(scope, id);
    return this.database.transaction(async (tx) => {
      const disputed = await this.transitions.lock(tx, transactionId);
      const found = disputed.find(id);
      if (!MED_MOVES.accepted.from.includes(found.status)) throw notOpen(found);
      // Accepting is final, so it could give up money that the bank does not claim any more.
      if (found.review === 'amount_mismatch') throw inDoubt();
      const ended = end(disputed, found, 'accepted');
      await this.transitions.carryOut(tx, ended);
      this.audit.record(tx, actor, 'med_case.accepted', scope.accountId, { data: { case_id: id, mode: scope.mode } });
      return ended.find(id);
    });
  }
}

function seen(found: MedCase | null): MedCase {
  if (!found) throw notFound('MED case');
  return found;
}

function inDoubt(): Error {
  return badRequest(
    'invalid_request',
    'The bank has changed the amount of this case, and it waits for a check of that: accept it once `metadata.med.amountMismatch` of its charge is false. It can be appealed meanwhile.',
  );
}

function notOpen({ status }: MedCase): Error {
  return badRequest('invalid_request', `Only a case that is open can be answered; this one is ${status}.`);
}
