/** Ends servers and connections that must not outlive the program, at its end or when a person interrupts it. */
export class Cleanup {
  readonly #tasks: (() => Promise<void>)[] = [];

  /** @param task may run after its resource was closed already */
  add(task: () => Promise<void>): void {
    this.#tasks.push(task);
  }

  /** Runs the tasks, newest first. Each task runs once, even if this is called again meanwhile. */
  async run(): Promise<void> {
    for (let task = this.#tasks.pop(); task; task = this.#tasks.pop()) await task();
  }
}
