/** How much of a random or repeated trial is run: all of it with FULL=1, as CI does, less where a person waits. */
export function scaled<T>(full: T, quick: T): T {
  return process.env['FULL'] === '1' ? full : quick;
}
