export const LATE: unique symbol = Symbol('late');

/**
 * Returns the promise's value, or `LATE` after `ms` milliseconds. The promise itself runs on; if it fails later, that
 * failure is handled here and does not become an unhandled rejection.
 */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    // After a stall of this process, the time-out fires although the answer already lies in a socket. A further turn of
    // the event loop lets it be read first; otherwise each stall would look like an outage of the other side.
    timer = setTimeout(() => setImmediate(resolve, LATE), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
