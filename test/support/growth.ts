/**
 * Returns how many times longer `run` takes for ten times the size. No absolute time is judged: each size counts with
 * the best of three runs, as other work on the machine slows some of them.
 */
export function growth(run: (size: number) => void, size: number): number {
  const best = (of: number): number =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const begun = performance.now();
        run(of);
        return performance.now() - begun;
      }),
    );
  return best(10 * size) / best(size);
}
