export * from './canonical-json.js';
export * from './is-same.js';
export * from './secret-box.js';
