export * from './api-error.js';
export { Draft } from './draft.js';
