// The image's HEALTHCHECK: exits 0 when GET /health/live answers 200 on this container, else 1. In Node because the
// slim image has neither curl nor wget. Liveness, not readiness: restarting the service does not mend its database.
import { get } from 'node:http';
import process from 'node:process';

const request = get(
  // 127.0.0.1, not localhost: that may resolve to ::1 first, where nothing listens when HOST is 0.0.0.0.
  { host: '127.0.0.1', port: process.env.PORT || 3000, path: '/health/live', agent: false, timeout: 3000 },
  (response) => process.exit(response.statusCode === 200 ? 0 : 1),
);
// A process that accepts and never answers has hung: that is what this check is for.
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', () => process.exit(1));
