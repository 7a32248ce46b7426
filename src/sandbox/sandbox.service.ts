import { Injectable } from '@nestjs/common';
import { InboxService, SandboxAcquirer } from '../acquirers/index.js';
import { newEndToEndId, normalizeTaxId } from '../brazil/index.js';
import { type ChargeBody, ChargesService } from '../charges/index.js';
import { Clock } from '../core/clock.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { type Transaction, TransactionsService } from '../transactions/index.js';
import type { SimulateDto } from './dto/simulate.dto.js';

/** The payer of who names none: a CPF with valid check digits that stands in every tutorial. */
const DEFAULT_PAYER = '52998224725';
/** Not an ISPB of any bank. */
const SANDBOX_ISPB = '00000000';

export interface SandboxEventBody {
  object: 'sandbox_event';
  event: string;
  charge: ChargeBody;
}

/** Makes things happen at the sandbox bank, which then tells of them as a bank does. Test keys only. */
@Injectable()
export class SandboxService {
  constructor(
    private readonly transactions: TransactionsService,
    private readonly charges: ChargesService,
    private readonly bank: SandboxAcquirer,
    private readonly inbox: InboxService,
    private readonly clock: Clock,
  ) {}

  /** The route is for test keys only. @throws ApiError 404 for what the key cannot see */
  async simulate(scope: Scope, chargeId: string, dto: SimulateDto): Promise<SandboxEventBody> {
    const id = parseId(chargeId, ['ch_', 'tx_'], 'charge');
    const transaction = await this.transactions.get(scope, id);
    // The notification is stored; applying it now instead of by a job lets us answer with the state after it.
    await this.inbox.process(await this.#happen(transaction, dto));
    return { object: 'sandbox_event', event: dto.event, charge: await this.charges.get(scope, id) };
  }

  /** @returns the id of the stored notification */
  async #happen(transaction: Transaction, dto: SimulateDto): Promise<string> {
    const txid = transaction.txid ?? '';
    switch (dto.event) {
      case 'pay':
        return this.bank.receivePix({
          txid,
          endToEndId: dto.end_to_end_id ?? newEndToEndId(SANDBOX_ISPB, this.clock.now()),
          amount: dto.amount ?? transaction.amount,
          payer: { document: payerDocument(transaction, dto), name: dto.payer_name ?? transaction.customerName },
        });
      case 'expire':
        return this.bank.endCharge(txid, 'EXPIRED');
      case 'fail':
        return this.bank.endCharge(txid, 'REFUSED');
    }
  }
}

function payerDocument(transaction: Transaction, dto: SimulateDto): string | null {
  if (dto.payer_document === null) return null;
  if (dto.payer_document !== undefined) return normalizeTaxId(dto.payer_document);
  return transaction.customerDocument ?? DEFAULT_PAYER;
}
