import { getQueueToken } from '@nestjs/bull';
import type { Provider, Type } from '@nestjs/common';
import { processorName } from '../queue/index.js';
import { type Prolong, type WorkAnswer, type WorkKind, WorkService } from './work.service.js';

/** Argument of the `@Process()` method of a worker. */
export interface Work {
  readonly subjectId: string;
  /** The number of the attempt, from 1 on. */
  readonly attempt: number;
  readonly prolong: Prolong;
}

/** A class with `@Processor('a kind of work')` and one `@Process({ concurrency })` method that answers a WorkAnswer. */
export type Worker = Pick<WorkKind, 'backoff' | 'leaseMs'>;

/**
 * Makes providers for workers, in the module of their context: @nestjs/bull finds them and registers them as kinds of
 * work.
 */
export function workers(...classes: readonly Type<Worker>[]): Provider[] {
  return classes.flatMap((worker): Provider[] => {
    const kind = processorName(worker);
    const useFactory = (work: WorkService, { backoff, leaseMs }: Worker) => ({
      /** Called by @nestjs/bull with the arguments of `@Process()`. */
      process(concurrency: number, handler: (work: Work) => Promise<WorkAnswer>): void {
        const run: WorkKind['run'] = (subjectId, attempt, prolong) => handler({ subjectId, attempt, prolong });
        work.register(kind, { backoff, concurrency, leaseMs, run });
      },
    });
    return [worker, { provide: getQueueToken(kind), useFactory, inject: [WorkService, worker] }];
  });
}
