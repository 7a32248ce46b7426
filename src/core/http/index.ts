export { BodyInterceptor } from './body.interceptor.js';
export { IsDateTime } from './date-time.decorator.js';
export { ErrorFilter, sendError } from './error.filter.js';
export { type CallerForLog, createHttpAdapter } from './fastify.js';
export { Nested } from './nested.decorator.js';
export * from './openapi.js';
export { ValidationPipe } from './validation.pipe.js';
