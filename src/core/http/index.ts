export { BodyInterceptor } from './body.interceptor.js';
export * from './cursor-list.js';
export { ErrorFilter, sendError } from './error.filter.js';
export { type CallerForLog, createHttpAdapter } from './fastify.js';
export { type Html, markup, trusted } from './html.js';
export { Nested } from './nested.decorator.js';
export * from './openapi.js';
export { ValidationPipe } from './validation.pipe.js';
export { depthOf, IsDateTime, IsMetadata } from './validators.js';
