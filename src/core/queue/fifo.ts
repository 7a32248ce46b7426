const COMPACT_AT = 1024;

/** First in, first out, both in constant time: `Array.prototype.shift` moves every element of a long backlog. */
export class Fifo<T> {
  private items: T[] = [];
  private head = 0;

  get size(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    const item = this.items[this.head];
    if (this.size === 0) return undefined;
    this.head += 1;
    // Taken slots are given back once they are half of the array, or a steady backlog would keep every job ever added.
    if (this.head >= COMPACT_AT && this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  clear(): void {
    this.items = [];
    this.head = 0;
  }
}
