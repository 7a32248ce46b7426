import { randomUUID } from 'node:crypto';
import {
  type Acquirer,
  type AcquirerCapabilities,
  type Dispute,
  type OrderDesk,
  type PixChargeRequest,
  type PixChargeState,
  type PixIssueOutcome,
  type ReceivedPix,
  type ReturnName,
  type ReturnRequest,
  type ReturnState,
  type StatementFilter,
  type StatementLine,
  type StatementReturn,
  UnreadableAnswer,
} from '../../src/acquirers/index.js';
import { encodeBrCode, newEndToEndId, newRtrId } from '../../src/brazil/index.js';

export type ChargeFault = 'lost before' | 'lost after' | 'refused' | 'unavailable';
export type ReturnFault = 'lost before' | 'lost after' | 'refused' | 'refused unheard';

/** Money that this bank has sent back, or refused to send back */
interface BookedReturn extends ReturnRequest {
  readonly refused: boolean;
  readonly bankReference: string;
}

/** A bank behind a network that loses answers, as a live PSP is. The bank's books are the truth about its actions. */
export class FarBank implements Acquirer {
  capabilities: AcquirerCapabilities = {
    methods: ['PIX'],
    refunds: { PIX: ['cashout', 'devolution'] },
    receipts: false,
    references: 'worldwide',
  };
  readonly orders: OrderDesk | null = null;
  /** Null until `publish`: no list shows unreported payments. */
  statement: Acquirer['statement'] = null;
  readonly charges = new Map<string, PixChargeRequest>();
  readonly pix = new Map<string, ReceivedPix>();
  /** Disputes by reference, in their current state */
  readonly disputes = new Map<string, Dispute>();
  /** Returns by `<reference>/<return id>`, the bank's unique key */
  readonly returns = new Map<string, BookedReturn>();
  /** Returns that nobody here requested, by end-to-end id */
  readonly unasked = new Map<string, StatementReturn[]>();
  /** Faults of the next requests */
  faults: ChargeFault[] = [];
  /** Fault of a request for a return, asked at each one; default: none. */
  returnFault: (request: ReturnRequest) => ReturnFault | null = () => null;
  /** Whether a question goes without an answer: always, never, or as a draw says. */
  blind: boolean | (() => boolean) = false;
  /** References that the bank answers about unreadably */
  readonly unreadable = new Set<string>();
  /** Milliseconds that answers may be behind */
  lagMs = 0;
  /** Runs in the middle of the next creation, to simulate simultaneous events. */
  meanwhile: (() => Promise<void>) | null = null;
  /** Number of requests for each return, by `<reference>/<return id>` */
  readonly requests = new Map<string, number>();

  constructor(readonly name: string = 'far-bank') {}

  readonly pixIssuer = { kind: 'remote', issue: (request: PixChargeRequest) => this.#issue(request) } as const;

  async getPixCharge(txid: string): Promise<PixChargeState> {
    this.#answer(txid);
    if (!this.charges.has(txid)) return { kind: 'not_found' };
    const payments = [...this.pix.values()].filter((pix) => pix.txid === txid);
    const hints = payments.map(({ endToEndId }) => ({ kind: 'pix', reference: endToEndId, txid }) as const);
    return { kind: 'found', brCode: this.#brCode(txid), ended: null, payments: hints };
  }

  async getPix(endToEndId: string): Promise<ReceivedPix | null> {
    this.#answer(endToEndId);
    return this.pix.get(endToEndId) ?? null;
  }

  async requestReturn(request: ReturnRequest): Promise<ReturnState> {
    const name = nameOf(request);
    this.requests.set(name, (this.requests.get(name) ?? 0) + 1);
    const fault = this.returnFault(request);
    if (fault === 'lost before') throw new Error('socket hang up');
    if (!this.returns.has(name)) {
      this.returns.set(name, {
        ...request,
        refused: fault === 'refused' || fault === 'refused unheard',
        bankReference: (request.way === 'cashout' ? newEndToEndId : newRtrId)('12345678', new Date()),
      });
    }
    if (fault === 'lost after' || fault === 'refused unheard') throw new Error('time-out after the effect');
    return this.returns.get(name)?.refused === true ? { kind: 'failed', reason: 'refused' } : { kind: 'in_progress' };
  }

  async getReturn(name: ReturnName): Promise<ReturnState> {
    this.#answer();
    const booked = this.returns.get(nameOf(name));
    if (!booked) return { kind: 'not_found' };
    const { refused, bankReference } = booked;
    return refused ? { kind: 'failed', reason: 'refused' } : { kind: 'returned', bankReference, fee: 0 };
  }

  async getDispute(reference: string): Promise<Dispute | null> {
    this.#answer(reference);
    return this.disputes.get(reference) ?? null;
  }

  async settlementLagMs(): Promise<number> {
    return this.lagMs;
  }

  async cancel(txid: string): Promise<void> {
    this.charges.delete(txid);
  }

  async getStatus(): Promise<null> {
    return null;
  }

  async getReceipt(): Promise<null> {
    return null;
  }

  /** Publishes the list of received payments from now on. */
  publish(): void {
    this.statement = (filter) => this.#statement(filter);
  }

  /** A payer pays a charge in full. @returns the Pix, which the bank has not reported yet */
  receive(charge: { txid: string; amount: number }, changes: Partial<ReceivedPix> = {}): ReceivedPix {
    const endToEndId = newEndToEndId('12345678', new Date());
    const pix = { endToEndId, ...charge, settledAt: new Date(), fee: 0, payerDocument: '52998224725', ...changes };
    this.pix.set(pix.endToEndId, pix);
    return pix;
  }

  /** A payer disputes a Pix. @returns the dispute, which the bank has not reported yet */
  dispute(pix: Pick<ReceivedPix, 'endToEndId' | 'txid' | 'amount'>, changes: Partial<Dispute> = {}): Dispute {
    const now = new Date();
    const dispute: Dispute = {
      reference: randomUUID(),
      type: 'med',
      accountId: null,
      paymentReference: pix.endToEndId,
      txid: pix.txid,
      amount: pix.amount,
      status: 'created',
      result: null,
      method: 'scam',
      reason: null,
      payerName: null,
      payerDocument: null,
      responseDeadline: new Date(now.getTime() + 7 * 86_400_000),
      openedAt: now,
      updatedAt: now,
      closedAt: null,
      ...changes,
    };
    this.disputes.set(dispute.reference, dispute);
    return dispute;
  }

  /** Changes the state of a dispute. @returns its current version */
  change(dispute: Dispute, changes: Partial<Dispute>): Dispute {
    const updatedAt = new Date(dispute.updatedAt.getTime() + 1);
    const changed = { ...dispute, updatedAt, ...changes };
    this.disputes.set(changed.reference, changed);
    return changed;
  }

  /** @param result null: the payer withdraws */
  rule(dispute: Dispute, result: 'agreed' | 'disagreed' | null): Dispute {
    const closedAt = new Date(dispute.updatedAt.getTime() + 1);
    return this.change(dispute, { status: result === null ? 'canceled' : 'closed', result, closedAt });
  }

  /** Returns to the payer of a Pix */
  returnsOf(endToEndId: string): BookedReturn[] {
    return [...this.returns.values()].filter((booked) => booked.reference === endToEndId && !booked.refused);
  }

  async #issue(request: PixChargeRequest): Promise<PixIssueOutcome> {
    const fault = this.faults.shift();
    const { meanwhile } = this;
    this.meanwhile = null;
    await meanwhile?.();
    if (fault === 'refused') return { kind: 'refused', code: 'NEGADA', reason: 'secret words of the bank' };
    if (fault === 'unavailable') return { kind: 'unavailable' };
    if (fault === 'lost before') throw new Error('socket hang up');
    this.charges.set(request.txid, request);
    if (fault === 'lost after') throw new Error('socket hang up');
    return { kind: 'issued', brCode: this.#brCode(request.txid) };
  }

  async *#statement({ from, to, withReturns }: StatementFilter): AsyncGenerator<StatementLine> {
    this.#answer();
    for (const pix of [...this.pix.values()].sort((a, b) => a.settledAt.getTime() - b.settledAt.getTime())) {
      if (pix.settledAt < from || pix.settledAt >= to) continue;
      const returns = this.#statementReturns(pix.endToEndId);
      if (returns.length > 0 || withReturns !== true) yield { pix, returns };
    }
  }

  #statementReturns(endToEndId: string): StatementReturn[] {
    const asked = [...this.returns.values()].filter(
      ({ reference, way }) => reference === endToEndId && way === 'devolution',
    );
    return [
      ...asked.map(({ returnId, amount, refused }): StatementReturn => {
        const state = refused ? 'failed' : 'returned';
        const reference = `${endToEndId}/${returnId}/${refused ? 'NAO_REALIZADO' : 'DEVOLVIDO'}`;
        return { returnId, amount, state, cause: 'requested', hint: { kind: 'return', reference } };
      }),
      ...(this.unasked.get(endToEndId) ?? []),
    ];
  }

  #answer(about: string | null = null): void {
    if (typeof this.blind === 'function' ? this.blind() : this.blind) throw new Error('time-out');
    if (about !== null && this.unreadable.has(about)) throw new UnreadableAnswer('something');
  }

  #brCode(txid: string): string {
    return encodeBrCode({ kind: 'dynamic', location: `pix.far.example/${txid}`, merchantName: 'M', merchantCity: 'C' });
  }
}

function nameOf({ reference, returnId }: ReturnName): string {
  return `${reference}/${returnId}`;
}
