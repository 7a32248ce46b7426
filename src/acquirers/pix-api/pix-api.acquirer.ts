import { isReturnId, isTxid } from '../../brazil/index.js';
import type { Clock } from '../../core/clock.js';
import type { Logger } from '../../core/log/index.js';
import type { Metrics } from '../../core/metrics/index.js';
import type { Amount } from '../../core/money/index.js';
import {
  type Acquirer,
  type AcquirerCapabilities,
  type AcquirerStatus,
  type Dispute,
  type NotificationHint,
  type PixChargeRequest,
  type PixChargeState,
  type PixIssueOutcome,
  type PixIssuer,
  type ReceivedPix,
  type ReturnRequest,
  type ReturnState,
  type StatementFilter,
  type StatementLine,
  UnreadableAnswer,
  type UnreadableLine,
} from '../acquirer.port.js';
import type { PayoutDesk } from '../payout-desk.port.js';
import { Answers } from './answers.js';
import { cashoutAnswer, cashoutOrder, cashoutState } from './cashouts.js';
import { type ClientOf, ConnectionDesk, type Desk } from './desks/desk.js';
import { providerFee } from './fees.js';
import {
  type CobAnswer,
  cobAnswer,
  keyOrTxid,
  paymentAnswer,
  type PixAnswer,
  pixAnswer,
  type ReturnAnswer,
  returnAnswer,
} from './messages.js';
import type { PixApiClient, PspAnswer } from './pix-api.client.js';
import { PixApiError } from './pix-api.errors.js';
import { isAboutKey, namesKnownReturn, returnFailure } from './problem.js';
import { DEFAULT_SETTLEMENT_LAG, type Operation } from './profile.js';
import { isListedFor, listedUntil, readStatement } from './statement.js';
import {
  brCodeOf,
  chargeEnd,
  cobRequest,
  disputeOf,
  isDisputeReturn,
  isE2eId,
  isReturnName,
  isSameKey,
  payableFrom,
  PAYABLE_FIELDS,
  publicCob,
  receivedPix,
  returnState,
  statementReturn,
  textOf,
  toCents,
  toDecimal,
  unreadablePix,
  unreadableReturn,
} from './translation.js';

/**
 * Acquirer for any PSP that speaks BACEN's API Pix. The adapter translates, and trusts an answer only if it is about
 * the queried key, id and amount. Otherwise it throws, or returns null where trusting would mean money. Unreadable data
 * of ours are never left out: the call throws, or the list shows them as unreadable. Each case leaves a metric and a
 * line in the log, which names no people.
 */
export class PixApiAcquirer implements Acquirer {
  readonly capabilities: AcquirerCapabilities;
  readonly orders = null;
  readonly #answers: Answers;
  #desk: ConnectionDesk | undefined;
  readonly pixIssuer: PixIssuer = { kind: 'remote', issue: (request) => this.#issue(request) };
  readonly statement = (filter: StatementFilter): AsyncIterable<StatementLine | UnreadableLine> =>
    this.#statement(filter);

  readonly listedUntil = (): Date => listedUntil(this.clock.now());

  /**
   * @param client gives the connection's current client at each call, because credentials may have been renewed
   * @param desk gives the PSP's desk, which never changes; left out: the PSP has none
   */
  constructor(
    readonly name: string,
    private readonly client: ClientOf,
    private readonly clock: Clock,
    private readonly logger: Logger,
    metrics: Metrics,
    private readonly desk: () => Desk | null = () => null,
  ) {
    this.#answers = new Answers(name, logger, metrics);
    const refunds = (): AcquirerCapabilities['refunds'] => ({
      // A cashout is the contract's default, so it comes first.
      PIX: this.payouts ? ['cashout', 'devolution'] : ['devolution'],
    });
    this.capabilities = {
      methods: ['PIX'],
      get refunds() {
        return refunds();
      },
      receipts: false,
      references: 'worldwide',
    };
  }

  /** @throws ApiError 503 while the connection's PSP is not known here */
  get payouts(): PayoutDesk | undefined {
    const desk = this.desk();
    if (!desk) return undefined;
    this.#desk ??= new ConnectionDesk(this.name, desk, this.client, this.#answers, this.clock, this.logger);
    return this.#desk;
  }

  async #issue(request: PixChargeRequest): Promise<PixIssueOutcome> {
    checked('cob.put', isTxid(request.txid));
    const client = await this.#clientToIssue(request.txid);
    if (!client) return { kind: 'unavailable' };
    let answer: PspAnswer;
    try {
      answer = await client.putCob(request.txid, () => cobRequest(request, client.pixKey, this.clock.now()));
    } catch (error) {
      if (!(error instanceof PixApiError)) throw error;
      this.logger.warn({ acquirer: this.name, txid: request.txid, code: error.reason }, `a charge is ${error.kind}`);
      return { kind: error.kind };
    }
    if (answer.kind === 'not_found') return { kind: 'refused', code: 'http_404', reason: 'The acquirer refused it.' };
    if (answer.kind === 'refused') {
      const { code, properties } = this.#answers.refusal('cob.put', answer, { txid: request.txid });
      if (isAboutKey(answer.status, answer.problem)) {
        this.logger.error(
          { acquirer: this.name, txid: request.txid, code },
          'the PSP refuses the connection’s Pix key',
        );
        return { kind: 'refused', code, reason: 'The acquirer refused the connection’s Pix key.', fault: 'connection' };
      }
      const about = properties.length === 0 ? '' : `: ${properties.join(', ')}`;
      return { kind: 'refused', code, reason: `The acquirer refused the charge${about}.` };
    }
    // From here on a charge exists there: an answer that cannot be trusted leaves the outcome unknown.
    const cob = this.#cob('cob.put', answer.body, request.txid, client.pixKey);
    if (!cob) return { kind: 'unknown' };
    if (!(await this.#hasAmount('cob.put', cob, request.amount))) {
      const reason = 'The acquirer made the charge with another amount; it was taken back there.';
      return { kind: 'refused', code: 'other_amount', reason, fault: 'acquirer' };
    }
    const brCode = brCodeOf(cob, request.amount, request.merchant);
    if (brCode !== null) return { kind: 'issued', brCode };
    this.#answers.odd('cob.put', 'no_br_code', { txid: request.txid });
    return { kind: 'unknown' };
  }

  /** @returns null for a connection that cannot be read or used: no call was made, so nothing can have happened */
  async #clientToIssue(txid: string): Promise<PixApiClient | null> {
    try {
      return await this.client();
    } catch (error) {
      this.logger.error({ error, acquirer: this.name, txid }, 'a charge is unavailable: its connection is of no use');
      return null;
    }
  }

  async getPixCharge(txid: string, amount?: Amount): Promise<PixChargeState> {
    checked('cob.get', isTxid(txid));
    const client = await this.client();
    const cob = await this.#charge(client, txid);
    if (!cob) return { kind: 'not_found' };
    if (amount !== undefined && !(await this.#hasAmount('cob.get', cob, amount))) {
      const ended = chargeEnd(cob, this.clock.now());
      return {
        kind: 'found',
        brCode: '',
        ended,
        payments: await this.#payments(client, txid, cob),
        isOtherAmount: true,
      };
    }
    const brCode = brCodeOf(cob, toCents(cob.valor.original), null);
    const ended = chargeEnd(cob, this.clock.now());
    const payments = await this.#payments(client, txid, cob);
    if (brCode === null && cob.status === 'ATIVA' && ended === null && payments.length === 0) {
      this.#answers.odd('cob.get', 'no_br_code', { txid });
      throw new PixApiError('unknown', 'malformed_answer', 'cob.get');
    }
    // A charge that is paid or over needs no code, and some PSPs drop it.
    return { kind: 'found', brCode: brCode ?? '', ended, payments };
  }

  /**
   * Compares the charge with the requested amount. A charge with another amount is cancelled: its payers would pay a
   * wrong amount, and have it sent back.
   * @throws PixApiError when it could not be cancelled
   */
  async #hasAmount(operation: Operation, cob: CobAnswer, amount: Amount): Promise<boolean> {
    if (toCents(cob.valor.original) === amount) return true;
    this.#answers.odd(operation, 'other_amount', { txid: cob.txid });
    if (cob.status === 'ATIVA') await this.cancel(cob.txid);
    return false;
  }

  async cancel(txid: string): Promise<void> {
    checked('cob.patch', isTxid(txid));
    const client = await this.client();
    const answer = await client.patchCob(txid, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
    if (answer.kind === 'not_found') return;
    // A success is trusted if it shows the charge in its new state. A refusal also comes for a charge that is paid,
    // over or removed already.
    const told = answer.kind === 'ok' ? this.#cob('cob.patch', answer.body, txid, client.pixKey) : null;
    const cob = told ?? (await this.#charge(client, txid));
    const isOpen = cob?.status === 'ATIVA' && (cob.pix ?? []).length === 0 && !chargeEnd(cob, this.clock.now());
    if (!isOpen) return;
    // The caller tries again.
    if (answer.kind === 'ok') throw new PixApiError('unknown', 'not_removed', 'cob.patch');
    const { code } = this.#answers.refusal('cob.patch', answer, { txid });
    throw new PixApiError('unavailable', code, 'cob.patch');
  }

  async getStatus(txid: string): Promise<AcquirerStatus | null> {
    checked('cob.get', isTxid(txid));
    const client = await this.client();
    const answer = await client.getCob(txid);
    if (answer.kind === 'not_found') return null;
    const body = this.#answers.body('cob.get', answer);
    const cob = this.#cob('cob.get', body, txid, client.pixKey);
    if (!cob) throw new PixApiError('unknown', 'malformed_answer', 'cob.get');
    return { status: cob.status, raw: publicCob(body), payable: PAYABLE_FIELDS };
  }

  async getPix(reference: string, txid: string | null = null): Promise<ReceivedPix | 'foreign' | null> {
    const found = await this.#pix(reference, txid);
    return found === null || found === 'foreign' ? found : found.received;
  }

  async getDispute(reference: string): Promise<Dispute | null> {
    const [endToEndId = '', id = ''] = reference.split('/');
    const found = await this.#pix(endToEndId, null);
    if (found === null || found === 'foreign') return null;
    const { answer: pix } = found;
    const entries = pix.devolucoes ?? [];
    const entry = entries.find((one) => textOf(one, 'id') === id);
    if (entry === undefined) {
      // A return whose id cannot be read may be the queried one.
      if (entries.every((one) => isReturnName(textOf(one, 'id') ?? ''))) return null;
      this.#answers.odd('pix.get', 'malformed', { endToEndId, returnId: id });
      throw new UnreadableAnswer('a dispute');
    }
    const answer = this.#answers.read('pix.get', returnAnswer, entry, { endToEndId });
    if (answer && !isDisputeReturn(answer)) return null;
    const dispute = answer && disputeOf(pix, answer);
    if (answer && !dispute) this.#answers.odd('pix.get', 'malformed', { endToEndId, returnId: id });
    if (!dispute) throw new UnreadableAnswer('a dispute');
    return dispute;
  }

  async requestReturn(request: ReturnRequest): Promise<ReturnState> {
    const { reference, returnId, amount } = request;
    if (request.way === 'cashout') {
      const [desk, order] = [this.payouts, cashoutOrder(request)];
      return desk && order ? cashoutAnswer(await desk.send(order)) : { kind: 'failed', reason: 'destination_invalid' };
    }
    if (!isE2eId(reference) || !isReturnId(returnId)) return { kind: 'failed', reason: 'refused' };
    const client = await this.client();
    const answer = await client.putReturn(reference, returnId, { valor: toDecimal(amount) });
    if (answer.kind === 'not_found') return { kind: 'failed', reason: 'refused' };
    if (answer.kind === 'refused') {
      const { problem } = answer;
      if (namesKnownReturn(problem)) return this.getReturn(request);
      this.#answers.refusal('return.put', answer, { endToEndId: reference, returnId });
      return { kind: 'failed', reason: returnFailure(problem.words) };
    }
    return this.#returnState('return.put', answer.body, request, client);
  }

  async getReturn(request: ReturnRequest): Promise<ReturnState> {
    const { reference, returnId } = request;
    if (request.way === 'cashout') {
      const [desk, order] = [this.payouts, cashoutOrder(request)];
      return desk && order ? cashoutState(await desk.lookUp(order), order.amount) : { kind: 'not_found' };
    }
    if (!isE2eId(reference) || !isReturnId(returnId)) return { kind: 'not_found' };
    const client = await this.client();
    const answer = await client.getReturn(reference, returnId);
    if (answer.kind === 'not_found') return { kind: 'not_found' };
    return this.#returnState('return.get', this.#answers.body('return.get', answer), request, client);
  }

  async settlementLagMs(): Promise<number> {
    const lag = await this.client().then(
      ({ profile }) => profile.settlementLag.value,
      // If the connection cannot be used, the query that follows reports it.
      () => DEFAULT_SETTLEMENT_LAG,
    );
    return lag * 1000;
  }

  async getReceipt(): Promise<null> {
    return null;
  }

  /**
   * @throws PixApiError for an answer about another return or another amount: the fate of this return is then unknown
   */
  #returnState(
    operation: Operation,
    body: unknown,
    { reference, returnId, amount }: ReturnRequest,
    { fees }: PixApiClient,
  ): ReturnState {
    const about = { endToEndId: reference, returnId };
    const answer: ReturnAnswer | null = this.#answers.read(operation, returnAnswer, body, about);
    const state = answer && returnState(answer, providerFee(fees, 'devolution', amount, this.clock.now()));
    const isOther = answer !== null && answer.id !== returnId;
    const isOtherAmount = answer !== null && toCents(answer.valor) !== amount;
    if (isOther || isOtherAmount) this.#answers.odd(operation, isOther ? 'other_id' : 'other_amount', about);
    else if (answer && !state) this.#answers.odd(operation, 'malformed', about);
    if (!state || isOther || isOtherAmount) throw new PixApiError('unknown', 'malformed_answer', operation);
    return state;
  }

  async *#statement(filter: StatementFilter): AsyncGenerator<StatementLine | UnreadableLine> {
    const client = await this.client();
    const pages = readStatement(client, filter, this.clock.now(), (answer) => this.#answers.body('pix.list', answer));
    for await (const entries of pages) {
      const lines: StatementLine[] = [];
      const unreadable: UnreadableLine[] = [];
      for (const entry of entries) {
        const answer = this.#answers.read('pix.list', pixAnswer, entry, {
          endToEndId: unreadablePix(entry).endToEndId,
        });
        if (!isListedFor(filter, entry)) continue;
        const whose = answer
          ? await this.#listed(client, answer, filter)
          : namesOtherKey(client, entry)
            ? 'foreign'
            : 'unknown';
        if (whose === 'foreign') continue;
        const pix = whose === 'unknown' || !answer ? null : receivedPix({ ...answer, ...whose }, client.fees);
        if (pix && answer) lines.push({ pix, returns: this.#returns(answer, unreadable) });
        else {
          if (answer && whose !== 'unknown')
            this.#answers.odd('pix.list', 'malformed', { endToEndId: unreadablePix(entry).endToEndId });
          unreadable.push(unreadablePix(entry));
        }
      }
      yield* lines.sort((one, other) => one.pix.settledAt.getTime() - other.pix.settledAt.getTime());
      yield* unreadable;
    }
  }

  /** @param unreadable collects the returns that cannot be read */
  #returns({ endToEndId, txid, devolucoes }: PixAnswer, unreadable: UnreadableLine[]): StatementLine['returns'] {
    return (devolucoes ?? []).flatMap((entry) => {
      const answer = this.#answers.read('pix.list', returnAnswer, entry, { endToEndId });
      const read = answer && statementReturn(endToEndId, answer, txid);
      if (answer && !read) this.#answers.odd('pix.list', 'malformed', { endToEndId });
      if (!read) unreadable.push(unreadableReturn(endToEndId, entry));
      return read ?? [];
    });
  }

  /**
   * Hints about the Pix that paid the charge. The standard lets a PSP leave them out of the charge: then its list has
   * them.
   * @throws UnreadableAnswer when there is no payment yet, no readable one, or no list: the charge was paid, but by an
   * unknown Pix
   */
  async #payments(client: PixApiClient, txid: string, cob: CobAnswer): Promise<NotificationHint[]> {
    const { status, pix } = cob;
    const own = this.#hints('cob.get', client, txid, pix ?? []);
    if (own.length > 0 || status !== 'CONCLUIDA') return own;
    const now = this.clock.now();
    const filter = { from: payableFrom(cob, now), to: now };
    const listed: unknown[] = [];
    try {
      const bodyOf = (answer: PspAnswer): unknown => this.#answers.body('pix.list', answer);
      for await (const entries of readStatement(client, filter, now, bodyOf, { txid })) {
        listed.push(...entries.filter((entry) => isSameTxid(textOf(entry, 'txid'), txid)));
      }
    } catch (error) {
      throw new UnreadableAnswer('a payment of a charge', { cause: error });
    }
    if (listed.length === 0) throw new UnreadableAnswer('a payment of a charge');
    return this.#hints('pix.list', client, txid, listed);
  }

  /** @param entries Pix that the PSP shows as payments of our charge */
  #hints(operation: Operation, client: PixApiClient, txid: string, entries: readonly unknown[]): NotificationHint[] {
    const hints = entries.flatMap((entry): NotificationHint[] => {
      const named = this.#answers.read(operation, paymentAnswer, entry, { txid });
      if (!named) return [];
      // A charge may show fewer fields than the Pix itself, which is no oddity.
      const answer = pixAnswer.safeParse(entry).data;
      const isOurs = operation === 'cob.get' || !namesOtherKey(client, entry);
      const shown = answer && isOurs ? receivedPix({ ...answer, txid }, client.fees) : null;
      return [{ kind: 'pix', reference: named.endToEndId, txid, shown }];
    });
    if (hints.length === 0 && entries.length > 0) throw new UnreadableAnswer('a payment of a charge');
    return hints;
  }

  /** @returns null when there is no such Pix @throws UnreadableAnswer */
  async #pix(
    endToEndId: string,
    named: string | null,
  ): Promise<{ answer: PixAnswer; received: ReceivedPix } | 'foreign' | null> {
    if (!isE2eId(endToEndId)) return null;
    const client = await this.client();
    const answer = await client.getPix(endToEndId);
    if (answer.kind === 'not_found') return null;
    const body = this.#answers.body('pix.get', answer);
    const pix = this.#answers.read('pix.get', pixAnswer, body, { endToEndId });
    if ((pix?.endToEndId ?? endToEndId) !== endToEndId) {
      this.#answers.odd('pix.get', 'other_id', { endToEndId });
      return null;
    }
    const whose = pix
      ? await this.#whose('pix.get', client, pix, named)
      : namesOtherKey(client, body)
        ? 'foreign'
        : { txid: null };
    if (whose === 'foreign') return whose;
    const answered = pix && { ...pix, ...whose };
    const received = answered && receivedPix(answered, client.fees);
    if (answered && received) return { answer: answered, received };
    if (pix) this.#answers.odd('pix.get', 'malformed', { endToEndId });
    throw new UnreadableAnswer('a Pix');
  }

  /**
   * Finds out whether a Pix is ours, and which charge it pays. Key and txid are optional in a Pix, but not in a charge.
   * So if our own charge shows the Pix, that counts more than the Pix's own fields. A Pix that names no key was sent by
   * branch and account, and is ours.
   * @param named the txid of the charge that the Pix reportedly pays
   * @returns `foreign` for a Pix to another key of the holder
   * @throws UnreadableAnswer when it cannot be found out
   */
  async #whose(
    operation: Operation,
    client: PixApiClient,
    { endToEndId, chave, txid }: PixAnswer,
    named: string | null,
  ): Promise<{ readonly txid: string | null } | 'foreign'> {
    const isToUs = chave !== null && isSameKey(chave, client.pixKey);
    const charges = new Set(isToUs ? [named] : [named, txid]);
    if (isToUs && named === txid) charges.clear();
    for (const charge of charges) {
      const cob =
        charge === null || !isTxid(charge)
          ? null
          : await this.#chargeSaid(client, charge, chave === null && charge === txid);
      if (!cob) continue;
      const isShown = (cob.pix ?? []).some((entry) => textOf(entry, 'endToEndId') === endToEndId);
      const isNamed = isShown || (chave === null && charge === txid);
      if (isNamed && isToKey(cob.chave, client.pixKey)) return { txid: charge };
      if (!isNamed || chave !== null) continue;
      this.#answers.odd(operation, 'other_key', { endToEndId });
      return 'foreign';
    }
    if (isToUs) return { txid };
    this.#answers.odd(operation, chave === null ? 'no_key' : 'other_key', { endToEndId });
    return chave === null ? { txid } : 'foreign';
  }

  /**
   * Why other keys are no oddity here: a list covers the holder, who may have several. No charge is queried for them.
   */
  async #listed(
    client: PixApiClient,
    pix: PixAnswer,
    { settled }: StatementFilter,
  ): Promise<{ readonly txid: string | null } | 'foreign' | 'unknown'> {
    if (settled?.has(pix.endToEndId) === true) return { txid: pix.txid };
    if (pix.chave !== null) return isSameKey(pix.chave, client.pixKey) ? { txid: pix.txid } : 'foreign';
    try {
      return await this.#whose('pix.list', client, pix, null);
    } catch (error) {
      if (error instanceof UnreadableAnswer) return 'unknown';
      throw error;
    }
  }

  /**
   * Queries the charge that a Pix reportedly pays.
   * @param isDecisive true if the Pix itself names the charge, and no key; a callback could come from anybody
   * @returns null when the PSP has no charge of that txid
   * @throws UnreadableAnswer when the PSP refuses to answer, or its answer cannot be read
   */
  async #chargeSaid(client: PixApiClient, txid: string, isDecisive: boolean): Promise<CobAnswer | null> {
    const answer = await client.getCob(txid);
    if (answer.kind === 'not_found') return null;
    if (answer.kind === 'refused') {
      const { code } = this.#answers.refusal('cob.get', answer, { txid });
      if (!isDecisive) return null;
      throw new UnreadableAnswer('a charge of a Pix', { cause: new PixApiError('unknown', code, 'cob.get') });
    }
    const cob = this.#answers.read('cob.get', cobAnswer, answer.body, { txid });
    if (!cob && isDecisive) throw new UnreadableAnswer('a charge of a Pix');
    return cob && isSameTxid(cob.txid, txid) ? cob : null;
  }

  /**
   * Queries our charge.
   * @returns null when there is none
   * @throws UnreadableAnswer; PixApiError when there is no answer, or it is about another charge
   */
  async #charge(client: PixApiClient, txid: string): Promise<CobAnswer | null> {
    const answer = await client.getCob(txid);
    if (answer.kind === 'not_found') return null;
    const cob = this.#answers.read('cob.get', cobAnswer, this.#answers.body('cob.get', answer), { txid });
    if (!cob) throw new UnreadableAnswer('a charge');
    if (!this.#isAsked('cob.get', cob, txid, client.pixKey)) {
      throw new PixApiError('unknown', 'malformed_answer', 'cob.get');
    }
    return cob;
  }

  /** @returns null, and counts the oddity, unless it is the charge of this txid to our key */
  #cob(operation: Operation, body: unknown, txid: string, pixKey: string): CobAnswer | null {
    const cob = this.#answers.read(operation, cobAnswer, body, { txid });
    return cob && this.#isAsked(operation, cob, txid, pixKey) ? cob : null;
  }

  #isAsked(operation: Operation, cob: CobAnswer, txid: string, pixKey: string): boolean {
    // A charge without a key is still ours: we chose its txid.
    if (isSameTxid(cob.txid, txid) && isToKey(cob.chave, pixKey)) return true;
    this.#answers.odd(operation, isSameTxid(cob.txid, txid) ? 'other_key' : 'other_txid', { txid });
    return false;
  }
}

/** Whether an unreadable entry at least names a key that is not ours. */
function namesOtherKey(client: PixApiClient, entry: unknown): boolean {
  const key = keyOrTxid.safeParse((entry as { chave?: unknown } | null)?.chave).data ?? null;
  return key !== null && !isSameKey(key, client.pixKey);
}

/** A charge that names no key was made by this connection. */
function isToKey(key: string | null, pixKey: string): boolean {
  return key === null || isSameKey(key, pixKey);
}

/** Some PSPs write a txid in capitals. */
function isSameTxid(one: string | null, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

/** Checks our own ids: an id that does not fit a path is a bug of this program. */
function checked(operation: Operation, isRight: boolean): void {
  if (!isRight) throw new RangeError(`${operation}: the txid is none`);
}
