export const LATE: unique symbol = Symbol('late');

/**
 * The promise's value, or `LATE` after `ms` milliseconds. The promise itself runs on; should it fail later, that
 * failure is handled here and does not surface as an unhandled rejection.
 */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, ms, LATE);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
