export { type WorkItem, WorkRepository } from './work.repository.js';
export { workItemBody } from './work.serializer.js';
export { doubling, LeaseLost, type Prolong, type WorkAnswer, WorkService } from './work.service.js';
export { type Work, type Worker, workers } from './workers.js';
