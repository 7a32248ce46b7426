import type { FaultRule, RequestFaultInput } from '../psp-simulator/faults.js';
import { newEndToEndId } from '../../src/brazil/index.js';
import type { Random } from '../harness/random.js';
import type { Victim } from './service-stage.js';

/** The ISPB of the payers' bank; no real bank has it. */
const PAYERS_ISPB = '99999008';
/** Share of the PSP's answers that are faulty, and of its callbacks. */
const FAULTY = 0.2;
const REFUNDED = 0.4;
/** Share of refunds that the bank accepts but does not carry out. */
const FAILING = 0.2;
const PAID_TWICE = 0.03;

export interface PlannedRefund {
  /** Amount in cents; refunds of one payment all differ. */
  readonly amount: number;
  readonly failsAtBank: boolean;
}

export interface PlannedPayment {
  readonly number: number;
  /** Amount in cents. */
  readonly amount: number;
  /** End-to-end id, chosen by the payer's bank. */
  readonly endToEndId: string;
  /** Set if the payer pays a second time, which must be returned automatically. Null: pays once. */
  readonly secondEndToEndId: string | null;
  readonly refunds: readonly PlannedRefund[];
}

export interface LivePixPlan {
  readonly payments: readonly PlannedPayment[];
  readonly faults: readonly FaultRule[];
  /** Number of kills. */
  readonly kills: number;
  /** Victims, used in rotation. */
  readonly victims: readonly (readonly Victim[])[];
}

type CallbackFault = Extract<FaultRule, { operation: 'callback' }>['fault'];

/** A missing answer takes the caller's whole time limit, so it is rarer than other faults. */
const SILENCE: RequestFaultInput = { kind: 'timeout', effect: true, ending: 'silence' };
const SILENCE_RATE = 0.005;
const REQUEST_FAULTS: readonly RequestFaultInput[] = [
  { kind: 'latency', ms: 400 },
  { kind: 'timeout', effect: false },
  { kind: 'timeout', effect: true },
  { kind: 'error', effect: false },
  { kind: 'error', effect: true },
  { kind: 'throttle', retryAfterSeconds: 1 },
  { kind: 'unavailable' },
  { kind: 'tokenExpiry' },
];
/** Lost Pix are found in the PSP's list, which is read once a minute. */
const LOST: CallbackFault = { kind: 'lose' };
const CALLBACK_FAULTS: readonly CallbackFault[] = [
  { kind: 'duplicate', times: 3 },
  { kind: 'reorder' },
  { kind: 'delay', ms: 3_000 },
];

const VICTIMS: LivePixPlan['victims'] = [
  ['API'],
  ['PostgreSQL (SIGINT)'],
  ['worker'],
  ['PostgreSQL (SIGKILL)'],
  ['API', 'worker'],
  ['PostgreSQL (SIGTERM)'],
];

/** @param quick leaves out faults that need long waits, and kills once */
export function planOf(count: number, quick: boolean, random: Random): LivePixPlan {
  return {
    payments: Array.from({ length: count }, (_, number) => planPayment(number, random)),
    faults: [
      ...(quick ? [] : [{ operation: '*' as const, fault: SILENCE, rate: SILENCE_RATE }]),
      ...REQUEST_FAULTS.map((fault) => ({ operation: '*' as const, fault, rate: rateOf(REQUEST_FAULTS.length) })),
      ...callbackRules(quick ? CALLBACK_FAULTS : [...CALLBACK_FAULTS, LOST]),
    ],
    kills: quick ? 1 : 12,
    // A request under way in a killed API process blocks its key until its lease ends (40 s).
    victims: quick ? [['worker']] : VICTIMS,
  };
}

function callbackRules(faults: readonly CallbackFault[]): FaultRule[] {
  return faults.map((fault) => ({ operation: 'callback', fault, rate: rateOf(faults.length) }));
}

/** The rate for each of `kinds`, drawn independently, so that any fault hits in `FAULTY` of all cases. */
export function rateOf(kinds: number): number {
  return 1 - (1 - FAULTY) ** (1 / kinds);
}

function planPayment(number: number, random: Random): PlannedPayment {
  const amount = random.between(10, 1_000_000);
  const isPaidTwice = random.next() < PAID_TWICE;
  return {
    number,
    amount,
    endToEndId: newEndToEndId(PAYERS_ISPB, new Date()),
    secondEndToEndId: isPaidTwice ? newEndToEndId(PAYERS_ISPB, new Date()) : null,
    // With two Pix, either may become the payment: the bank carries out all devolutions of both.
    refunds: random.next() < REFUNDED ? planRefunds(amount, isPaidTwice ? 0 : FAILING, random) : [],
  };
}

/** Plans a full refund, a partial one, or two partial ones. */
function planRefunds(amount: number, failing: number, random: Random): PlannedRefund[] {
  const refund = (part: number): PlannedRefund => ({ amount: part, failsAtBank: random.next() < failing });
  const shape = random.between(1, 4);
  if (shape <= 2) return [refund(amount)];
  const part = random.between(1, Math.floor((amount - 1) / 2));
  return shape === 3 ? [refund(part)] : [refund(part), refund(amount - part)];
}
