import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AccountEntity, accountSuspended, AccountsService, type Picture } from '../accounts/index.js';
import { type ChargeBody, chargeMetadata, ChargesService } from '../charges/index.js';
import { Clock } from '../core/clock.js';
import { fingerprintOf } from '../core/crypto/index.js';
import { conflict, notFound } from '../core/errors/index.js';
import { KeyChanged } from '../core/idempotency/index.js';
import type { Amount } from '../core/money/index.js';
import { type NewPixTransaction, publicMetadata } from '../transactions/index.js';
import { type ClosedReason, closedReason } from './payment-link.js';
import type { PaymentLink } from './payment-link.entity.js';
import { linkId } from './payment-link.serializer.js';
import { PaymentLinkVisitLimits } from './payment-link-visit-limits.service.js';
import { PaymentLinksRepository } from './payment-links.repository.js';
import { PaymentLinksService } from './payment-links.service.js';

/** A charge at a bank may take no less. */
const MIN_EXPIRES_IN = 60;
/** How often a visit may go on after its charge has ended unpaid or was paid. */
const MAX_CHARGES = 20;
const MAX_BEGINNINGS = 20;

/** The entries of a visitor. */
export interface Answers {
  readonly amount: Amount;
  readonly customer: NewPixTransaction['customer'];
  /** The answer to the link's question; null without one. */
  readonly answer: string | null;
}

export interface VisitedLink {
  readonly link: PaymentLink;
  readonly account: AccountEntity;
  /** Null while it takes payments. */
  readonly closed: ClosedReason | null;
}

/** Links as their visitors see and pay them. */
@Injectable()
export class PaymentLinkVisits {
  constructor(
    private readonly links: PaymentLinksRepository,
    private readonly merchants: PaymentLinksService,
    private readonly limits: PaymentLinkVisitLimits,
    private readonly accounts: AccountsService,
    private readonly charges: ChargesService,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 */
  async find(shortId: string): Promise<VisitedLink> {
    const link = await this.links.findPublic(shortId);
    if (!link) throw notFound('payment link');
    const account = await this.accounts.details(link.accountId);
    return { link, account, closed: closedReason(link, this.clock.now()) };
  }

  /** @throws ApiError 404, also for a link without picture */
  async picture(shortId: string): Promise<Picture> {
    const picture = await this.links.picture(shortId);
    if (!picture) throw notFound('picture');
    return picture;
  }

  /**
   * Makes the charge of a visit. Repeated with the same answers, a visit gets the same charge until that is over.
   * @param visit an unguessable text
   * @returns null when the link has closed meanwhile
   * @throws ApiError as the creation of a charge; 403 `account_suspended`, 429
   */
  async pay({ link, account }: VisitedLink, visit: string, answers: Answers): Promise<ChargeBody | null> {
    if (account.suspended) throw accountSuspended();
    await this.limits.take(link);
    const scope = { accountId: link.accountId, mode: link.mode };
    let earlier: string | null = null;
    for (let turn = 0; turn < MAX_CHARGES; turn++) {
      const made: ChargeBody = await this.#make(link, account, keyOf(visit, link, answers, earlier), answers);
      const charge = await this.charges.get(scope, made.id);
      if (charge.status === 'pending' || charge.status === 'processing') {
        // The link may have closed since it was read, after its other charges were cancelled.
        return (await this.merchants.isStillOpen(link.id)) ? charge : null;
      }
      earlier = charge.id;
    }
    throw conflict('too_many_charges', 'This visit has made too many charges: open the link again.');
  }

  async #make(link: PaymentLink, account: AccountEntity, key: string, answers: Answers): Promise<ChargeBody> {
    const scope = { accountId: link.accountId, mode: link.mode };
    const input = this.#inputOf(link, account, answers);
    // The key is a hash of everything that was entered, so a request under it is always the same one.
    const request = { operation: 'payment_links.pay', key, fingerprint: fingerprintOf({ link: link.id }) };
    for (let beginning = 0; ; beginning++) {
      try {
        const { body } = await this.charges.make(scope, account, input, request, (tx, transaction) =>
          this.links.insertCharge(tx, transaction, link.id),
        );
        return body;
      } catch (error) {
        if (!(error instanceof KeyChanged) || beginning >= MAX_BEGINNINGS) throw error;
      }
    }
  }

  #inputOf(link: PaymentLink, account: AccountEntity, { amount, customer, answer }: Answers): NewPixTransaction {
    const left = link.expiresAt === null ? Infinity : (link.expiresAt.getTime() - this.clock.now().getTime()) / 1000;
    const { metadata, question, returnUrl } = link;
    const own = {
      ...publicMetadata(metadata),
      ...(question === null ? {} : { payment_link_question: question, payment_link_answer: answer }),
      ...(returnUrl === null ? {} : { returnUrl }),
      payment_link: linkId(link),
    };
    return {
      amount,
      expiresIn: Math.min(account.defaultExpiresIn, Math.max(Math.floor(left), MIN_EXPIRES_IN)),
      customer,
      metadata: chargeMetadata(own, link.name),
      expectedPayerTaxId: null,
    };
  }
}

/** @param earlier the charge of the visit that is over; null: none */
function keyOf(visit: string, link: PaymentLink, answers: Answers, earlier: string | null): string {
  const text = JSON.stringify([visit, link.id, answers, earlier]);
  return createHash('sha256').update(text).digest('base64url');
}
