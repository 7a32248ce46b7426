export * from './config.js';
export * from './local-secrets.js';
export type { StorageConfig } from './storage-url.js';
