/** A small random generator. Equal seeds give equal numbers. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `end` - 1 */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  oneOf<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  isOne(of: number): boolean {
    return this.below(of) === 0;
  }

  weighted<T>(all: readonly (readonly [weight: number, what: T])[]): T {
    let at = this.below(all.reduce((total, [weight]) => total + weight, 0));
    for (const [weight, what] of all) {
      if (at < weight) return what;
      at -= weight;
    }
    throw new Error('There is nothing to choose from');
  }
}
