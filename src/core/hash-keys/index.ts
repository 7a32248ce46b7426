export { HashKeys } from './hash-keys.js';
export { HashKeysRepository } from './hash-keys.repository.js';
