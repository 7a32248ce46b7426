import { isAway } from './pg-errors.js';
import { LeaveGroup, leaveGroup } from './shared-tx.js';
import type { Tx } from './tx.js';

/** Groups of one kind at a time: while the first waits for its COMMIT the next one is filled. */
const UNDER_WAY = 2;
/** After its work failed a group, an owner runs alone for this long. */
const APART_MS = 5_000;
/** Time after which a group gives its place to the next one: it mostly waits for a row locked by others. */
const SLOT_MS = 1_000;

export interface Membership {
  /** Owner of the work, mostly an account. Owners take turns, and an owner whose work fails runs alone for a while. */
  readonly owner: string;
  /** Subject of the work: two works with the same key are never in one group. */
  readonly conflictKey: string;
}

/**
 * Work that may be run more than once. If the owner is known only inside the transaction, call `setOwner` before
 * writing.
 */
export type GroupWork<T> = (tx: Tx, setOwner: (owner: string) => void) => Promise<T>;

interface Member<T = unknown> extends Membership {
  owner: string;
  readonly work: GroupWork<T>;
  resolve(result: T): void;
  reject(error: unknown): void;
}

/** The transactions of `Database`: a separate one, or one for several works. */
interface Transactions {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  shared(works: readonly ((tx: Tx) => Promise<unknown>)[]): Promise<unknown[]>;
}

/**
 * Runs works of one turn of the event loop together, and those that arrive while other groups run. A group is one
 * transaction, in which statements of one kind become one statement. If no group runs, a work starts at once. When a
 * group fails, each member is repeated alone, so none fails because of another. If a member then fails alone too, its
 * owner is kept out of groups for a while.
 */
export class Group {
  /** Waiting members of each owner, in the order of the owners' turns. */
  readonly #waiting = new Map<string, Member[]>();
  /** Owners whose work made a group fail, with the time until which they run alone. */
  readonly #apart = new Map<string, number>();
  #underWay = 0;
  #isDue = false;

  /** @param most members of one group; 1: each runs alone */
  constructor(
    private readonly database: Transactions,
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

  /** Takes one member of each owner in turn, until the group is full. */
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
        if (result instanceof LeaveGroup) return true;
        member.resolve(result);
        return false;
      });
      await Promise.all(leftOut.map((member) => this.#alone(member)));
    } catch (error) {
      // If the database is away, running them alone would fail too.
      if (isAway(error)) for (const member of members) member.reject(error);
      else await Promise.all(members.map((member) => this.#alone(member, true)));
    }
  }

  /** @param isAgain its group has failed, perhaps because of this member */
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
      if (this.#isApart(owner)) leaveGroup(tx);
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
