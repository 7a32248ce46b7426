import type { FaultRule, RequestFaultInput } from '../psp-simulator/faults.js';
import type { Random } from '../harness/random.js';
import { rateOf } from './live-pix-plan.js';
import type { Victim } from './service-stage.js';

/** Share of payouts that the merchant cancels at once. */
const CANCELLED = 0.03;
/** Shares of paid payouts that come back whole, come back in two parts, or are revoked, long after. */
const RETURNED = 0.03;
const RETURNED_IN_PARTS = 0.03;
const REVOKED = 0.02;

export type Receiver = 'key' | 'own' | 'account';
export type Aftermath = 'return' | 'parts' | 'revoke';

export interface PlannedPayout {
  readonly number: number;
  /** Cents. */
  readonly amount: number;
  readonly receiver: Receiver;
  readonly isCancelled: boolean;
  /** Fate of the payout after the storm, if it was paid; null: it stays paid. */
  readonly aftermath: Aftermath | null;
}

export interface PayoutsPlan {
  readonly payouts: readonly PlannedPayout[];
  /** Number of merchants, each with a connection of its own: Efí takes one send at a time of each. */
  readonly merchants: number;
  readonly faults: readonly FaultRule[];
  readonly lateFaults: readonly FaultRule[];
  readonly kills: number;
  /** Victims, used in rotation. */
  readonly victims: readonly (readonly Victim[])[];
}

type Send = Extract<FaultRule, { operation: 'send' }>['fault'];
type CallbackFault = Extract<FaultRule, { operation: 'callback.send' }>['fault'];

const ALL_REQUESTS: readonly RequestFaultInput[] = [
  { kind: 'latency', ms: 400 },
  { kind: 'timeout', effect: false },
  { kind: 'timeout', effect: true },
  { kind: 'error', effect: false },
  { kind: 'error', effect: true },
  { kind: 'throttle', retryAfterSeconds: 1 },
  { kind: 'unavailable' },
  { kind: 'tokenExpiry' },
];
/** Efí's own refusals, and answers that cannot be believed. */
const PUTS: readonly RequestFaultInput[] = [
  { kind: 'refuse', error: 'id_envio_duplicado', effect: true },
  { kind: 'refuse', error: 'id_envio_duplicado' },
  { kind: 'refuse', error: 'erro_aplicacao', effect: true },
  { kind: 'refuse', error: 'erro_aplicacao' },
  { kind: 'refuse', error: 'balde_fichas_vazio' },
  { kind: 'answer', fields: null },
  { kind: 'answer', fields: { idEnvio: 'another', valor: '0.01' } },
];
const REFUSALS: readonly RequestFaultInput[] = [
  { kind: 'refuse', error: 'pagamento_negado' },
  { kind: 'refuse', error: 'chave_favorecido_nao_encontrada' },
];
const GETS: readonly RequestFaultInput[] = [
  { kind: 'answer', status: 404, fields: null },
  { kind: 'answer', fields: { valor: '0.01' } },
  { kind: 'answer', fields: { status: 'ALGO' } },
];
const CALLBACKS: readonly CallbackFault[] = [
  { kind: 'duplicate', times: 3 },
  { kind: 'reorder' },
  { kind: 'delay', ms: 3_000 },
];
const LOST: CallbackFault = { kind: 'lose' };
const SILENCE: RequestFaultInput = { kind: 'timeout', effect: true, ending: 'silence' };
const COURSES: readonly (readonly [rate: number, fault: Send])[] = [
  [0.02, { kind: 'slow', ms: 2_000 }],
  [0.03, { kind: 'reject' }],
  [0.005, { kind: 'review', ms: 20_000, status: 'REALIZADO' }],
  [0.005, { kind: 'review', ms: 10_000, status: 'NAO_REALIZADO' }],
  // Still in review when the storm is over.
  [0.002, { kind: 'review', ms: null, status: 'REALIZADO' }],
];
const REFUSED = 0.02;

const VICTIMS: PayoutsPlan['victims'] = [
  ['worker'],
  ['PostgreSQL (SIGKILL)'],
  ['Redis'],
  ['API'],
  ['PostgreSQL (SIGINT)'],
  ['API', 'worker'],
  ['PostgreSQL (SIGTERM)'],
];
const MAX_MERCHANTS = 100;
const PAYOUTS_OF_A_MERCHANT = 40;
/** Payouts for each kill. */
const PAYOUTS_OF_A_KILL = 250;

/** @param quick leaves out silent connections and kills that need long waits */
export function payoutsPlanOf(count: number, quick: boolean, random: Random): PayoutsPlan {
  const half = rateOf(2 * ALL_REQUESTS.length);
  const all = ALL_REQUESTS.map((fault) => ({ operation: '*' as const, fault, rate: half }));
  const callbacks = [...CALLBACKS, LOST];
  return {
    payouts: Array.from({ length: count }, (_, number) => planPayout(number, random)),
    merchants: Math.max(4, Math.min(MAX_MERCHANTS, Math.ceil(count / PAYOUTS_OF_A_MERCHANT))),
    faults: [
      ...(quick ? [] : [{ operation: '*' as const, fault: SILENCE, rate: 0.002 }]),
      ...all,
      ...PUTS.map((fault) => ({ operation: 'send.put' as const, fault, rate: rateOf(2 * PUTS.length) })),
      ...REFUSALS.map((fault) => ({ operation: 'send.put' as const, fault, rate: REFUSED / REFUSALS.length })),
      ...GETS.map((fault) => ({ operation: 'send.get' as const, fault, rate: rateOf(2 * GETS.length) })),
      ...callbacks.map((fault) => ({ operation: 'callback.send' as const, fault, rate: rateOf(callbacks.length) })),
      ...COURSES.map(([rate, fault]) => ({ operation: 'send' as const, fault, rate })),
    ],
    // A lost report of a return is found by the bank's list only.
    lateFaults: CALLBACKS.map((fault) => ({
      operation: 'callback.send' as const,
      fault,
      rate: rateOf(CALLBACKS.length),
    })),
    kills: quick ? 2 : Math.max(VICTIMS.length, Math.round(count / PAYOUTS_OF_A_KILL)),
    victims: quick ? [['worker'], ['PostgreSQL (SIGKILL)']] : VICTIMS,
  };
}

function planPayout(number: number, random: Random): PlannedPayout {
  const amount = random.between(10, 20_000);
  const kind = random.between(1, 10);
  const receiver = kind <= 6 ? 'key' : kind <= 8 ? 'own' : 'account';
  const isCancelled = random.next() < CANCELLED;
  const fate = random.next();
  const aftermath =
    fate < RETURNED
      ? 'return'
      : fate < RETURNED + RETURNED_IN_PARTS
        ? 'parts'
        : fate < RETURNED + RETURNED_IN_PARTS + REVOKED
          ? 'revoke'
          : null;
  return { number, amount, receiver, isCancelled, aftermath };
}
