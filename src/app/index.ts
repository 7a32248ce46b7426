export { migrateAs, openRuntime, type Runtime } from './runtime.js';
