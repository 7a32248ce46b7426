/** Returns `full` with FULL=1, as in CI, and `quick` where a person waits. */
export function scaled<T>(full: T, quick: T): T {
  return process.env['FULL'] === '1' ? full : quick;
}

/** Returns the count of a long trial: `full` by `npm run trials`, else `small`, which still reaches every branch. */
export function trial<T>(full: T, small: T): T {
  return process.env['TRIALS'] === '1' ? full : small;
}
