import * as z from 'zod';
import { Random } from '../harness/random.js';

/** Operations that can fail: requests of API Pix, or a callback. */
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
]);

const callbackFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('duplicate'), times: z.number().int().min(2).max(1_000).default(2) }),
  /** The callback goes out after the next one. */
  z.strictObject({ kind: z.literal('reorder') }),
  z.strictObject({ kind: z.literal('delay'), ms: milliseconds }),
  z.strictObject({ kind: z.literal('lose') }),
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
  ])
  .refine(eitherOr, 'times or rate, not both');

export type FaultRule = z.input<typeof faultRule>;
export type RequestFault = z.output<typeof requestFault>;
export type CallbackFault = z.output<typeof callbackFault>;

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
    return rule && rule.operation !== 'callback' ? this.#count(operation, rule.fault) : null;
  }

  ofCallback(): CallbackFault | null {
    const rule = this.#draw((one) => one.operation === 'callback');
    return rule?.operation === 'callback' ? this.#count('callback', rule.fault) : null;
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

  #count<F extends RequestFault | CallbackFault>(operation: string, fault: F): F {
    const name = `${operation} ${fault.kind}${'effect' in fault ? (fault.effect ? ' after effect' : ' before effect') : ''}`;
    this.#made.set(name, (this.#made.get(name) ?? 0) + 1);
    return fault;
  }
}
