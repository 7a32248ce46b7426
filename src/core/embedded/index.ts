export { EmbeddedServerError } from './embedded.errors.js';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';
export { keepOwner, makeSecret, readIfThere, writePrivate } from './private-files.js';
export { startRedisChild } from './redis-child.js';
