import { Inject, Injectable } from '@nestjs/common';
import { readPicture } from '../accounts/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { fingerprintOf } from '../core/crypto/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { conflict, type Draft, notFound, type Violation } from '../core/errors/index.js';
import { lastInstantOf } from '../core/http/index.js';
import { IdempotencyService, type IdempotentAnswer } from '../core/idempotency/index.js';
import { newId } from '../core/ids.js';
import type { Mode, Scope } from '../core/mode.js';
import { returnUrlProblem } from '../core/net/index.js';
import type { CurrencyTotal } from '../core/totals.js';
import { visibleLength } from '../core/text.js';
import { WorkService } from '../core/work/index.js';
import { publicMetadata } from '../transactions/index.js';
import type { PaymentLinkBody } from './dto/payment-link.body.js';
import type { ChangePaymentLinkDto, CreatePaymentLinkDto } from './dto/payment-link.dto.js';
import { closedReason, newShortId } from './payment-link.js';
import { ASKABLE, type PaymentLink } from './payment-link.entity.js';
import { linkId, paymentLinkBody } from './payment-link.serializer.js';
import { type LinkFilter, PaymentLinksRepository } from './payment-links.repository.js';

type Sent = Partial<ChangePaymentLinkDto>;
/** The part of a link that its merchant writes. */
type Terms = Pick<
  PaymentLink,
  | 'name'
  | 'description'
  | 'amount'
  | 'amountMin'
  | 'amountMax'
  | 'maxPayments'
  | 'expiresAt'
  | 'ask'
  | 'question'
  | 'returnUrl'
  | 'metadata'
>;

const NO_TERMS: Terms = {
  ...{ name: '', description: null, amount: null, amountMin: null, amountMax: null, maxPayments: null },
  ...{ expiresAt: null, ask: [], question: null, returnUrl: null, metadata: {} },
};

/** Links as merchants make, read and change them. */
@Injectable()
export class PaymentLinksService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
    private readonly links: PaymentLinksRepository,
    private readonly work: WorkService,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 400 with every violation, 409 (idempotency) */
  async create(
    scope: Scope,
    draft: Draft<CreatePaymentLinkDto>,
    key: string,
    actor: Actor,
  ): Promise<IdempotentAnswer<PaymentLinkBody>> {
    const now = this.clock.now();
    const dto = draft.accept(violationsOf(NO_TERMS, draft.sound, scope.mode, now));
    const fingerprint = fingerprintOf({ ...dto });
    const request = { ...scope, operation: 'payment_links.create', key, fingerprint };
    const begun = await this.idempotency.begin<PaymentLinkBody>(request);
    if (begun.kind === 'replay') return begun.answer;
    const { claim } = begun;
    if (begun.kind === 'resume') {
      return { status: 201, body: this.body(await this.get(scope, begun.resourceId)), replayed: true };
    }
    const picture = dto.picture === undefined ? null : readPicture(dto.picture);
    const link = {
      ...{ id: newId(now), ...scope, shortId: newShortId(), ...termsAfter(NO_TERMS, dto) },
      ...{ pictureType: picture?.type ?? null, picture: picture?.bytes ?? null },
      ...{ paidCount: 0, paidAmount: 0, endedAt: null, createdAt: now, updatedAt: now },
    };
    const answer = { status: 201, body: this.body(link) };
    try {
      await this.database.transaction(async (tx) => {
        claim.take(tx, link.id, answer);
        this.links.insert(tx, link);
        this.#record(tx, actor, 'payment_link.created', link);
        this.#plan(tx, link, now);
      });
    } catch (error) {
      throw await this.idempotency.failed(error, claim);
    }
    return { ...answer, replayed: false };
  }

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<PaymentLink> {
    const link = await this.links.find(scope, id);
    if (!link) throw notFound('payment link');
    return link;
  }

  /** Newest first. */
  list(scope: Scope, filter: LinkFilter): Promise<PaymentLink[]> {
    return this.links.list(scope, filter, this.clock.now());
  }

  /** Counts what the list has, and sums what was paid by these links. */
  totals(scope: Scope, filter: LinkFilter): Promise<CurrencyTotal[]> {
    return this.links.totals(scope, filter, this.clock.now());
  }

  /**
   * Changes a link. Charges that exist keep their amount; a full or expired link takes payments again when its limit is
   * raised.
   * @throws ApiError 400 with every violation, 404, 409 `payment_link_ended`
   */
  async change(scope: Scope, id: string, draft: Draft<ChangePaymentLinkDto>, actor: Actor): Promise<PaymentLink> {
    const now = this.clock.now();
    return this.database.transaction(async (tx) => {
      const link = await this.links.lock(tx, scope, id);
      if (!link) throw notFound('payment link');
      const dto = draft.accept(violationsOf(link, draft.sound, scope.mode, now, link.paidCount));
      if (link.endedAt !== null)
        throw conflict('payment_link_ended', 'An ended link cannot be changed: create another.');
      const changed = { ...link, ...termsAfter(link, dto), updatedAt: now };
      this.links.change(tx, changed);
      const picture = dto.picture == null ? null : readPicture(dto.picture);
      if (dto.picture !== undefined) this.links.setPicture(tx, id, picture?.type ?? null, picture?.bytes ?? null);
      this.#record(tx, actor, 'payment_link.changed', link, Object.keys(dto));
      this.#plan(tx, changed, now);
      return dto.picture === undefined ? changed : { ...changed, pictureType: picture?.type ?? null };
    });
  }

  /** Ends a link for good; its open charges are cancelled. Repeating changes nothing. @throws ApiError 404 */
  async end(scope: Scope, id: string, actor: Actor): Promise<PaymentLink> {
    const now = this.clock.now();
    const ended = await this.database.transaction(async (tx) => {
      const link = await this.links.end(tx, scope, id, now);
      if (!link) return null;
      this.#record(tx, actor, 'payment_link.ended', link);
      this.#plan(tx, link, now);
      return link;
    });
    return ended ?? this.get(scope, id);
  }

  /** Returns whether a link takes payments. If it does not, its open charges are cancelled once more. */
  async isStillOpen(id: string): Promise<boolean> {
    const link = await this.links.findAny(id);
    const now = this.clock.now();
    if (!link || closedReason(link, now) === null) return link !== null;
    await this.database.transaction(async (tx) => this.work.add(tx, 'payment_link', id, now));
    return false;
  }

  body(link: PaymentLink): PaymentLinkBody {
    return paymentLinkBody(link, this.config.publicBaseUrl, this.clock.now());
  }

  #record(
    tx: Tx,
    actor: Actor,
    type: 'payment_link.created' | 'payment_link.changed' | 'payment_link.ended',
    link: PaymentLink,
    fields?: readonly string[],
  ): void {
    const data = { mode: link.mode, payment_link_id: linkId(link), ...(fields === undefined ? {} : { fields }) };
    this.audit.record(tx, actor, type, link.accountId, { data });
  }

  /** Has the open charges of the link cancelled when it closes. */
  #plan(tx: Tx, link: PaymentLink, now: Date): void {
    const dueAt = closedReason(link, now) === null ? link.expiresAt : now;
    if (dueAt !== null) this.work.add(tx, 'payment_link', link.id, dueAt);
  }
}

/** Returns the terms with the sent ones in their place. */
function termsAfter(before: Terms, sent: Sent): Terms {
  const kept = <T>(value: T | undefined, own: T): T => (value === undefined ? own : value);
  return {
    name: kept(sent.name, before.name),
    description: kept(textOrNull(sent.description), before.description),
    amount: kept(sent.amount, before.amount),
    amountMin: kept(sent.amount_min, before.amountMin),
    amountMax: kept(sent.amount_max, before.amountMax),
    maxPayments: kept(sent.max_payments, before.maxPayments),
    expiresAt: sent.expires_at == null ? kept(sent.expires_at, before.expiresAt) : lastInstantOf(sent.expires_at),
    ask: sent.ask === undefined ? before.ask : ASKABLE.filter((one) => sent.ask?.includes(one)),
    question: kept(textOrNull(sent.question), before.question),
    returnUrl: kept(textOrNull(sent.return_url), before.returnUrl),
    metadata: sent.metadata === undefined ? before.metadata : publicMetadata(sent.metadata),
  };
}

/** Returns null for a blank text. */
function textOrNull(text: string | null | undefined): string | null | undefined {
  return typeof text === 'string' && visibleLength(text) === 0 ? null : text;
}

function violationsOf(before: Terms, sent: Sent, mode: Mode, now: Date, paidCount = 0): Violation[] {
  const { amount, amountMin, amountMax, expiresAt, maxPayments, returnUrl } = termsAfter(before, sent);
  const found: Violation[] = [];
  const refuse = (param: string, message: string): void => void found.push({ param, code: 'invalid', message });
  if (amount !== null && (amountMin !== null || amountMax !== null)) {
    refuse('amount', 'must be left out where the payer chooses between amount_min and amount_max');
  }
  if (amountMin !== null && amountMax !== null && amountMin > amountMax) {
    refuse('amount_max', 'must not be below amount_min');
  }
  if (maxPayments !== null && maxPayments < paidCount) {
    refuse('max_payments', `must not be below the ${paidCount} payments that were made`);
  }
  if (sent.expires_at != null && expiresAt !== null && expiresAt <= now) {
    refuse('expires_at', 'must be in the future; end the link to close it now');
  }
  const urlProblem = sent.return_url == null || returnUrl === null ? null : returnUrlProblem(returnUrl, mode);
  if (urlProblem !== null) refuse('return_url', urlProblem);
  return found;
}
