/**
 * Returns the power with which the time of `run` grows with the size: 1 if it is linear, 2 if it is quadratic. Judges no
 * absolute time: two sizes run in turn, one a hundred times the other. Each counts with the best of three runs, since
 * other work on the machine slows some of them.
 */
export function growth(run: (size: number) => void, largest: number): number {
  const timed = (size: number): number => {
    const begun = performance.now();
    run(size);
    return performance.now() - begun;
  };
  const [small, large]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    small.push(timed(largest / 100));
    large.push(timed(largest));
  }
  return Math.log(Math.min(...large) / Math.min(...small)) / Math.log(100);
}
