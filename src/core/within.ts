export const LATE: unique symbol = Symbol('late');

/**
 * The promise's value, or `LATE` after `ms` milliseconds. The promise itself runs on; should it fail later, that
 * failure is handled here and does not surface as an unhandled rejection.
 */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    // After a stall of this process the time-out fires although the answer already lies in a socket; one more turn of the
    // event loop lets it be read first, or every stall would count as an outage of who was asked.
    timer = setTimeout(() => setImmediate(resolve, LATE), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
