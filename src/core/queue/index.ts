// `export *` and not names: only then can modules add to JobMap through this door.
export * from './job-queue.js';
export { QueueUnavailableError } from './queue.errors.js';
export { createJobQueue } from './create-job-queue.js';
export { DUE_TIMES, LowWaterMark, type Margins } from './low-water-mark.js';
export { Poller, type PollTask, type Timer } from './poller.js';
export { openRedis } from './redis-client.js';
export { type Job, processorName, processors } from './processors.js';
