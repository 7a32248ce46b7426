import { Injectable } from '@nestjs/common';
import { Reader, type ReadStatement } from './database/index.js';

/** Where something waits for an operator; each is a list under `/v1/operations`. */
export const OPERATOR_QUEUES = [
  'reviews',
  'med',
  'med_waiting',
  'unmatched',
  'corrections',
  'negative_balances',
  'payouts',
  'unreadable',
  'work',
] as const;

export type OperatorQueueName = (typeof OPERATOR_QUEUES)[number];

export interface OperatorQueue {
  readonly name: OperatorQueueName;
  readonly waiting: number;
  /** Since when the oldest one waits; null: nothing does. */
  readonly since: Date | null;
}

/** How long the oldest one has waited by `now`, in milliseconds; 0 when nothing waits. */
export function ageOf({ since }: OperatorQueue, now: Date): number {
  return since === null ? 0 : Math.max(0, now.getTime() - since.getTime());
}

/** How much waits for an operator, and since when. Each context registers how its own queue is counted. */
@Injectable()
export class OperatorQueues {
  readonly #counts = new Map<OperatorQueueName, { statement: ReadStatement; values: () => unknown[] }>();

  constructor(private readonly reader: Reader) {}

  /** @param statement gives `waiting`, an integer, and `since` in one row */
  register(name: OperatorQueueName, statement: ReadStatement, values: () => unknown[] = () => []): void {
    this.#counts.set(name, { statement, values });
  }

  list(): Promise<OperatorQueue[]> {
    return Promise.all(
      OPERATOR_QUEUES.map(async (name) => {
        const count = this.#counts.get(name);
        if (!count) throw new Error(`No count is registered for the operators' queue ${name}`);
        const [row] = await this.reader.query<Omit<OperatorQueue, 'name'>>(count.statement, count.values());
        return { name, waiting: row?.waiting ?? 0, since: row?.since ?? null };
      }),
    );
  }
}
