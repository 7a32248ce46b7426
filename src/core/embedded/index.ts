export { EmbeddedServerError } from './embedded.errors.js';
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded-postgres.js';
export { keepOwner, writePrivate } from './private-files.js';
export { type RedisChild, type RedisChildOptions, startRedisChild } from './redis-child.js';
