import type { Database } from './database.js';
import { isAway } from './pg-errors.js';
import { LeftGroup, type Tx } from './tx.js';

/** Groups of one kind at a time: while one waits for its COMMIT the next one is made. */
const UNDER_WAY = 2;
/** Who repeats what fails costs its neighbours a group, and then none for so long. */
const APART_MS = 5_000;
/** What takes longer waits for somebody else's row, mostly by itself: the next group does not wait for it. */
const SLOT_MS = 1_000;

export interface Membership {
  /** Who asks, mostly an account: owners take turns, and one whose work fails goes alone for a while. */
  readonly owner: string;
  /** What it is about: two about the same are never in one group. */
  readonly conflictKey: string;
}

/**
 * What is done, perhaps again. A work that finds out only in the transaction whose it is says so by `setOwner`, before it has
 * written anything.
 */
export type GroupWork<T> = (tx: Tx, setOwner: (owner: string) => void) => Promise<T>;

interface Member<T = unknown> extends Membership {
  owner: string;
  readonly work: GroupWork<T>;
  resolve(result: T): void;
  reject(error: unknown): void;
}

/**
 * Writes together what is asked for in one turn of the event loop, or while others are on their way: one transaction, in
 * which statements of one kind are one statement. Nobody waits when nothing is on its way. When a group fails, each of
 * its members is done alone, so none fails for another one; whoever then fails alone is kept out of groups for a while.
 */
export class Group {
  /** Each owner's members that wait, in the order in which owners have their turns. */
  readonly #waiting = new Map<string, Member[]>();
  /** Owners whose work has failed a group, and until when they go alone. */
  readonly #apart = new Map<string, number>();
  #underWay = 0;
  #isDue = false;

  /** @param most members of one group; 1: each goes alone */
  constructor(
    private readonly database: Pick<Database, 'transaction' | 'shared'>,
    private readonly most: number,
  ) {}

  run<T>(membership: Membership, work: GroupWork<T>): Promise<T> {
    if (this.most === 1 || this.#isApart(membership.owner)) {
      return this.database.transaction((tx) => work(tx, () => undefined));
    }
    return new Promise<T>((resolve, reject) => {
      const member: Member<T> = { ...membership, work, resolve, reject };
      const others = this.#waiting.get(membership.owner);
      if (others) others.push(member);
      else this.#waiting.set(membership.owner, [member]);
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#isDue || this.#underWay === UNDER_WAY || this.#waiting.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      const members = this.#take();
      this.#underWay += 1;
      let isOver = false;
      const giveBack = (): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(late);
        this.#underWay -= 1;
        this.#begin();
      };
      const late = setTimeout(giveBack, SLOT_MS).unref();
      void this.#do(members).finally(giveBack);
      this.#begin();
    });
  }

  /** One of each owner and so on, until the group is full. */
  #take(): Member[] {
    const members: Member[] = [];
    const keys = new Set<string>();
    for (let before = -1; before < members.length && members.length < this.most;) {
      before = members.length;
      for (const [owner, queue] of [...this.#waiting]) {
        if (members.length === this.most) break;
        const index = queue.findIndex((member) => !keys.has(member.conflictKey));
        const [member] = index < 0 ? [] : queue.splice(index, 1);
        if (!member) continue;
        members.push(member);
        keys.add(member.conflictKey);
        this.#waiting.delete(owner);
        if (queue.length > 0) this.#waiting.set(owner, queue); // behind the others
      }
    }
    return members;
  }

  /** Never rejects. */
  async #do(members: readonly Member[]): Promise<void> {
    const [only, ...others] = members;
    if (only && others.length === 0) return this.#alone(only);
    try {
      const results = await this.database.shared(members.map((member) => (tx) => this.#work(member, tx)));
      const leftOut = members.filter((member, index) => {
        const result = results[index];
        if (result instanceof LeftGroup) return true;
        member.resolve(result);
        return false;
      });
      await Promise.all(leftOut.map((member) => this.#alone(member)));
    } catch (error) {
      // Alone they would wait for the same.
      if (isAway(error)) for (const member of members) member.reject(error);
      else await Promise.all(members.map((member) => this.#alone(member, true)));
    }
  }

  /** @param isAgain its group has failed, and perhaps because of it */
  async #alone(member: Member, isAgain = false): Promise<void> {
    try {
      member.resolve(await this.database.transaction((tx) => this.#work(member, tx)));
    } catch (error) {
      if (isAgain && !isAway(error)) this.#keepApart(member.owner);
      member.reject(error);
    }
  }

  async #work(member: Member, tx: Tx): Promise<unknown> {
    return member.work(tx, (owner) => {
      member.owner = owner;
      if (this.#isApart(owner)) tx.leaveGroup();
    });
  }

  #keepApart(owner: string): void {
    const now = performance.now();
    for (const [other, until] of this.#apart) if (until <= now) this.#apart.delete(other);
    this.#apart.set(owner, now + APART_MS);
  }

  #isApart(owner: string): boolean {
    const until = this.#apart.get(owner);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#apart.delete(owner);
    return false;
  }
}
