export * from './canonical-json.js';
export * from './secret-box.js';
