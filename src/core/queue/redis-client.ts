import { Redis, type RedisOptions } from 'ioredis';

/** The longest pause between two attempts to reconnect: what an outage may cost beyond itself. */
const RECONNECT_AT_MOST_MS = 1_000;

/**
 * A connection to Redis that reconnects for ever and notices a peer that has fallen silent. The caller listens to
 * `error` and disconnects it.
 *
 * @param silenceMs milliseconds without any data, while a command is pending, after which the connection is given up.
 *   A lost network or a frozen host sends no FIN; without this limit commands would wait for TCP, about 15 minutes.
 */
export function openRedis(url: string, silenceMs: number, options: RedisOptions): Redis {
  const client = new Redis(url, {
    connectTimeout: 5_000,
    // How long a shutdown waits for the server's end of the connection; ioredis waits 2 s even for one already closed.
    disconnectTimeout: 250,
    retryStrategy: (attempt) => Math.min(20 * 2 ** Math.min(attempt, 10), RECONNECT_AT_MOST_MS),
    ...options,
    socketTimeout: silenceMs,
  });
  // ioredis leaves its silence timer running when a connection closes: it would cut the next connection although that
  // one answers, and keep the process alive after a shutdown for as long as it has left.
  client.on('close', () => {
    const internals = client as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
    clearTimeout(internals.socketTimeoutTimer);
    internals.socketTimeoutTimer = undefined;
  });
  return client;
}
