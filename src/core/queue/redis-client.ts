import { Redis, type RedisOptions } from 'ioredis';

/** Longest pause between two attempts to reconnect: an outage lasts this much longer for us. */
const RECONNECT_AT_MOST_MS = 1_000;

/**
 * Opens a connection to Redis that reconnects without limit and notices a peer that has fallen silent. The caller
 * listens to `error` and disconnects it.
 *
 * @param silenceMs limit in milliseconds without any data while a command is pending; then the connection is given up.
 *   A lost network or a frozen host sends no FIN; without this limit commands would wait for TCP, about 15 minutes.
 */
export function openRedis(url: string, silenceMs: number, options: RedisOptions): Redis {
  const client = new Redis(url, {
    connectTimeout: 5_000,
    // Time for which a shutdown waits for the server to close; ioredis waits 2 s even for a connection already closed.
    disconnectTimeout: 250,
    retryStrategy: (attempt) => Math.min(20 * 2 ** Math.min(attempt, 10), RECONNECT_AT_MOST_MS),
    ...options,
    socketTimeout: silenceMs,
  });
  // When a connection closes, ioredis leaves its silence timer running. The timer would cut the next connection
  // although it answers, and delay the end of the process.
  client.on('close', () => {
    const internals = client as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
    clearTimeout(internals.socketTimeoutTimer);
    internals.socketTimeoutTimer = undefined;
  });
  return client;
}
