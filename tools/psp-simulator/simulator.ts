import type * as z from 'zod';
import { API_PATH, ApiServer, type Exchange, TOKEN_PATH } from './api-server.js';
import { apiRoutes } from './api.js';
import { Bank } from './bank.js';
import { type Balance, Books } from './books.js';
import { type CallbackRecord, Callbacks } from './callbacks.js';
import { ControlServer } from './control-server.js';
import { efiRoutes } from './efi-api.js';
import { wireNotice, type WireSend, wireSend } from './efi-wire.js';
import { type FaultRule, Faults, faultRule } from './faults.js';
import { type Merchant, type Pix, type Send } from './model.js';
import { Returns } from './returns.js';
import { Sends } from './sends.js';
import {
  announcement,
  appSend,
  blocking,
  DEFAULT_SETTINGS,
  directoryEntry,
  expiry,
  medReturn,
  movement,
  newMerchant,
  payment,
  returnSettlement,
  sendReturn,
  sendReview,
  sendSettlement,
  settings,
  type Settings,
  type SettingsChange,
  settingsChange,
} from './settings.js';
import { Timers } from './timers.js';
import { Tokens } from './tokens.js';
import {
  type WireCob,
  type WirePix,
  type WireReturn,
  type WireWebhook,
  wireCobWithPix,
  wirePix,
  wireReturn,
  wireWebhook,
} from './wire.js';

/** The default merchant. */
export const DEFAULT_MERCHANT = {
  clientId: 'recebe',
  clientSecret: 'a-secret-that-everybody-knows',
  pixKeys: ['8f3c1f2e-2d0b-4a53-9a6e-5b0c7f6f1d11'],
};

export interface SimulatorOptions {
  /** 0, the default: any free port. */
  readonly port?: number;
  readonly controlPort?: number;
  /** Seed of the random faults; default 1. */
  readonly seed?: number;
  readonly settings?: SettingsChange;
  readonly merchants?: readonly z.input<typeof newMerchant>[];
  readonly now?: () => Date;
  /** Receives each answered request of API Pix. */
  readonly observe?: (exchange: Exchange) => void;
}

/** Everything booked, in the form of API Pix, for checks. */
export interface SimulatorState {
  readonly merchants: readonly { readonly clientId: string; readonly pixKeys: readonly string[] }[];
  readonly cobs: readonly (WireCob & { readonly clientId: string })[];
  readonly pix: readonly (WirePix & { readonly clientId: string })[];
  readonly sends: readonly (WireSend & { readonly clientId: string })[];
  readonly balances: readonly (Balance & { readonly clientId: string })[];
  readonly webhooks: readonly WireWebhook[];
  readonly callbacks: readonly CallbackRecord[];
  readonly faults: { readonly rules: readonly unknown[]; readonly made: Readonly<Record<string, number>> };
  readonly traffic: ApiServer['traffic'];
  readonly settings: Settings;
}

/**
 * A PSP that implements BACEN's API Pix in memory. Merchants reach it at `baseUrl` and `tokenUrl` with the client
 * certificate of `certificates.ts`. The methods, or `POST <controlUrl>/<method>`, control the payer, the payer's bank
 * and the faults.
 */
export class PspSimulator {
  readonly #settings: Settings = structuredClone(DEFAULT_SETTINGS);
  readonly #timers = new Timers();
  readonly #faults: Faults;
  readonly #bank: Bank;
  readonly #returns: Returns;
  readonly #books: Books;
  readonly #sends: Sends;
  readonly #tokens: Tokens;
  readonly #callbacks: Callbacks;
  readonly #api: ApiServer;
  readonly #control: ControlServer;
  #port = 0;
  #controlPort = 0;

  private constructor(options: SimulatorOptions) {
    const now = options.now ?? (() => new Date());
    const tell = (pix: Pix): void => {
      this.#tell(pix);
    };
    this.#faults = new Faults(options.seed ?? 1);
    this.#bank = new Bank(this.#settings, now, () => `localhost:${String(this.#port)}/qr/v2/`, tell);
    this.#tokens = new Tokens(this.#bank, this.#settings, now);
    this.#callbacks = new Callbacks(this.#settings, this.#faults, this.#timers, now);
    const sent = (send: Send, change: 'status' | 'return'): void => {
      this.#tellSend(send, change);
    };
    this.#books = new Books(this.#bank, (merchant) => this.#sends.of(merchant));
    const availableOf = (merchant: Merchant): number => this.#books.balance(merchant).available;
    this.#returns = new Returns(this.#bank, this.#settings, now, this.#timers, availableOf, tell);
    this.#sends = new Sends(this.#bank, this.#books, this.#faults, this.#settings, now, this.#timers, sent);
    const standard = apiRoutes(this.#bank, this.#returns);
    const own = efiRoutes(this.#bank, this.#books, this.#sends, this.#settings);
    const observe = options.observe ?? (() => undefined);
    this.#api = new ApiServer(standard, own, this.#tokens, this.#faults, this.#settings, this.#timers, observe);
    this.#control = new ControlServer(this);
    this.change(options.settings ?? {});
    for (const merchant of options.merchants ?? [DEFAULT_MERCHANT]) this.addMerchant(merchant);
  }

  static async start(options: SimulatorOptions = {}): Promise<PspSimulator> {
    const simulator = new PspSimulator(options);
    try {
      simulator.#port = await simulator.#api.start(options.port ?? 0);
      simulator.#controlPort = await simulator.#control.start(options.controlPort ?? 0);
    } catch (error) {
      await simulator.stop();
      throw error;
    }
    return simulator;
  }

  async stop(): Promise<void> {
    this.#timers.close();
    await Promise.all([this.#api.stop(), this.#control.stop(), this.#callbacks.stop()]);
  }

  get baseUrl(): string {
    return `https://localhost:${String(this.#port)}${API_PATH}`;
  }

  /** Base URL of a connection with the profile `efi`: the standard is below `/v2`, beside Efí's own operations. */
  get efiUrl(): string {
    return `https://localhost:${String(this.#port)}`;
  }

  get tokenUrl(): string {
    return `https://localhost:${String(this.#port)}${TOKEN_PATH}`;
  }

  get controlUrl(): string {
    return `http://127.0.0.1:${String(this.#controlPort)}`;
  }

  addMerchant(merchant: z.input<typeof newMerchant>): Merchant {
    return this.#bank.addMerchant(newMerchant.parse(merchant));
  }

  /** Pays a charge, or to a key. @throws Refusal, ZodError */
  pay(input: z.input<typeof payment>): WirePix {
    return wirePix(this.#bank.pay(payment.parse(input)));
  }

  /** Shows the amount of a Pix as another text; null: as in the standard. @throws Refusal */
  write(endToEndId: string, written: string | null): void {
    this.#bank.bookedPix(endToEndId).written = written;
  }

  /** Settles a devolution, also one of the MED. @throws Refusal, ZodError */
  settleReturn(input: z.input<typeof returnSettlement>): WireReturn {
    return wireReturn(this.#returns.settle(returnSettlement.parse(input)));
  }

  /** Adds a devolution of the MED. @throws Refusal, ZodError */
  med(input: z.input<typeof medReturn>): WireReturn {
    return wireReturn(this.#returns.med(medReturn.parse(input)));
  }

  /** Ends a charge, so that it cannot be paid. @throws Refusal, ZodError */
  expire(input: z.input<typeof expiry>): WireCob {
    return wireCobWithPix(this.#bank.expire(expiry.parse(input)));
  }

  expireTokens(): void {
    this.#tokens.expireAll();
  }

  /** Pays or rejects a send now; a paid one can become NAO_REALIZADO. @throws Refusal, ZodError */
  settleSend(input: z.input<typeof sendSettlement>): WireSend {
    return this.#wireSend(this.#sends.settle(sendSettlement.parse(input)));
  }

  /** The bank examines a send before it pays or rejects it. @throws Refusal, ZodError */
  reviewSend(input: z.input<typeof sendReview>): WireSend {
    return this.#wireSend(this.#sends.review(sendReview.parse(input)));
  }

  /** A part of a paid send, or all of it, comes back. @throws Refusal, ZodError */
  returnSend(input: z.input<typeof sendReturn>): WireSend {
    return this.#wireSend(this.#sends.giveBack(sendReturn.parse(input)));
  }

  /** Somebody sends a Pix in the bank's app. @throws Refusal, ZodError */
  sendInApp(input: z.input<typeof appSend>): WireSend {
    return this.#wireSend(this.#sends.sendInApp(appSend.parse(input)));
  }

  /** The bank moves money by itself. @throws Refusal, ZodError */
  move(input: z.input<typeof movement>): Balance {
    return this.#books.move(movement.parse(input));
  }

  /** The bank blocks money, or frees it. @throws Refusal, ZodError */
  block(input: z.input<typeof blocking>): Balance {
    return this.#books.block(blocking.parse(input));
  }

  /** Says whose a key is, or that nobody has it. @throws ZodError */
  addKey(input: z.input<typeof directoryEntry>): void {
    this.#sends.register(directoryEntry.parse(input));
  }

  /** Repeats a callback about a Pix, once or many times, with the current state. @throws Refusal, ZodError */
  announce(input: z.input<typeof announcement>): void {
    const { endToEndId, times } = announcement.parse(input);
    const send = this.#sends.byEndToEndId(endToEndId);
    for (let time = 0; time < times; time += 1) {
      if (send) this.#tellSend(send, 'status');
      else this.#tell(this.#bank.bookedPix(endToEndId));
    }
  }

  /** @throws ZodError */
  addFault(rule: FaultRule): void {
    this.#faults.add(faultRule.parse(rule));
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  /** Changes the given settings and returns all. @throws ZodError */
  change(input: SettingsChange): Settings {
    const { callbacks, sends, ...rest } = settingsChange.parse(input);
    const merged = {
      ...this.#settings,
      ...rest,
      callbacks: { ...this.#settings.callbacks, ...callbacks },
      sends: { ...this.#settings.sends, ...sends },
    };
    Object.assign(this.#settings, settings.parse(merged));
    return this.#settings;
  }

  state(): SimulatorState {
    return {
      merchants: this.#bank.merchants.map(({ clientId, pixKeys }) => ({ clientId, pixKeys })),
      cobs: this.#bank.cobs.map((cob) => ({ clientId: cob.merchant.clientId, ...wireCobWithPix(cob) })),
      pix: this.#bank.pix.map((pix) => ({ clientId: pix.merchant.clientId, ...wirePix(pix) })),
      sends: this.#sends.all.map((send) => ({ clientId: send.merchant.clientId, ...this.#wireSend(send) })),
      balances: this.#bank.merchants.map((merchant) => ({
        clientId: merchant.clientId,
        ...this.#books.balance(merchant),
      })),
      webhooks: this.#bank.webhooks.map(wireWebhook),
      callbacks: this.#callbacks.records,
      faults: { rules: this.#faults.rules, made: this.#faults.made },
      traffic: this.#api.traffic,
      settings: this.#settings,
    };
  }

  #wireSend(send: Send): WireSend {
    return wireSend(send, this.#settings.sends);
  }

  #tellSend(send: Send, change: 'status' | 'return'): void {
    const webhook = send.payerKey === null ? undefined : this.#bank.webhookOf(send.payerKey);
    if (!webhook || (change === 'return' && this.#settings.sends.returnCallback === 'none')) return;
    const notice = wireNotice(send, this.#settings.sends, change);
    if (notice) this.#callbacks.announce(webhook.url, notice);
  }

  #tell(pix: Pix): void {
    const webhook = this.#bank.webhookOf(pix.key);
    if (!webhook || (pix.txid === null && !this.#settings.callbacks.withoutTxid)) return;
    this.#callbacks.announce(webhook.url, wirePix(pix));
  }
}
