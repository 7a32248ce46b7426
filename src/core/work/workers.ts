import type { Provider, Type } from '@nestjs/common';
import { type Prolong, type WorkAnswer, type WorkKind, WorkService } from './work.service.js';

/** Argument of a worker's `run`. */
export interface Work {
  readonly subjectId: string;
  /** The number of the attempt, from 1 on. */
  readonly attempt: number;
  readonly prolong: Prolong;
}

/** A class that runs one kind of work. */
export interface Worker extends Omit<WorkKind, 'run'> {
  readonly kind: string;
  run(work: Work): Promise<WorkAnswer>;
}

/** Makes providers for workers, in the module of their context, and registers each one's kind of work. */
export function workers(...classes: readonly Type<Worker>[]): Provider[] {
  return classes.flatMap((worker): Provider[] => {
    const register = (work: WorkService, instance: Worker): void => {
      const run: WorkKind['run'] = (subjectId, attempt, prolong) => instance.run({ subjectId, attempt, prolong });
      const { kind, backoff, concurrency, leaseMs } = instance;
      work.register(kind, { backoff, concurrency, leaseMs, run });
    };
    return [worker, { provide: `work of ${worker.name}`, useFactory: register, inject: [WorkService, worker] }];
  });
}
