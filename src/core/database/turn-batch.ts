interface Asked<V> {
  readonly key: string;
  readonly resolve: (value: V | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up together what is asked for in one turn of the event loop: under load one query answers many requests, and
 * alone a request waits for the end of its turn. Nothing is remembered: every answer was read after it was asked for.
 */
export class TurnBatch<V> {
  #asked: Asked<V>[] = [];

  /** @param load gives what there is of these keys, which may repeat; its failure fails all who wait for it */
  constructor(private readonly load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {}

  /** @returns null when there is none */
  find(key: string): Promise<V | null> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => void this.#loadAsked());
      this.#asked.push({ key, resolve, reject });
    });
  }

  async #loadAsked(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    try {
      const found = await this.load(asked.map(({ key }) => key));
      for (const { key, resolve } of asked) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
