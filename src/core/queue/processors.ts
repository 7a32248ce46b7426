import { getQueueToken } from '@nestjs/bull';
import type { OnApplicationBootstrap, Provider, Type } from '@nestjs/common';
import type Bull from 'bull';
import { type Config, CONFIG } from '../config/index.js';
import { type JobMap, type JobName, JobQueue } from './job-queue.js';

/** Argument of a `@Process()` method: the part of Bull's job that also exists without Redis. */
export type Job<N extends JobName> = Pick<Bull.Job<JobMap[N]>, 'data'>;

type Handler = (job: Job<JobName>) => Promise<void>;

/** Metadata of @nestjs/bull's `@Processor`; the package does not export the key. */
const PROCESSOR = 'bull:module_queue';

/**
 * Providers for classes with `@Processor('a.name')` and one `@Process({ concurrency })` method, in the module of their
 * context. @nestjs/bull finds them and registers them, with Redis and without.
 */
export function processors(...classes: readonly Type[]): Provider[] {
  return classes.flatMap((processor): Provider[] => {
    const name = processorName(processor) as JobName;
    const provide = getQueueToken(name);
    const useFactory = (config: Config, queue: JobQueue) => new ProcessedQueue(config, queue, name);
    return [processor, { provide, useFactory, inject: [CONFIG, JobQueue] }];
  });
}

/** Returns the name in a class's `@Processor()`. */
export function processorName(processor: Type): string {
  return (Reflect.getMetadata(PROCESSOR, processor) as { name: string }).name;
}

/**
 * Stands in for the queue that @nestjs/bull looks up by its name. The Bull queue itself would start work before other
 * modules are initialised, also in processes that run no workers.
 */
class ProcessedQueue implements OnApplicationBootstrap {
  #start: (() => void) | undefined;

  constructor(
    private readonly config: Config,
    private readonly queue: JobQueue,
    private readonly name: JobName,
  ) {}

  /** Called by @nestjs/bull with the arguments of `@Process()`. */
  process(concurrency: number, handler: Handler): void {
    this.#start = () => this.queue.process(this.name, { concurrency }, (data) => handler({ data }));
  }

  onApplicationBootstrap(): void {
    if (this.config.runsWorkers) this.#start?.();
  }
}
