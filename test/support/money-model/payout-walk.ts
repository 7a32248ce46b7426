import type { Dice } from './dice.js';
import {
  type BankEvent,
  type Call,
  IS_OWN,
  type PayoutModel,
  type PayoutRequest,
  type PayoutsModel,
  type PayoutTerms,
  type Person,
  returned,
} from './payouts.js';

/** A step about payouts as data. Payouts are their indexes in the model, receivers the ones of PayoutWorld. */
export type PayoutStep =
  | ({
      do: 'request';
      isAgain: boolean;
      /** Waits for the edge of day and night, or for ten minutes after the same payout. @param late in milliseconds */
      moment: { what: 'edge' | 'repetition'; late: -1 | 0 } | null;
    } & PayoutRequest)
  | { do: 'request both'; amount: number; to: number; other: number }
  | { do: 'receiver'; to: number; what: 'save' | 'approve' | 'remove' }
  | { do: 'decide'; payout: number; decision: 'approve' | 'refuse'; by: Person }
  | { do: 'cancel'; payout: number }
  /** @param isTold whether the bank reports the event at once; otherwise a later run or report finds it */
  | { do: 'bank'; payout: number; event: BankEvent; part: number | null; isTold: boolean }
  | { do: 'report'; payout: number }
  /** @param ms wait before the run */
  | { do: 'work'; payout: number; call: Call; ms: 0 | 1_000 }
  | { do: 'resolve'; payout: number; outcome: 'paid' | 'failed' }
  | { do: 'schedule'; to: number; leave: number; minimum: number; minute: number }
  | { do: 'run schedule' };

/** A day passes. @param minute of the next day in São Paulo at which the story goes on */
export interface NextDay {
  do: 'next day';
  minute: number;
}

const NOON = 12 * 60;
const NIGHT = 21 * 60;
/** Minutes of the day at which stories begin and go on: in both parts of a night, at its edges, and by day */
const MINUTES = [30, 5 * 60 + 55, NOON, 19 * 60 + 55, NIGHT];
/** Minutes of the day for occurrences of schedules, between the minutes of stories */
const OCCURRENCES = [15, 9 * 60, 20 * 60 + 30];
const MAX_PAYOUTS = 12;
const FIXED_AMOUNTS = [100, 200, 300, 301];

export function drawMinute(dice: Dice): number {
  return dice.oneOf(MINUTES);
}

export function drawPayoutTerms(dice: Dice): PayoutTerms {
  return {
    fee: dice.oneOf([0, 30, 30]),
    to: dice.oneOf(['anyone', 'own']),
    approvalAbove: dice.oneOf([null, 100, 300]),
    newDestinationHours: dice.oneOf([0, 0, 24, 24]),
    max: dice.oneOf([null, null, null, 800]),
    dailyMax: dice.oneOf([null, null, null, 2_000]),
    nightMax: dice.oneOf([null, null, 900]),
  };
}

/** A step made from the model at that time; null if it is not possible. */
export type PayoutIntent = (
  model: PayoutsModel,
  dice: Dice,
  available: number,
  at: number,
) => PayoutStep | NextDay | null;

/** Draws a possible step. Most often it concerns the last payout, so that rules meet. */
export const anyPayoutStep: PayoutIntent = (model, dice, available, at) => {
  const { all, terms } = model;
  const last = all.length - 1;
  const open = all.flatMap((one, index) =>
    ['AWAITING', 'QUEUED', 'SENDING', 'PAID'].includes(one.status) ? [index] : [],
  );
  const payout =
    open.length > 0 && !dice.isOne(6) ? (open.includes(last) && !dice.isOne(3) ? last : dice.oneOf(open)) : last;
  const { status, isApproved, sendAfter, bank } = all[payout] ?? {};
  const isWaiting = status === 'AWAITING' || (status === 'QUEUED' && (sendAfter ?? 0) > at);
  const isSendable = status === 'SENDING' || (status === 'QUEUED' && (sendAfter ?? 0) <= at);
  const to = dice.below(IS_OWN.length);
  const saved = model.saved.flatMap((one, index) => (one?.isDeleted === false ? [index] : []));
  const none = last < 0;
  return dice.weighted<PayoutIntent>([
    [all.length < MAX_PAYOUTS ? (open.length === 0 ? 12 : 5) : 0, request],
    [all.length < MAX_PAYOUTS - 1 && available > 1 ? 1 : 0, requestBoth],
    [1, () => ({ do: 'receiver', to, what: 'save' })],
    [
      saved.length > 0 && terms.newDestinationHours > 0 ? 2 : 0,
      () => ({ do: 'receiver', to: dice.oneOf(saved), what: 'approve' }),
    ],
    [saved.length > 0 && dice.isOne(3) ? 1 : 0, () => ({ do: 'receiver', to: dice.oneOf(saved), what: 'remove' })],
    [none ? 0 : isWaiting ? 6 : isApproved === true ? 1 : dice.below(2), decide(payout)],
    [none || !dice.isOne(isWaiting ? 3 : 2) ? 0 : 1, () => ({ do: 'cancel', payout })],
    [isSendable ? 8 : 0, work(payout)],
    [none ? 0 : status === 'PAID' ? 7 : isSendable && bank?.requestedAt !== null ? 4 : 1, bankEvent(payout)],
    [none ? 0 : status === 'PAID' ? 2 : 1, () => ({ do: 'report', payout })],
    [
      none ? 0 : status === 'SENDING' ? 1 : dice.isOne(6) ? 1 : 0,
      () => ({ do: 'resolve', payout, outcome: dice.oneOf(['paid', 'failed']) }),
    ],
    [saved.length > 0 ? (model.schedule ? 1 : 3) : 0, anySchedule(saved)],
    [model.schedule ? 1 : 0, () => ({ do: 'run schedule' })],
  ])(model, dice, available, at);
};

const request: PayoutIntent = (model, dice, available, at) => {
  const { all, terms } = model;
  const last = all.at(-1);
  const isRepeated = last !== undefined && dice.isOne(4);
  const there = Math.max(1, available - terms.fee);
  const limit = model.limit(at) ?? there;
  const near = (bound: number): number => Math.max(1, bound + dice.oneOf([0, 0, 1, -1]));
  const amount = dice.weighted([
    [4, () => dice.oneOf(FIXED_AMOUNTS)],
    [2, () => near(there)],
    [limit === there ? 0 : 3, () => near(limit)],
    [1, () => Math.max(1, available)],
    [2, () => Math.max(1, Math.round(there * dice.oneOf([0.2, 0.5])))],
  ])();
  const moment = dice.isOne(6)
    ? { what: dice.oneOf(['edge', 'edge', 'repetition'] as const), late: dice.oneOf([-1, 0] as const) }
    : null;
  return {
    ...{ do: 'request', isAgain: dice.isOne(4), isSaved: dice.isOne(2), moment },
    ...{ amount: isRepeated ? last.amount : amount, to: isRepeated ? last.to : dice.oneOf([0, 1, 2, 2, 3]) },
    allowsDuplicate: dice.isOne(3),
  };
};

const requestBoth: PayoutIntent = ({ terms }, dice, available) => ({
  ...{ do: 'request both', to: dice.below(2), other: dice.below(IS_OWN.length) },
  amount: Math.max(1, dice.oneOf([available - terms.fee, Math.round(available * 0.6), 200])),
});

const decide =
  (payout: number): PayoutIntent =>
  (_, dice) => ({
    ...{ do: 'decide', payout, decision: dice.oneOf(['approve', 'approve', 'approve', 'refuse']) },
    by: dice.oneOf(['asker', 'admin', 'owner', 'owner']),
  });

const work =
  (payout: number): PayoutIntent =>
  (_, dice) => ({
    ...{ do: 'work', payout, ms: dice.oneOf([0, 1_000]) },
    call: dice.oneOf([
      ...(['arrives', 'arrives', 'arrives', 'lost before', 'lost before'] as const),
      ...(['lost after', 'refused', 'invalid', 'not now'] as const),
    ]),
  });

const bankEvent =
  (payout: number): PayoutIntent =>
  ({ all }, dice) => {
    const one = all[payout] as PayoutModel;
    const left = Math.max(1, one.amount - returned(one));
    const event = dice.oneOf(
      one.status === 'PAID'
        ? (['return', 'return', 'return', 'fail', 'review', 'unknown', 'pay'] as const)
        : (['pay', 'fail', 'return', 'unknown', 'review', 'resolve'] as const),
    );
    const part = dice.oneOf([null, Math.max(1, Math.round(left * 0.4)), left, left + 1]);
    return { do: 'bank', payout, event, part: event === 'return' ? part : null, isTold: !dice.isOne(3) };
  };

const anySchedule =
  (saved: readonly number[]): PayoutIntent =>
  (_, dice, available) => ({
    ...{ do: 'schedule', to: dice.oneOf(saved), minute: dice.oneOf(OCCURRENCES) },
    leave: dice.oneOf([0, 0, 100, Math.max(0, available)]),
    minimum: dice.oneOf([0, 1, 50, Math.max(0, available)]),
  });

const ofLast =
  (make: (payout: number, one: PayoutModel) => PayoutStep): PayoutIntent =>
  ({ all }) => {
    const last = all.at(-1);
    return last ? make(all.length - 1, last) : null;
  };

type Moment = (PayoutStep & { do: 'request' })['moment'];

/** Requests a share of the money that balance and limits allow. */
const ask =
  (share: number, isSaved = false): PayoutIntent =>
  (model, _, available, at) => {
    const amount = Math.round(Math.min(available - model.terms.fee, model.limit(at) ?? available) * share);
    return amount < 1
      ? null
      : { do: 'request', amount, to: 0, isSaved, allowsDuplicate: true, isAgain: false, moment: null };
  };

/** Requests the cents that a limit leaves, or a cent more or less. */
const askLimit =
  (more: number, moment: Moment = null): PayoutIntent =>
  (model, _, available, at) => {
    const limit = model.limit(at);
    return limit === null || limit + more < 1 || limit > available
      ? null
      : { do: 'request', amount: limit + more, to: 1, isSaved: false, allowsDuplicate: true, isAgain: false, moment };
  };

const repeat =
  (late: -1 | 0 | null): PayoutIntent =>
  (model, ...rest) =>
    ofLast((_, { amount, to }) => ({
      ...{ do: 'request', amount, to, isSaved: false, allowsDuplicate: false, isAgain: false },
      moment: late === null ? null : { what: 'repetition', late },
    }))(model, ...rest);

const run = (call: Call = 'arrives', ms: 0 | 1_000 = 1_000): PayoutIntent =>
  ofLast((payout) => ({ do: 'work', payout, call, ms }));
const by = (person: Person, decision: 'approve' | 'refuse' = 'approve'): PayoutIntent =>
  ofLast((payout) => ({ do: 'decide', payout, decision, by: person }));
const says = (event: BankEvent, share: number | null = null, isTold = true): PayoutIntent =>
  ofLast((payout, one) => ({
    ...{ do: 'bank', payout, event, isTold },
    part: share === null ? null : Math.max(1, Math.round(one.amount * share)),
  }));
const report = ofLast((payout) => ({ do: 'report', payout }));
const resolve = (outcome: 'paid' | 'failed'): PayoutIntent => ofLast((payout) => ({ do: 'resolve', payout, outcome }));
const cancel = ofLast((payout) => ({ do: 'cancel', payout }));

/** Saves, approves or removes the destination of a receiver. */
const receiver =
  (what: 'save' | 'approve' | 'remove', to = 0): PayoutIntent =>
  ({ saved }) =>
    what === 'save' || saved[to]?.isDeleted === false ? { do: 'receiver', to, what } : null;

/** Sets a schedule. @param amounts money that stays, and the minimum, from the balance and what a limit leaves */
const schedule =
  (
    to: number,
    amounts: (available: number, limit: number) => readonly [leave: number, minimum: number],
  ): PayoutIntent =>
  (model, dice, available, at) => {
    if (model.saved[to]?.isDeleted !== false || available < 1) return null;
    const [leave, minimum] = amounts(available, model.limit(at) ?? available);
    return { do: 'schedule', to, leave, minimum, minute: dice.oneOf(OCCURRENCES) };
  };

const saveOwn = receiver('save');
const empty = schedule(0, () => [0, 0]);
const nextDay: PayoutIntent = (_, dice) => ({ do: 'next day', minute: drawMinute(dice) });
const at =
  (minute: number): PayoutIntent =>
  () => ({ do: 'next day', minute });

/** Sequences of steps in which the rules of payouts meet. */
export const PAYOUT_SCENES: readonly (readonly PayoutIntent[])[] = [
  // Money comes back
  [ask(0.5), run(), says('pay'), says('return', 0.4), report, says('return', 0.6)],
  [ask(0.5), run(), run(), says('return', 0.3), says('fail')],
  [ask(0.4), run(), run(), says('return', 0.3, false), says('return', 0.2, false), report, says('fail')],
  [ask(0.4), run(), run(), says('return'), report],
  [ask(0.3), run(), says('unknown'), says('pay'), says('fail')],
  [ask(0.3), says('fail'), run(), run()],
  // Calls are lost or refused
  [ask(1), run('lost before', 0), run('refused', 0), run('not now', 0), run('lost after'), run()],
  [ask(0.3), run('lost before', 0), run('invalid', 0)],
  [ask(0.3), run('not now'), cancel],
  [ask(0.3), run('not now'), resolve('paid'), resolve('failed')],
  [ask(0.3), run('lost before', 0), nextDay, run()],
  [ask(0.3), run(), cancel, says('review'), says('unknown'), says('resolve'), says('unknown'), report],
  // Limits and repetitions
  [askLimit(0), askLimit(1), ask(0.1), run(), run('arrives', 0)],
  [askLimit(-1), askLimit(0, { what: 'edge', late: -1 }), askLimit(1), askLimit(0, { what: 'edge', late: 0 })],
  [at(NOON), ask(0.9), by('owner'), at(NIGHT), run(), by('owner')],
  [ask(0.2), repeat(null), repeat(-1), repeat(0)],
  [ask(0.2), run('refused'), repeat(null)],
  // Approvals and destinations
  [saveOwn, receiver('approve'), ask(0.5, true), by('owner'), by('asker'), by('admin'), run(), run()],
  [ask(0.6), by('asker'), by('admin'), by('owner'), run(), says('fail')],
  [ask(0.6), by('admin', 'refuse'), by('admin'), ask(0.5), cancel],
  [saveOwn, receiver('remove'), ask(0.2, true), ask(0.2), run(), run(), ask(0.1)],
  [ask(0.8), by('admin'), by('owner'), run(), run()],
  [ask(0.8), by('admin'), by('owner'), run('arrives', 0), resolve('paid'), report, resolve('failed')],
  [ask(0.4), by('owner'), run('arrives', 0), resolve('failed'), resolve('paid')],
  // Schedules
  [saveOwn, empty, nextDay, run(), nextDay, run(), cancel],
  [saveOwn, empty, receiver('remove'), nextDay, nextDay],
  [receiver('save', 2), schedule(2, () => [0, 0]), nextDay, nextDay],
  [saveOwn, schedule(0, (all) => [1, all]), nextDay, nextDay],
  [saveOwn, schedule(0, (all) => [all, 0]), nextDay, nextDay],
  [saveOwn, schedule(0, (_, limit) => [0, limit + 1]), nextDay, nextDay],
];
