export { LocalServerError } from './local-servers.errors.js';
export { type LocalServers, type LocalServersOptions, openLocalServers, refuseSecondService } from './local-servers.js';
export { type Postgres, startPostgres } from './postgres.js';
