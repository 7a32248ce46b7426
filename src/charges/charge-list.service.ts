import { Inject, Injectable } from '@nestjs/common';
import { normalizeTaxId } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { ApiError, invalidRequest } from '../core/errors/index.js';
import { cursorFilter, cursorPage } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { asOf, MedPayers, TransactionsService } from '../transactions/index.js';
import { chargeBody } from './charge.serializer.js';
import { transactionStatusesOf } from './charge-status.js';
import { ChargesRepository } from './charges.repository.js';
import { CHARGE_ID_PREFIXES } from './charges.service.js';
import type { ChargeListBody } from './dto/charge.body.js';
import type { ListChargesQuery } from './dto/list-charges.query.js';

/** The list of charges, newest first. */
@Injectable()
export class ChargeList {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly charges: ChargesRepository,
    private readonly transactions: TransactionsService,
    private readonly payers: MedPayers,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 400 for a foreign cursor */
  async page(scope: Scope, query: ListChargesQuery): Promise<ChargeListBody> {
    const before =
      query.starting_after === undefined ? null : parseId(query.starting_after, CHARGE_ID_PREFIXES, 'charge');
    if (before !== null) {
      await this.transactions.get(scope, before, 'charge').catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        throw invalidRequest([
          { param: 'starting_after', code: 'invalid', message: 'must be the id of one of your charges' },
        ]);
      });
    }
    const filter = {
      ...cursorFilter(query),
      before,
      statuses: query.status === undefined ? null : transactionStatusesOf(query.status),
      customerDocument: query.customer_id === undefined ? null : normalizeTaxId(query.customer_id),
    };
    const now = this.clock.now();
    const rows = await this.charges.list(scope, filter, now);
    return cursorPage(
      rows,
      filter.limit,
      (row) => chargeBody(this.payers.show(asOf(row, now)), this.config.publicBaseUrl),
      (charge) => charge.id,
    );
  }
}
