import type { NestExpressApplication } from '@nestjs/platform-express';
import { AccountsService, type SettingValues } from '../accounts/index.js';
import { SYSTEM } from '../audit/index.js';
import { normalizeTaxId, saoPauloDay, saoPauloDayBounds } from '../brazil/index.js';
import { ChargesService } from '../charges/index.js';
import { Clock, DAY_MS, HOUR_MS } from '../core/clock.js';
import { ApiError, Draft } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import { WorkService } from '../core/work/index.js';
import { PaymentRequestsService, PaymentsService } from '../payments/index.js';
import { ReportsService } from '../reports/index.js';
import { SandboxService } from '../sandbox/index.js';
import { LedgerChainService } from '../wallets/index.js';
import { EndpointsService } from '../webhooks/index.js';

const DAYS = 30;
const MINUTE_MS = 60_000;
/** Sales a day, starting on Sunday. */
const RHYTHM = [2, 4, 4, 5, 5, 7, 6];
const PEOPLE = 60;
const FIRST_NAMES = [
  ...['Ana', 'Beatriz', 'Bruno', 'Camila', 'Carlos', 'Daniela', 'Eduardo', 'Fernanda', 'Gabriel', 'Helena', 'Igor'],
  ...['João', 'Juliana', 'Larissa', 'Lucas', 'Maria', 'Mateus', 'Paula', 'Rafael', 'Renata', 'Sofia', 'Thiago'],
];
const LAST_NAMES = [
  ...['Almeida', 'Araújo', 'Barbosa', 'Cardoso', 'Costa', 'Dias', 'Ferreira', 'Gomes', 'Lima', 'Martins', 'Moreira'],
  ...['Nascimento', 'Oliveira', 'Pereira', 'Ribeiro', 'Rocha', 'Santos', 'Silva', 'Souza', 'Teixeira', 'Vieira'],
];
const GOODS = [
  ['Camiseta de algodão', 5_990],
  ['Caneca de cerâmica', 3_490],
  ['Caderno pautado', 2_790],
  ['Mochila', 18_900],
  ['Luminária de mesa', 12_990],
  ['Kit de chás', 6_450],
  ['Almofada', 4_990],
  ['Garrafa térmica', 8_990],
  ['Pôster emoldurado', 15_900],
  ['Vale-presente', 10_000],
] as const;
/** No server listens there, so deliveries fail. */
const DEAD_ENDPOINT = 'http://127.0.0.1:9/webhooks';

interface Happening {
  readonly at: number;
  readonly run: () => Promise<void>;
}

/** Pseudo-random numbers that are the same at every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** An invented CPF with right check digits. */
function inventedCpf(number: number): string {
  const base = String(100_000_000 + number * 7_919_317).slice(-9);
  for (let digits = 0; digits < 100; digits++) {
    const cpf = normalizeTaxId(`${base}${String(digits).padStart(2, '0')}`);
    if (cpf !== null) return cpf;
  }
  throw new Error('Each base has its check digits');
}

/**
 * A believable month of sales of the demo account, in test mode. The regular services make it while the clock runs from
 * thirty days ago until now. Ledger, statement, events and statistics are therefore consistent. The application must
 * not serve requests meanwhile.
 */
export class DemoMonth {
  readonly #random = randomFrom(1042);
  readonly #happenings: Happening[] = [];
  #scope: Scope = { accountId: '', mode: 'test' };
  readonly #now = Date.now();
  readonly #begin = saoPauloDayBounds(saoPauloDay(new Date(this.#now - DAYS * DAY_MS))).from.getTime();
  #order = 1000;
  #last = 0;

  private constructor(
    private readonly app: NestExpressApplication,
    private readonly clock: Clock,
  ) {}

  /** @param found returns the account, which is created before its first sale */
  static make<D extends { account_id: string }>(app: NestExpressApplication, found: () => Promise<D>): Promise<D> {
    return new DemoMonth(app, app.get(Clock)).#fill(found);
  }

  async #fill<D extends { account_id: string }>(found: () => Promise<D>): Promise<D> {
    try {
      this.#setClock(this.#begin);
      const demo = await found();
      this.#scope = { accountId: demo.account_id, mode: 'test' };
      this.#plan();
      while (this.#happenings.length > 0) {
        this.#happenings.sort((a, b) => b.at - a.at);
        const next = this.#happenings.pop();
        if (!next || next.at > this.#now) break;
        this.#setClock(next.at);
        await next.run();
      }
      while (await this.app.get(LedgerChainService).link());
      return demo;
    } finally {
      this.clock.offsetMs = 0;
    }
  }

  /** The clock never goes backwards: later writes get later times. */
  #setClock(at: number): void {
    this.#last = Math.max(this.#last + 1, at);
    this.clock.offsetMs = Math.min(0, this.#last - Date.now());
  }

  #at(at: number, run: () => Promise<void>): void {
    this.#happenings.push({ at, run });
  }

  #plan(): void {
    for (let day = this.#begin; day < this.#now; day += DAY_MS) {
      const weekday = new Date(day + 12 * HOUR_MS).getUTCDay();
      const sales = (RHYTHM[weekday] ?? 4) + Math.floor(this.#random() * 2);
      for (let sale = 0; sale < sales; sale++) {
        const at = day + 9 * HOUR_MS + this.#random() * 11 * HOUR_MS;
        this.#at(at, () => this.#sale(at));
      }
    }
    for (const minutes of [150, 45, 12]) {
      this.#at(this.#now - minutes * MINUTE_MS, async () => void (await this.#charge()));
      const at = this.#now - (minutes + 20) * MINUTE_MS;
      this.#at(at, async () => this.#happen(await this.#charge(), { event: 'pay' }));
    }
    this.#at(this.#now - 2 * DAY_MS, () => this.#disputed('open'));
    this.#at(this.#now - 19 * DAY_MS, () => this.#disputed('won'));
    this.#at(this.#now - 11 * DAY_MS, () => this.#disputed('lost'));
    this.#at(this.#now - 26 * HOUR_MS, () => this.#endpoint());
    this.#at(this.#now - MINUTE_MS, () => this.#report());
    // Sales since yesterday become available in two days, so that the demo has pending money.
    this.#at(this.#now - 20 * HOUR_MS, () => this.#set({ release_days: 2 }));
    this.#at(this.#now - 5 * MINUTE_MS, () => this.#set({ release_days: 0 }));
    this.#at(this.#now - 4 * HOUR_MS, () => this.#held());
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  /** A person of a small circle, so that some buy again. Each name has one e-mail and one tax id. */
  #person(): { readonly name: string; readonly email: string; readonly document: string } {
    const number = Math.floor(this.#random() * PEOPLE);
    const first = FIRST_NAMES[number % FIRST_NAMES.length] ?? '';
    const last = LAST_NAMES[(number * 5) % LAST_NAMES.length] ?? '';
    const account = `${first}.${last}`
      .normalize('NFD')
      .replace(/[^a-z.]/gi, '')
      .toLowerCase();
    return { name: `${first} ${last}`, email: `${account}@example.com`, document: inventedCpf(number) };
  }

  /** Some payers leave their name alone. */
  #customer(): object {
    const { name, ...rest } = this.#person();
    return this.#random() < 0.9 ? { name, ...rest } : { name };
  }

  async #set(values: SettingValues): Promise<void> {
    await this.app.get(AccountsService).setValues(this.#scope.accountId, values, SYSTEM);
  }

  async #charge(other: object = {}): Promise<string> {
    const [description, price] = this.#pick(GOODS);
    const count = this.#random() < 0.8 ? 1 : 2;
    const account = await this.app.get(AccountsService).get(this.#scope.accountId);
    const order = String(++this.#order);
    const { body } = await this.app.get(ChargesService).create(
      this.#scope,
      account,
      new Draft({
        amount: price * count + (this.#random() < 0.4 ? 1_290 : 0),
        description: count === 1 ? description : `${description} (${count})`,
        customer: this.#customer(),
        metadata: { order_id: order },
        // Long enough not to expire while the month is written.
        expires_in: 7 * 86_400,
        ...other,
      }),
      `demo-order-${order}`,
    );
    return body.id;
  }

  async #sale(at: number): Promise<void> {
    const kind = this.#random();
    if (kind < 0.06) return this.#card(at);
    const id = await this.#charge();
    const later = at + (1 + this.#random() * 20) * MINUTE_MS;
    const rawId = id.slice(3);
    if (kind < 0.84) {
      this.#at(later, async () => {
        await this.#happen(id, { event: 'pay' });
        if (kind > 0.74) this.#at(later + (3 + this.#random() * 40) * HOUR_MS, () => this.#refund(rawId));
      });
    } else if (kind < 0.94) {
      this.#at(later + HOUR_MS, () => this.#happen(id, { event: 'expire' }));
    } else {
      this.#at(later, () => this.#cancel(rawId));
    }
  }

  async #cancel(id: string): Promise<void> {
    try {
      await this.app.get(PaymentsService).cancel(this.#scope, id);
    } catch (error) {
      // A service running beside uses the real clock: it may just have expired the charge.
      if (!(error instanceof ApiError) || error.code !== 'payment_not_cancellable') throw error;
    }
  }

  async #card(at: number): Promise<void> {
    const account = await this.app.get(AccountsService).get(this.#scope.accountId);
    const [description, price] = this.#pick(GOODS);
    const { name, email, document } = this.#person();
    const order = String(++this.#order);
    const { body } = await this.app.get(PaymentRequestsService).create(
      this.#scope,
      account,
      new Draft({
        amount: price,
        paymentMethods: ['CREDIT_CARD'],
        ...{ customerName: name, customerEmail: email, customerDocument: document },
        metadata: { description, order_id: order },
        idempotencyKey: `demo-order-${order}`,
      }),
    );
    const refused = this.#random() < 0.3;
    this.#at(at + 2 * MINUTE_MS, async () => {
      const event = refused ? ('fail' as const) : ('pay' as const);
      await this.app.get(SandboxService).simulatePayment(this.#scope, body.id, { event });
    });
  }

  async #happen(id: string, event: Parameters<SandboxService['simulate']>[2]): Promise<void> {
    await this.app.get(SandboxService).simulate(this.#scope, id, event);
  }

  async #refund(id: string): Promise<void> {
    const account = await this.app.get(AccountsService).get(this.#scope.accountId);
    const { amount, status } = await this.app.get(PaymentsService).get(this.#scope, id);
    // A service running beside has expired the charge before its payment.
    if (status !== 'PAID') return;
    const isPart = this.#random() < 0.5;
    const { body: refund } = await this.app
      .get(PaymentRequestsService)
      .refund(this.#scope, { account, actor: SYSTEM }, id, {
        ...(isPart ? { amount: Math.round(amount / 3) } : {}),
        reason: isPart ? 'Desconto combinado' : 'Desistência da compra',
        idempotencyKey: `demo-refund-${id}`,
      });
    // Runs the refund's steps, which are seconds apart.
    for (let step = 0; step < 5; step++) {
      await this.app.get(WorkService).runNow('refund', refund.id);
      this.#setClock(this.clock.now().getTime() + 3_000);
    }
  }

  /** A sale of that day that the payer disputed at the bank. */
  async #disputed(end: 'open' | 'won' | 'lost'): Promise<void> {
    const id = await this.#charge();
    await this.#happen(id, { event: 'pay' });
    const opened = this.clock.now().getTime() + 20 * HOUR_MS;
    const reason = 'O cliente diz que o produto não chegou';
    this.#at(opened, () => this.#happen(id, { event: 'med_open', method: 'scam', reason }));
    if (end === 'open') return;
    const result = end === 'won' ? 'disagreed' : 'agreed';
    this.#at(opened + 6 * DAY_MS, () => this.#happen(id, { event: 'med_rule', result }));
  }

  /** A sale that only one person may pay, whose bank does not report the payer: an operator decides. */
  async #held(): Promise<void> {
    await this.#set({ payer_lock: true });
    const document = '52998224725';
    const id = await this.#charge({ customer: { name: 'Maria Souza', document }, expected_payer_tax_id: document });
    await this.#happen(id, { event: 'pay', payer_document: null });
    await this.#set({ payer_lock: false });
  }

  async #endpoint(): Promise<void> {
    await this.app
      .get(EndpointsService)
      .register(this.#scope, new Draft({ url: DEAD_ENDPOINT, events: ['*'] }), SYSTEM);
  }

  async #report(): Promise<void> {
    const [from, to] = [saoPauloDay(new Date(this.#begin)), saoPauloDay(new Date(this.#now))];
    await this.app.get(ReportsService).create(this.#scope, { type: 'statement', format: 'csv', from, to });
  }
}
