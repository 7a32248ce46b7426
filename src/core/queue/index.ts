export { JobQueues, QUEUES } from './job-queues.js';
export { DUE_TIMES, LowWaterMark, type Margins } from './low-water-mark.js';
export { Poller, type PollTask, type Timer } from './poller.js';
export { QueueRedis } from './queue-redis.js';
export { openRedis } from './redis-client.js';
export { Runs } from './runs.js';
export { WakeProcessor } from './wake.processor.js';
