import * as z from 'zod';
import { Random } from '../harness/random.js';
import { EFI_ERRORS } from './efi-errors.js';

/** Requests that can fail: those of API Pix, and Efí's of money out (`send.put`: all ways to send). */
export const OPERATIONS = [
  'token',
  'cob.put',
  'cob.patch',
  'cob.get',
  'pix.get',
  'pix.list',
  'return.put',
  'return.get',
  'webhook.put',
  'webhook.get',
  'webhook.delete',
  'send.put',
  'send.get',
  'send.list',
  'balance.get',
  'qrcode.detail',
] as const;

export type Operation = (typeof OPERATIONS)[number];

const milliseconds = z.number().int().min(0).max(600_000);

const requestFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('latency'), ms: milliseconds }),
  /**
   * No answer: the connection breaks (`reset`), or stays open in silence. `effect`: whether the request takes effect.
   */
  z.strictObject({
    kind: z.literal('timeout'),
    effect: z.boolean(),
    ending: z.enum(['reset', 'silence']).default('reset'),
  }),
  /** Answers 500. */
  z.strictObject({ kind: z.literal('error'), effect: z.boolean() }),
  /** Answers 429. */
  z.strictObject({ kind: z.literal('throttle'), retryAfterSeconds: z.number().int().min(0).max(3_600).default(1) }),
  /** Answers 503. */
  z.strictObject({ kind: z.literal('unavailable') }),
  /**
   * The request takes effect but its answer is changed: another status, other fields (also in each entry of `pix`), or
   * no body at all.
   */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.number().int().min(200).max(599).optional(),
    fields: z.record(z.string(), z.unknown()).nullable().default({}),
    entries: z.record(z.string(), z.unknown()).default({}),
  }),
  /** All tokens expire early: the request gets 401. */
  z.strictObject({ kind: z.literal('tokenExpiry') }),
  /** Answers with this error of Efí's, and with its status. */
  z.strictObject({ kind: z.literal('refuse'), error: z.enum(EFI_ERRORS), effect: z.boolean().default(false) }),
]);

const callbackFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('duplicate'), times: z.number().int().min(2).max(1_000).default(2) }),
  /** The callback goes out after the next one. */
  z.strictObject({ kind: z.literal('reorder') }),
  z.strictObject({ kind: z.literal('delay'), ms: milliseconds }),
  z.strictObject({ kind: z.literal('lose') }),
]);

/** The course of an accepted send, in place of the one by the settings. */
const sendFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('slow'), ms: milliseconds }),
  /** The bank examines it, and then pays or rejects. Null: until it is settled by hand. */
  z.strictObject({
    kind: z.literal('review'),
    ms: milliseconds.nullable(),
    status: z.enum(['REALIZADO', 'NAO_REALIZADO']).default('REALIZADO'),
  }),
  z.strictObject({ kind: z.literal('reject') }),
  /** The send is paid, and becomes NAO_REALIZADO this long after. */
  z.strictObject({ kind: z.literal('revoke'), afterMs: milliseconds }),
  /** The send is paid, and this share of the amount comes back this long after, in equal parts. */
  z.strictObject({
    kind: z.literal('return'),
    afterMs: milliseconds,
    share: z.number().min(0.01).max(1).default(1),
    parts: z.number().int().min(1).max(10).default(1),
  }),
]);

/** Either the next `times` cases, or a `rate` of all, drawn by the seed; of several rates the first hit counts. */
const when = {
  times: z.number().int().min(1).max(1_000_000).optional(),
  rate: z.number().min(0).max(1).optional(),
};
const eitherOr = ({ times, rate }: { times?: number | undefined; rate?: number | undefined }): boolean =>
  times === undefined || rate === undefined;

export const faultRule = z
  .union([
    z.strictObject({ operation: z.enum([...OPERATIONS, '*']), fault: requestFault, ...when }),
    z.strictObject({ operation: z.literal('callback'), fault: callbackFault, ...when }),
    /** Only callbacks of sends and of their returns. */
    z.strictObject({ operation: z.literal('callback.send'), fault: callbackFault, ...when }),
    z.strictObject({ operation: z.literal('send'), fault: sendFault, ...when }),
  ])
  .refine(eitherOr, 'times or rate, not both')
  .refine(
    ({ operation, fault }) => fault.kind !== 'refuse' || operation.startsWith('send.') || operation === 'balance.get',
    'only requests of money out can be refused with an error of Efí',
  );

export type FaultRule = z.input<typeof faultRule>;
export type RequestFaultInput = z.input<typeof requestFault>;
export type RequestFault = z.output<typeof requestFault>;
export type CallbackFault = z.output<typeof callbackFault>;
export type SendFault = z.output<typeof sendFault>;

type Rule = z.output<typeof faultRule> & { left: number };

/** Selects the due faults. Queued faults (`times`, default once) precede random ones (`rate`). */
export class Faults {
  #rules: Rule[] = [];
  readonly #random: Random;
  readonly #made = new Map<string, number>();

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  add(rule: z.output<typeof faultRule>): void {
    this.#rules.push({ ...rule, left: rule.rate === undefined ? (rule.times ?? 1) : 0 });
  }

  clear(): void {
    this.#rules = [];
  }

  get rules(): readonly (z.output<typeof faultRule> & { readonly left: number })[] {
    return this.#rules;
  }

  /** How often each fault was made, by `operation kind`. */
  get made(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#made);
  }

  ofRequest(operation: Operation): RequestFault | null {
    const rule = this.#draw((one) => one.operation === operation || one.operation === '*');
    return rule && !isOfCallback(rule) && rule.operation !== 'send' ? this.#count(operation, rule.fault) : null;
  }

  ofCallback(concern: 'received' | 'sent'): CallbackFault | null {
    const rule = this.#draw(
      ({ operation }) => operation === 'callback' || (operation === 'callback.send' && concern === 'sent'),
    );
    return rule && isOfCallback(rule) ? this.#count('callback', rule.fault) : null;
  }

  ofSend(): SendFault | null {
    const rule = this.#draw(({ operation }) => operation === 'send');
    return rule?.operation === 'send' ? this.#count('send', rule.fault) : null;
  }

  #draw(concerns: (rule: Rule) => boolean): Rule | null {
    const rules = this.#rules.filter(concerns);
    const queued = rules.find(({ left }) => left > 0);
    if (queued) {
      queued.left -= 1;
      if (queued.left === 0) this.#rules = this.#rules.filter((rule) => rule !== queued);
      return queued;
    }
    // Every rule draws a number, even after a hit, so that rules do not change each other's numbers.
    const drawn = rules.filter(({ rate }) => rate !== undefined && this.#random.next() < rate);
    return drawn[0] ?? null;
  }

  #count<F extends RequestFault | CallbackFault | SendFault>(operation: string, fault: F): F {
    const name = `${operation} ${fault.kind}${'effect' in fault ? (fault.effect ? ' after effect' : ' before effect') : ''}`;
    this.#made.set(name, (this.#made.get(name) ?? 0) + 1);
    return fault;
  }
}

function isOfCallback(rule: Rule): rule is Extract<Rule, { fault: CallbackFault }> {
  return rule.operation === 'callback' || rule.operation === 'callback.send';
}
