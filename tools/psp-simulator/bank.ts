import { randomBytes } from 'node:crypto';
import { isTxid, newEndToEndId } from '../../src/brazil/index.js';
import { type Cob, type CobTerms, type Merchant, type Pix, type Webhook, termsOf } from './model.js';
import { Problem } from './problems.js';
import { readRevision, readTerms, readWebhookUrl } from './requests.js';
import type { expiry, newMerchant, payment, Settings } from './settings.js';
import type * as z from 'zod';

/** An ISPB that no real bank has. */
const PAYERS_ISPB = '99999008';

/** A contradictory control request; the message explains the solution. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: 404 | 409,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Charges, received Pix and webhooks of all merchants. Merchants' requests throw Problem, the operator's throw Refusal.
 */
export class Bank {
  readonly #merchants = new Map<string, Merchant>();
  readonly #cobs = new Map<string, Cob>();
  readonly #pix = new Map<string, Pix>();
  readonly #webhooks = new Map<string, Webhook>();

  /** `locationPrefix`: `host/path/` under which charges are found; the port is known only after the start. */
  constructor(
    private readonly settings: Settings,
    readonly now: () => Date,
    private readonly locationPrefix: () => string,
    private readonly onPix: (pix: Pix) => void,
  ) {}

  get merchants(): readonly Merchant[] {
    return [...this.#merchants.values()];
  }

  get cobs(): readonly Cob[] {
    return [...this.#cobs.values()];
  }

  get pix(): readonly Pix[] {
    return [...this.#pix.values()];
  }

  get webhooks(): readonly Webhook[] {
    return [...this.#webhooks.values()];
  }

  addMerchant(merchant: z.output<typeof newMerchant>): Merchant {
    if (this.#merchants.has(merchant.clientId)) throw new Refusal(409, `client id ${merchant.clientId} exists already`);
    const taken = merchant.pixKeys.find((key) => this.#ownerOf(key) !== undefined);
    if (taken !== undefined) throw new Refusal(409, `Pix key ${taken} belongs to another merchant`);
    this.#merchants.set(merchant.clientId, merchant);
    return merchant;
  }

  merchant(clientId: string): Merchant | undefined {
    return this.#merchants.get(clientId);
  }

  /** @throws Refusal 404, or 409 when no client id says which of several */
  onlyMerchant(clientId: string | undefined): Merchant {
    const found = this.merchants.filter((merchant) => clientId === undefined || merchant.clientId === clientId);
    if (found.length > 1) throw new Refusal(409, 'there are several merchants: say clientId');
    if (!found[0]) throw new Refusal(404, `no merchant has the client id ${clientId ?? ''}`);
    return found[0];
  }

  /** Creates the charge; a repetition with changes revises it. @throws Problem CobOperacaoInvalida */
  putCob(merchant: Merchant, txid: string, body: unknown): Cob {
    if (!isTxid(txid)) {
      const razao = 'O campo cob.txid não respeita o _schema_.';
      throw Problem.of('CobOperacaoInvalida', [{ razao, propriedade: 'cob.txid', valor: txid }]);
    }
    const terms = readTerms(body, null, merchant.pixKeys);
    const known = this.#cobs.get(cobKey(merchant, txid));
    if (known) return this.#repeatCob(known, terms);
    const locationId = this.#cobs.size + 1;
    const cob: Cob = {
      merchant,
      txid,
      createdAt: this.now(),
      locationId,
      location: `${this.locationPrefix()}${randomBytes(16).toString('hex')}`,
      revisions: [terms],
      status: 'ATIVA',
      expiredAt: null,
      pix: [],
    };
    this.#cobs.set(cobKey(merchant, txid), cob);
    return cob;
  }

  #repeatCob(cob: Cob, terms: CobTerms): Cob {
    if (this.settings.repeatedTxid === 'refuse') {
      const razao = 'O campo cob.txid encontra-se em uso.';
      throw Problem.of('CobOperacaoInvalida', [{ razao, propriedade: 'cob.txid', valor: cob.txid }]);
    }
    return isSame(terms, termsOf(cob)) ? cob : this.#revise(cob, terms);
  }

  /** @throws Problem CobNaoEncontrado, CobOperacaoInvalida */
  patchCob(merchant: Merchant, txid: string, body: unknown): Cob {
    const cob = this.getCob(merchant, txid);
    const revision = readRevision(body, termsOf(cob), merchant.pixKeys);
    return this.#revise(cob, revision);
  }

  #revise(cob: Cob, change: CobTerms | 'remove'): Cob {
    if (cob.status !== 'ATIVA') {
      const razao = 'A cobrança não está ATIVA, e a presente requisição busca alterá-la.';
      throw Problem.of('CobOperacaoInvalida', [{ razao, propriedade: 'cob.status', valor: cob.status }]);
    }
    if (change === 'remove') cob.status = 'REMOVIDA_PELO_USUARIO_RECEBEDOR';
    cob.revisions.push(change === 'remove' ? termsOf(cob) : change);
    return cob;
  }

  /** @throws Problem CobNaoEncontrado */
  getCob(merchant: Merchant, txid: string): Cob {
    const cob = this.#cobs.get(cobKey(merchant, txid));
    if (!cob) throw Problem.of('CobNaoEncontrado');
    return cob;
  }

  /** The charge that a dynamic code leads to. */
  cobAt(location: string): Cob | undefined {
    return this.cobs.find((cob) => cob.location === location);
  }

  /** @throws Problem PixNaoEncontrado, also for another merchant's Pix */
  getPix(merchant: Merchant, endToEndId: string): Pix {
    const pix = this.#pix.get(endToEndId);
    if (pix?.merchant !== merchant) throw Problem.of('PixNaoEncontrado');
    return pix;
  }

  pixOf(merchant: Merchant): readonly Pix[] {
    return this.pix.filter((pix) => pix.merchant === merchant);
  }

  /** @throws Problem WebhookOperacaoInvalida */
  putWebhook(merchant: Merchant, key: string, body: unknown): void {
    if (!merchant.pixKeys.includes(key)) {
      const razao = 'O parâmetro {chave} não corresponde a uma chave DICT pertencente a este usuário recebedor.';
      throw Problem.of('WebhookOperacaoInvalida', [{ razao, propriedade: 'chave', valor: key }]);
    }
    this.#webhooks.set(key, { merchant, key, url: readWebhookUrl(body), createdAt: this.now() });
  }

  /** @throws Problem WebhookNaoEncontrado */
  getWebhook(merchant: Merchant, key: string): Webhook {
    const webhook = this.#webhooks.get(key);
    if (webhook?.merchant !== merchant) throw Problem.of('WebhookNaoEncontrado');
    return webhook;
  }

  /** @throws Problem WebhookNaoEncontrado */
  deleteWebhook(merchant: Merchant, key: string): void {
    this.#webhooks.delete(this.getWebhook(merchant, key).key);
  }

  webhookOf(key: string): Webhook | undefined {
    return this.#webhooks.get(key);
  }

  /** Books a Pix. A known end-to-end id returns the booked Pix. @throws Refusal */
  pay(input: z.output<typeof payment>): Pix {
    const known = input.endToEndId === undefined ? undefined : this.#pix.get(input.endToEndId);
    if (known) return known;
    const cob = input.txid === undefined ? null : this.#cobOf(input.txid, input.clientId);
    const key = input.key ?? (cob && termsOf(cob).key);
    const amount = input.amount ?? (cob && termsOf(cob).amount);
    if (key === null || amount === null) {
      throw new Refusal(404, 'no charge has that txid: with key and amount a Pix is booked all the same');
    }
    const merchant = cob?.merchant ?? this.#ownerOf(key);
    if (!merchant) throw new Refusal(404, `no merchant has the Pix key ${key}`);
    const at = input.at === undefined ? this.now() : new Date(input.at);
    if (cob && !input.force) this.#expectPayable(cob);
    const pix: Pix = {
      merchant,
      endToEndId: input.endToEndId ?? newEndToEndId(PAYERS_ISPB, at),
      txid: input.txid ?? null,
      key,
      amount,
      written: input.written ?? null,
      at,
      payer: input.payer,
      message: input.message,
      returns: [],
    };
    this.#pix.set(pix.endToEndId, pix);
    if (cob) {
      cob.pix.push(pix);
      if (cob.status === 'ATIVA') cob.status = 'CONCLUIDA';
    }
    this.onPix(pix);
    return pix;
  }

  #expectPayable(cob: Cob): void {
    const endsAt = cob.expiredAt?.getTime() ?? cob.createdAt.getTime() + termsOf(cob).expirationSeconds * 1_000;
    const state = cob.status !== 'ATIVA' ? cob.status : endsAt <= this.now().getTime() ? 'expired' : null;
    if (state === null) return;
    throw new Refusal(
      409,
      `the charge is ${state}, a payer's bank would refuse it: "force": true books it all the same`,
    );
  }

  /** @throws Refusal */
  expire({ txid, clientId, removed }: z.output<typeof expiry>): Cob {
    const cob = this.#cobOf(txid, clientId);
    if (!cob) throw new Refusal(404, `no charge has the txid ${txid}`);
    if (cob.status !== 'ATIVA') throw new Refusal(409, `the charge is ${cob.status}`);
    cob.expiredAt = this.now();
    if (removed) {
      cob.status = 'REMOVIDA_PELO_PSP';
      cob.revisions.push(termsOf(cob));
    }
    return cob;
  }

  /** @throws Refusal 404 */
  bookedPix(endToEndId: string): Pix {
    const pix = this.#pix.get(endToEndId);
    if (!pix) throw new Refusal(404, `no Pix has the end-to-end id ${endToEndId}`);
    return pix;
  }

  #ownerOf(key: string): Merchant | undefined {
    return this.merchants.find(({ pixKeys }) => pixKeys.includes(key));
  }

  /** @throws Refusal 409 when more than one merchant has it */
  #cobOf(txid: string, clientId: string | undefined): Cob | null {
    const found = this.merchants
      .filter((merchant) => clientId === undefined || merchant.clientId === clientId)
      .flatMap((merchant) => this.#cobs.get(cobKey(merchant, txid)) ?? []);
    if (found.length > 1) throw new Refusal(409, 'two merchants have a charge with that txid: say clientId');
    return found[0] ?? null;
  }
}

/** The merchant is part of the key: two merchants may use the same txid. */
function cobKey(merchant: Merchant, txid: string): string {
  return `${merchant.clientId}\n${txid}`;
}

function isSame(one: CobTerms, other: CobTerms): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
