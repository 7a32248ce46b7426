import type * as z from 'zod';
import { API_PATH, ApiServer, type Exchange, TOKEN_PATH } from './api-server.js';
import { apiRoutes } from './api.js';
import { Bank } from './bank.js';
import { type CallbackRecord, Callbacks } from './callbacks.js';
import { ControlServer } from './control-server.js';
import { type FaultRule, Faults, faultRule } from './faults.js';
import { type Merchant, type Pix } from './model.js';
import { Returns } from './returns.js';
import {
  announcement,
  DEFAULT_SETTINGS,
  expiry,
  medReturn,
  newMerchant,
  payment,
  returnSettlement,
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
    this.#returns = new Returns(this.#bank, this.#settings, now, this.#timers, tell);
    this.#tokens = new Tokens(this.#bank, this.#settings, now);
    this.#callbacks = new Callbacks(this.#settings, this.#faults, this.#timers, now);
    const routes = apiRoutes(this.#bank, this.#returns);
    const observe = options.observe ?? (() => undefined);
    this.#api = new ApiServer(routes, this.#tokens, this.#faults, this.#settings, this.#timers, observe);
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

  /** Repeats a callback, once or many times, with the current state. @throws Refusal, ZodError */
  announce(input: z.input<typeof announcement>): void {
    const { endToEndId, times } = announcement.parse(input);
    const pix = this.#bank.bookedPix(endToEndId);
    for (let time = 0; time < times; time += 1) this.#tell(pix);
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
    const { callbacks, ...rest } = settingsChange.parse(input);
    const merged = { ...this.#settings, ...rest, callbacks: { ...this.#settings.callbacks, ...callbacks } };
    Object.assign(this.#settings, settings.parse(merged));
    return this.#settings;
  }

  state(): SimulatorState {
    return {
      merchants: this.#bank.merchants.map(({ clientId, pixKeys }) => ({ clientId, pixKeys })),
      cobs: this.#bank.cobs.map((cob) => ({ clientId: cob.merchant.clientId, ...wireCobWithPix(cob) })),
      pix: this.#bank.pix.map((pix) => ({ clientId: pix.merchant.clientId, ...wirePix(pix) })),
      webhooks: this.#bank.webhooks.map(wireWebhook),
      callbacks: this.#callbacks.records,
      faults: { rules: this.#faults.rules, made: this.#faults.made },
      traffic: this.#api.traffic,
      settings: this.#settings,
    };
  }

  #tell(pix: Pix): void {
    const webhook = this.#bank.webhookOf(pix.key);
    if (!webhook || (pix.txid === null && !this.#settings.callbacks.withoutTxid)) return;
    this.#callbacks.announce(webhook.url, wirePix(pix));
  }
}
