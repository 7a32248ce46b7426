export * from './config.js';
export * from './local-secrets.js';
