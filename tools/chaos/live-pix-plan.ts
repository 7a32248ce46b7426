import type { FaultRule } from '../psp-simulator/faults.js';
import { newEndToEndId } from '../../src/brazil/index.js';
import type { Random } from '../harness/random.js';
import type { Victim } from './live-pix-stage.js';

/** Of the payers' bank; no bank has it. */
const PAYERS_ISPB = '99999008';
/** Of all answers of the PSP, and of all of its callbacks. */
const FAULTY = 0.2;
const REFUNDED = 0.4;
/** Refunds that the bank takes on and then does not carry out. */
const FAILING = 0.2;
const PAID_TWICE = 0.03;

export interface PlannedRefund {
  /** Cents; no two of one payment are the same. */
  readonly amount: number;
  readonly failsAtBank: boolean;
}

export interface PlannedPayment {
  readonly number: number;
  /** Cents. */
  readonly amount: number;
  /** The payer's bank has chosen it. */
  readonly endToEndId: string;
  /** The payer pays once more: that one has to go back by itself. Null: pays once. */
  readonly secondEndToEndId: string | null;
  readonly refunds: readonly PlannedRefund[];
}

export interface LivePixPlan {
  readonly payments: readonly PlannedPayment[];
  readonly faults: readonly FaultRule[];
  /** How often something is killed. */
  readonly kills: number;
  /** Taken in turn. */
  readonly victims: readonly (readonly Victim[])[];
}

type RequestFault = Exclude<FaultRule, { operation: 'callback' }>['fault'];
type CallbackFault = Extract<FaultRule, { operation: 'callback' }>['fault'];

/** An answer that never comes takes the caller's whole patience: less often than the others. */
const SILENCE: RequestFault = { kind: 'timeout', effect: true, ending: 'silence' };
const SILENCE_RATE = 0.005;
const REQUEST_FAULTS: readonly RequestFault[] = [
  { kind: 'latency', ms: 400 },
  { kind: 'timeout', effect: false },
  { kind: 'timeout', effect: true },
  { kind: 'error', effect: false },
  { kind: 'error', effect: true },
  { kind: 'throttle', retryAfterSeconds: 1 },
  { kind: 'unavailable' },
  { kind: 'tokenExpiry' },
];
/** Found by reading the PSP's list, once a minute. */
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

/** @param quick without faults that have to be waited for, and with one kill */
export function planOf(count: number, quick: boolean, random: Random): LivePixPlan {
  return {
    payments: Array.from({ length: count }, (_, number) => planPayment(number, random)),
    faults: [
      ...(quick ? [] : [{ operation: '*' as const, fault: SILENCE, rate: SILENCE_RATE }]),
      ...REQUEST_FAULTS.map((fault) => ({ operation: '*' as const, fault, rate: rateOf(REQUEST_FAULTS.length) })),
      ...callbackRules(quick ? CALLBACK_FAULTS : [...CALLBACK_FAULTS, LOST]),
    ],
    kills: quick ? 1 : 12,
    // A request that is under way in the API process at its end waits for the lease of its key (40 s).
    victims: quick ? [['worker']] : VICTIMS,
  };
}

function callbackRules(faults: readonly CallbackFault[]): FaultRule[] {
  return faults.map((fault) => ({ operation: 'callback', fault, rate: rateOf(faults.length) }));
}

/** Each of `kinds` is drawn for by itself: with it some fault hits in `FAULTY` of all cases. */
function rateOf(kinds: number): number {
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
    // Of two Pix it is open which is the payment: the bank carries out whatever goes back of them.
    refunds: random.next() < REFUNDED ? planRefunds(amount, isPaidTwice ? 0 : FAILING, random) : [],
  };
}

/** All of it, a part, or two parts. */
function planRefunds(amount: number, failing: number, random: Random): PlannedRefund[] {
  const refund = (part: number): PlannedRefund => ({ amount: part, failsAtBank: random.next() < failing });
  const shape = random.between(1, 4);
  if (shape <= 2) return [refund(amount)];
  const part = random.between(1, Math.floor((amount - 1) / 2));
  return shape === 3 ? [refund(part)] : [refund(part), refund(amount - part)];
}
