export * from './api-error.js';
