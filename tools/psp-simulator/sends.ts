import { newEndToEndId, newRtrId, normalizePixKey } from '../../src/brazil/index.js';
import { type Bank, Refusal } from './bank.js';
import { type Books } from './books.js';
import { EfiError } from './efi-errors.js';
import { type SendOrder, wrongCode } from './efi-requests.js';
import { type Faults } from './faults.js';
import {
  type Cob,
  documentOf,
  type Merchant,
  type Person,
  type Receiver,
  type Send,
  type SendError,
  termsOf,
} from './model.js';
import { Problem } from './problems.js';
import {
  type appSend,
  type directoryEntry,
  payment,
  sendError,
  type sendReturn,
  type sendReview,
  type sendSettlement,
  type Settings,
} from './settings.js';
import { type Timers } from './timers.js';
import type * as z from 'zod';

/** The simulated bank's own; no bank has it. */
const ISPB = '99999004';
/** The only receiver of sends by key in Efí's test environment. */
export const SANDBOX_KEY = 'efipay@sejaefi.com.br';
/** Cents: in Efí's test environment sends are paid up to the first, and refused in the request above the second. */
const SANDBOX_PAID_UP_TO = 1_000;
const SANDBOX_ACCEPTED_UP_TO = 2_000;
/** Returns of a paid send in Efí's test environment, by its cents. */
const SANDBOX_RETURNS: Readonly<Record<number, readonly number[]>> = { 400: [200, 200], 500: [500] };

const USUAL_ERROR: SendError = sendError.parse({});
const COLLISION: SendError = {
  codigo: 'SALDO',
  origem: 'PSP do usuário pagador',
  motivo: 'Outra movimentação de saldo está em andamento',
};
const NOT_PAYABLE: SendError = {
  codigo: 'BE17',
  origem: 'PSP do usuário recebedor',
  motivo: 'QR Code rejeitado pelo participante do usuário recebedor',
};

/** Ways to request a send. */
export type SendWay = 'send' | 'sameOwner' | 'qrcode';

/** Money out: each accepted send, its course, and the parts that come back. */
export class Sends {
  readonly #sends: Send[] = [];
  readonly #byMerchant = new Map<Merchant, Send[]>();
  readonly #byName = new Map<string, Send>();
  readonly #byEndToEndId = new Map<string, Send>();
  readonly #directory = new Map<string, Person | null>();

  constructor(
    private readonly bank: Bank,
    private readonly books: Books,
    private readonly faults: Faults,
    private readonly settings: Settings,
    private readonly now: () => Date,
    private readonly timers: Timers,
    private readonly onChange: (send: Send, change: 'status' | 'return') => void,
  ) {}

  get all(): readonly Send[] {
    return this.#sends;
  }

  of(merchant: Merchant): readonly Send[] {
    return this.#byMerchant.get(merchant) ?? [];
  }

  /** @throws Problem PixEnviadoNaoEncontrado */
  get(merchant: Merchant, id: string): Send {
    const send = this.#byName.get(nameOf(merchant, id));
    if (!send) throw Problem.of('PixEnviadoNaoEncontrado');
    return send;
  }

  /** @throws Problem PixEnviadoNaoEncontrado, also for another merchant's send */
  getByEndToEndId(merchant: Merchant, endToEndId: string): Send {
    const send = this.#byEndToEndId.get(endToEndId);
    if (send?.merchant !== merchant) throw Problem.of('PixEnviadoNaoEncontrado');
    return send;
  }

  /** Whether the id is free: it is one for all ways to send. @throws EfiError id_envio_duplicado */
  expectNew(merchant: Merchant, id: string): void {
    if (this.#byName.has(nameOf(merchant, id))) throw EfiError.of('id_envio_duplicado');
  }

  /** Whether the code of a charge can be described. @throws Problem */
  expectDescribable(cob: Cob): void {
    if (this.settings.sends.sandboxRules) throw Problem.of('QrcodeErroInterno');
    if (this.#ownerOf(termsOf(cob).key) === null) throw wrongCode('A chave do recebedor não foi encontrada');
  }

  /** Accepts a send. A refused one leaves no trace. @throws EfiError, Problem */
  request(merchant: Merchant, id: string, way: SendWay, order: SendOrder): Send {
    if (!merchant.pixKeys.includes(order.payerKey)) throw EfiError.of('chave_invalida');
    if (!this.bank.webhookOf(order.payerKey)) throw EfiError.of('webhook_nao_encontrado');
    if (this.settings.sends.sandboxRules) this.#applySandboxRules(way, order);
    const receiver = this.#receiverOf(order);
    if (way === 'sameOwner' && documentOf(receiver) !== merchant.cnpj) {
      // Unverified: no public source shows how Efí refuses another holder.
      throw EfiError.of('chave_nao_pertence_ao_documento', 'O favorecido não é o titular da conta');
    }
    const fee = this.settings.sends.feeCents;
    if (this.books.balance(merchant).available < order.amount + fee) throw tooLittleMoney(way);
    const collides = this.of(merchant).some(({ status }) => status === 'EM_PROCESSAMENTO');
    const send = this.#add({
      merchant,
      id,
      amount: order.amount,
      fee,
      payerKey: order.payerKey,
      message: order.message,
      receiver,
      cob: order.cob,
    });
    if (collides && this.settings.sends.collisions === 'reject') this.#end(send, 'NAO_REALIZADO', COLLISION);
    else this.#begin(send);
    return send;
  }

  /** Sends a Pix in the bank's app: paid at once, without an id of the merchant's. @throws Refusal */
  sendInApp({ clientId, amount, key }: z.output<typeof appSend>): Send {
    const merchant = this.bank.onlyMerchant(clientId);
    const receiver = { key, owner: this.#ownerOf(key) ?? null };
    const send = this.#add({ merchant, id: null, amount, fee: 0, payerKey: null, message: null, receiver, cob: null });
    send.status = 'REALIZADO';
    send.settledAt = send.requestedAt;
    return send;
  }

  /** Pays or rejects a send, also a paid one. A charge of this bank that it has paid stays paid. @throws Refusal */
  settle({ status, error, ...name }: z.output<typeof sendSettlement>): Send {
    const send = this.#named(name);
    if (send.status === status) return send;
    if (send.status === 'NAO_REALIZADO') throw new Refusal(409, 'the send is NAO_REALIZADO for good');
    this.#end(send, status, error);
    return send;
  }

  /** The bank examines a send that is under way. @throws Refusal */
  review({ ms, status, ...name }: z.output<typeof sendReview>): Send {
    const send = this.#named(name);
    if (send.status !== 'EM_PROCESSAMENTO') throw new Refusal(409, `the send is ${send.status}`);
    this.#hold(send, ms, status);
    return send;
  }

  /** A part of a paid send comes back. @throws Refusal */
  giveBack({ amount, at, ...name }: z.output<typeof sendReturn>): Send {
    const send = this.#named(name);
    if (send.status !== 'REALIZADO') throw new Refusal(409, `the send is ${send.status}`);
    const left = remaining(send);
    const part = amount ?? left;
    if (part === 0 || part > left) throw new Refusal(409, `only ${String(left)} cents of that send have not come back`);
    this.#return(send, part, at === undefined ? this.now() : new Date(at));
    return send;
  }

  /** Adds or replaces an entry of the key directory. */
  register({ key, owner }: z.output<typeof directoryEntry>): void {
    this.#directory.set(key, owner);
  }

  byEndToEndId(endToEndId: string): Send | undefined {
    return this.#byEndToEndId.get(endToEndId);
  }

  #add(input: Pick<Send, 'merchant' | 'id' | 'amount' | 'fee' | 'payerKey' | 'message' | 'receiver' | 'cob'>): Send {
    const requestedAt = this.now();
    const endToEndId = newEndToEndId(ISPB, requestedAt);
    const begun = { status: 'EM_PROCESSAMENTO', inReview: false, settledAt: null, error: null } as const;
    const send: Send = { ...input, ...begun, endToEndId, requestedAt, returns: [] };
    this.#sends.push(send);
    const own = this.#byMerchant.get(send.merchant);
    if (own) own.push(send);
    else this.#byMerchant.set(send.merchant, [send]);
    if (send.id !== null) this.#byName.set(nameOf(send.merchant, send.id), send);
    this.#byEndToEndId.set(endToEndId, send);
    return send;
  }

  #begin(send: Send): void {
    const { delayMs, sandboxRules } = this.settings.sends;
    const fault = this.faults.ofSend();
    if (sandboxRules && !fault) {
      const isPaid = send.amount <= SANDBOX_PAID_UP_TO;
      this.#endAfter(delayMs, send, isPaid ? 'REALIZADO' : 'NAO_REALIZADO', () => {
        for (const part of SANDBOX_RETURNS[send.amount] ?? []) this.#returnAfter(delayMs ?? 0, send, part);
      });
      return;
    }
    switch (fault?.kind) {
      case 'slow':
        this.#endAfter(fault.ms, send, 'REALIZADO');
        return;
      case 'review':
        this.#hold(send, fault.ms, fault.status);
        return;
      case 'reject':
        this.#endAfter(delayMs, send, 'NAO_REALIZADO');
        return;
      case 'revoke':
        this.#endAfter(delayMs, send, 'REALIZADO', () => {
          this.timers.after(fault.afterMs, () => {
            if (send.status === 'REALIZADO') this.#end(send, 'NAO_REALIZADO', USUAL_ERROR);
          });
        });
        return;
      case 'return':
        this.#endAfter(delayMs, send, 'REALIZADO', () => {
          for (const part of partsOf(Math.max(1, Math.round(send.amount * fault.share)), fault.parts)) {
            this.#returnAfter(fault.afterMs, send, part);
          }
        });
        return;
      case undefined:
        this.#endAfter(delayMs, send, 'REALIZADO');
    }
  }

  #hold(send: Send, ms: number | null, status: 'REALIZADO' | 'NAO_REALIZADO'): void {
    send.inReview = true;
    if (ms !== null) {
      this.timers.after(ms, () => {
        if (send.status === 'EM_PROCESSAMENTO') this.#end(send, status, USUAL_ERROR);
      });
    }
  }

  /** Ends a send unless a hand has ended or held it. `afterwards` runs only if the send ends here, and as paid. */
  #endAfter(ms: number | null, send: Send, status: 'REALIZADO' | 'NAO_REALIZADO', afterwards?: () => void): void {
    if (ms === null) return;
    this.timers.after(ms, () => {
      if (send.status !== 'EM_PROCESSAMENTO' || send.inReview) return;
      if (this.#end(send, status, USUAL_ERROR) === 'REALIZADO') afterwards?.();
    });
  }

  #end(send: Send, status: 'REALIZADO' | 'NAO_REALIZADO', error: SendError | null): Send['status'] {
    const [ended, reason] =
      status === 'REALIZADO' && !this.#payCharge(send) ? ['NAO_REALIZADO' as const, NOT_PAYABLE] : [status, error];
    send.status = ended;
    send.inReview = false;
    send.settledAt = ended === 'REALIZADO' ? this.now() : null;
    send.error = ended === 'NAO_REALIZADO' ? reason : null;
    this.onChange(send, 'status');
    return ended;
  }

  /** @returns false if the charge can no longer be paid; true for a send that pays no charge of this bank */
  #payCharge({ cob, endToEndId, merchant, amount }: Send): boolean {
    if (!cob) return true;
    const payer = { document: merchant.cnpj, name: merchant.name };
    try {
      this.bank.pay(payment.parse({ txid: cob.txid, clientId: cob.merchant.clientId, endToEndId, amount, payer }));
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  #returnAfter(ms: number, send: Send, amount: number): void {
    this.timers.after(ms, () => {
      const part = Math.min(amount, remaining(send));
      if (send.status === 'REALIZADO' && part > 0) this.#return(send, part, this.now());
    });
  }

  #return(send: Send, amount: number, at: Date): void {
    send.returns.push({ rtrId: newRtrId(ISPB, at), amount, at });
    this.onChange(send, 'return');
  }

  #applySandboxRules(way: SendWay, { receiver, amount }: SendOrder): void {
    // Unverified for `sameOwner`: Efí says only that its test environment has no such sends.
    if (way !== 'send') throw Problem.of('QrcodeErroInterno');
    if (receiver.key !== undefined && receiver.key !== SANDBOX_KEY)
      throw EfiError.of('chave_favorecido_nao_encontrada');
    // Unverified: Efí says that such a send is refused in the request, and not by which error.
    if (amount > SANDBOX_ACCEPTED_UP_TO) throw EfiError.of('pagamento_negado');
  }

  /** @throws EfiError */
  #receiverOf({ receiver, expectedDocument }: SendOrder): Receiver {
    if (receiver.key === undefined) return receiver;
    const owner = this.#ownerOf(receiver.key);
    if (owner === null) throw EfiError.of('chave_favorecido_nao_encontrada');
    if (owner && expectedDocument !== null && owner.document !== expectedDocument) {
      throw EfiError.of('chave_nao_pertence_ao_documento');
    }
    return { key: receiver.key, owner: owner ?? null };
  }

  /** Undefined: the key exists, its owner is not known. Null: the directory does not have the key. */
  #ownerOf(key: string): Person | null | undefined {
    if (this.#directory.has(key)) return this.#directory.get(key);
    const merchant = this.bank.merchants.find(({ pixKeys }) => pixKeys.includes(key));
    if (merchant) return { document: merchant.cnpj, name: merchant.name };
    const kind = normalizePixKey(key)?.kind;
    return kind === 'cpf' || kind === 'cnpj' ? { document: key, name: 'Pessoa Recebedora' } : undefined;
  }

  /** @throws Refusal 404, 409 */
  #named({
    idEnvio,
    endToEndId,
    clientId,
  }: {
    idEnvio?: string | undefined;
    endToEndId?: string | undefined;
    clientId?: string | undefined;
  }): Send {
    const found = this.#sends.filter(
      (send) =>
        (idEnvio === undefined || send.id === idEnvio) &&
        (endToEndId === undefined || send.endToEndId === endToEndId) &&
        (clientId === undefined || send.merchant.clientId === clientId),
    );
    if (found.length > 1) throw new Refusal(409, 'two merchants have a send with that id: say clientId');
    if (!found[0]) throw new Refusal(404, 'no send has that id');
    return found[0];
  }
}

/** The merchant is part of the name: two merchants may use the same id. */
function nameOf(merchant: Merchant, id: string): string {
  return `${merchant.clientId}\n${id}`;
}

/** Cents that have not come back. */
function remaining({ amount, returns }: Send): number {
  return returns.reduce((rest, one) => rest - one.amount, amount);
}

function partsOf(amount: number, count: number): readonly number[] {
  const size = Math.floor(amount / count);
  const parts = Array.from({ length: count }, (_, index) => (index === 0 ? amount - size * (count - 1) : size));
  return parts.filter((part) => part > 0);
}

function tooLittleMoney(way: SendWay): EfiError | Problem {
  if (way !== 'qrcode') return EfiError.of('saldo_insuficiente');
  const razao = 'Saldo insuficiente para realizar o pagamento';
  return Problem.of('QrcodeOperacaoInvalida', [{ razao, propriedade: 'qrcode.pagador' }]);
}
