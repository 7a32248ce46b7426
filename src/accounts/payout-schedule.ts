import { isUuid, withSmallUuids } from '../core/ids.js';
import { MAX_AMOUNT } from '../core/money/index.js';
import type { PayoutSchedule } from './account.entity.js';

/** Last number of `on`, from 1 on; 0: the field must not be sent. The days of a week are those of the banks. */
const LAST_ON = { day: 0, week: 5, month: 31 } as const;
const TIME = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;
const CENTS = { type: 'integer', minimum: 0, maximum: MAX_AMOUNT };

/** Schema of a schedule in requests. `readPayoutSchedule` checks more: `on` depends on `every`. */
export const PAYOUT_SCHEDULE = {
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['every', 'at', 'destination', 'leave', 'minimum'] as string[],
    properties: {
      every: { type: 'string', enum: Object.keys(LAST_ON), description: 'How often.', example: 'week' },
      on: {
        type: 'integer',
        minimum: 1,
        maximum: 31,
        description:
          '`week`: 1 (Monday) to 5 (Friday). `month`: 1 to 31, in a shorter month its last day. `day`: left out.',
        example: 1,
      },
      at: {
        type: 'string',
        pattern: TIME.source,
        description: 'Time in São Paulo. A day without banks is moved to the next bank day.',
        example: '09:00',
      },
      destination: {
        type: 'string',
        description: 'A saved payout destination (`pd_…`).',
        example: 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
      },
      leave: { ...CENTS, description: 'Cents of the available balance that stay.', example: 10_000 },
      minimum: { ...CENTS, description: 'Nothing is sent when less than this is left, in cents.', example: 5_000 },
    },
  },
  rule:
    'an object with every (day, week or month), on (week: 1 to 5, Monday to Friday; month: 1 to 31; day: left out), ' +
    'at (HH:MM), destination (pd_…), leave and minimum (cents)',
} as const;

/** @returns null for a value that breaks the rule */
export function readPayoutSchedule(value: unknown): PayoutSchedule | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { every, on = null, at, destination, leave, minimum, ...unknown } = value as Record<string, unknown>;
  if (Object.keys(unknown).length > 0) return null;
  if (every !== 'day' && every !== 'week' && every !== 'month') return null;
  const isDayRight = LAST_ON[every] === 0 ? on === null : isInteger(on, 1, LAST_ON[every]);
  if (!isDayRight || typeof at !== 'string' || !TIME.test(at)) return null;
  const id = typeof destination === 'string' ? withSmallUuids(destination).replace(/^pd_/, '') : null;
  if (!isUuid(id) || !isInteger(leave, 0, MAX_AMOUNT) || !isInteger(minimum, 0, MAX_AMOUNT)) return null;
  return { every, on: isInteger(on, 1, 31) ? on : null, at, destination: id, leave, minimum };
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

/** A schedule as answers show it. */
export interface ShownPayoutSchedule extends Omit<PayoutSchedule, 'on'> {
  readonly on?: number;
}

export function shownPayoutSchedule(schedule: PayoutSchedule | null): ShownPayoutSchedule | null {
  if (schedule === null) return null;
  const { every, on, at, destination, leave, minimum } = schedule;
  return { every, ...(on === null ? {} : { on }), at, destination: `pd_${destination}`, leave, minimum };
}
