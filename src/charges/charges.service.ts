import { Inject, Injectable } from '@nestjs/common';
import type { Account } from '../accounts/index.js';
import { normalizeTaxId } from '../brazil/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { fingerprintOf } from '../core/crypto/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { type Draft, notFound, type Violation } from '../core/errors/index.js';
import {
  type Answer,
  type Claim,
  IdempotencyService,
  type IdempotentAnswer,
  type IdempotentRequest,
} from '../core/idempotency/index.js';
import { parseId } from '../core/ids.js';
import type { Mode, Scope } from '../core/mode.js';
import { FraudGuard } from '../fraud/index.js';
import {
  CreationService,
  isPix,
  MedPayers,
  type Metadata,
  type NewPixTransaction,
  publicMetadata,
  returnUrlViolations,
  type Transaction,
  TransactionsService,
} from '../transactions/index.js';
import { chargeBody } from './charge.serializer.js';
import type { ChargeBody } from './dto/charge.body.js';
import type { CreatePixChargeDto } from './dto/create-charge.dto.js';

export const CHARGE_ID_PREFIXES = ['ch_'];
const MAX_EXPIRES_IN = 86_400;

/** Pix charges: the snake_case view of transactions. */
@Injectable()
export class ChargesService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
    private readonly creation: CreationService,
    private readonly transactions: TransactionsService,
    private readonly payers: MedPayers,
    private readonly fraud: FraudGuard,
  ) {}

  /**
   * @throws ApiError 400 with every violation, 403 `fraud.*`, 409 (idempotency), 422
   *   `no_provider_configured`, `charge_refused`, 503 if the acquirer cannot be reached
   */
  async create(
    scope: Scope,
    account: Account,
    draft: Draft<CreatePixChargeDto>,
    idempotencyKey: string,
  ): Promise<IdempotentAnswer<ChargeBody>> {
    const input = toNewTransaction(draft.accept(problemsOf(draft.sound, scope.mode)), account.defaultExpiresIn);
    // Hashes the parsed input, after defaults: {"currency":"BRL"} and its absence are the same request.
    const fingerprint = fingerprintOf(input);
    return this.make(scope, account, input, { operation: 'charges.create', key: idempotencyKey, fingerprint });
  }

  /**
   * Makes a charge for another module, under a key of its operation, with all checks of `create` but those of the body.
   * @param alongside writes rows of the caller in the commit that makes the charge, by `writeRow` or `defer`
   * @throws ApiError as `create`; KeyChanged: begin again
   */
  async make(
    scope: Scope,
    account: Account,
    input: NewPixTransaction,
    key: Pick<IdempotentRequest, 'operation' | 'key' | 'fingerprint'>,
    alongside?: (tx: Tx, transaction: Transaction) => void,
  ): Promise<IdempotentAnswer<ChargeBody>> {
    const request = { ...scope, ...key };
    const begun = await this.idempotency.begin<ChargeBody>(request);
    if (begun.kind === 'replay') return begun.answer;
    const { claim } = begun;
    if (begun.kind === 'resume') {
      const transaction = await this.creation.resume(scope, begun.resourceId);
      return { ...(await this.#issue(transaction, account, claim, true)), replayed: true };
    }
    const { amount } = input;
    const document = input.customer.document ?? input.expectedPayerTaxId;
    try {
      claim.admission = await this.fraud.check(scope, account, { operation: 'charge', amount, document, request });
      const transaction = this.creation.draft(scope, account, input);
      const answer = transaction.status === 'PENDING' ? null : this.#created(transaction);
      await this.creation.insert(claim, transaction, answer, alongside);
      return { ...(answer ?? (await this.#issue(transaction, account, claim, false))), replayed: false };
    } catch (error) {
      throw await this.idempotency.failed(error, claim);
    }
  }

  /** Has the acquirer make the charge, and answers with the outcome. */
  async #issue(
    transaction: Transaction,
    account: Account,
    claim: Claim,
    mayExist: boolean,
  ): Promise<Answer<ChargeBody>> {
    const result = await this.creation.issue(transaction, account, claim, mayExist);
    const answer = await this.database.transaction(async (tx) => {
      await claim.hold(tx, transaction.id);
      const charge = await this.creation.settle(tx, transaction, result);
      if (!charge) {
        claim.release(tx, transaction.id);
        return null;
      }
      const created = this.#created(charge);
      claim.complete(tx, created);
      return created;
    });
    if (!answer) throw this.creation.notMade(transaction, result);
    return answer;
  }

  #created(transaction: Transaction): Answer<ChargeBody> {
    return { status: 201, body: chargeBody(this.payers.show(transaction), this.config.publicBaseUrl) };
  }

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<ChargeBody> {
    const transaction = await this.transactions.get(scope, parseId(id, CHARGE_ID_PREFIXES, 'charge'), 'charge');
    if (!isPix(transaction)) throw notFound('charge');
    return chargeBody(this.payers.show(transaction), this.config.publicBaseUrl);
  }
}

function problemsOf(sent: Partial<CreatePixChargeDto>, mode: Mode): Violation[] {
  return [...payerLockProblems(sent), ...returnUrlViolations(sent.metadata ?? {}, mode)];
}

/** Checks that the customer has the fields that the payer lock needs. */
function payerLockProblems({ expected_payer_tax_id, customer }: Partial<CreatePixChargeDto>): Violation[] {
  const expectedPayerTaxId = taxIdOrNull(expected_payer_tax_id);
  if (expectedPayerTaxId === null) return [];
  const document = taxIdOrNull(customer?.document);
  const violations: Violation[] = [];
  if (customer?.name == null) {
    violations.push({
      param: 'customer.name',
      code: 'required',
      message: 'is required when expected_payer_tax_id is sent',
    });
  }
  if (document !== null && document !== expectedPayerTaxId) {
    violations.push({
      param: 'expected_payer_tax_id',
      code: 'invalid',
      message: 'must equal customer.document when both are sent',
    });
  }
  return violations;
}

function toNewTransaction(dto: CreatePixChargeDto, defaultExpiresIn: number): NewPixTransaction {
  return {
    amount: dto.amount,
    expiresIn: Math.min(dto.expires_in ?? defaultExpiresIn, MAX_EXPIRES_IN),
    customer: {
      name: dto.customer?.name ?? null,
      document: taxIdOrNull(dto.customer?.document),
      email: dto.customer?.email ?? null,
      phone: dto.customer?.phone ?? null,
    },
    metadata: chargeMetadata(dto.metadata ?? {}, dto.description ?? null),
    expectedPayerTaxId: taxIdOrNull(dto.expected_payer_tax_id),
  };
}

function taxIdOrNull(value: string | null | undefined): string | null {
  return value == null ? null : normalizeTaxId(value);
}

/** Returns the metadata of a charge, with its description folded in: docs/contract.md#metadata-and-texts. */
export function chargeMetadata(metadata: Metadata, description: string | null): Metadata {
  return { ...publicMetadata(metadata), ...(description === null ? {} : { description }) };
}
