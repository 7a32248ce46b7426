import type { PixApiConnection } from './connection.js';

/** How long a client is used before its connection is read again. */
const FRESH_MS = 10_000;
/** Grace time of a replaced client: a call that waits for its next attempt ends on the old one. */
const RETIRED_MS = 60_000;

interface Client {
  close(): Promise<void>;
}

interface Entry<C> {
  readonly version: number;
  readonly client: C;
  freshUntil: number;
}

/**
 * Keeps a client for each connection, made on first use and again when its connection has changed. A replaced
 * certificate is in use within seconds, in every process.
 */
export class ConnectionClients<C extends Client> {
  readonly #entries = new Map<string, Entry<C>>();
  readonly #pending = new Map<string, Promise<C>>();
  readonly #retired = new Set<C>();

  /**
   * @param load null: there is no such connection
   * @param loadLocked as `load`, but waits until a change of the connection is committed
   * @param now milliseconds
   */
  constructor(
    private readonly load: (id: string) => Promise<PixApiConnection | null>,
    private readonly loadLocked: (id: string) => Promise<PixApiConnection | null>,
    private readonly make: (connection: PixApiConnection) => C,
    private readonly now: () => number,
  ) {}

  /** @throws Error when there is no such connection, or no client can be made of it */
  async of(id: string): Promise<C> {
    const entry = this.#entries.get(id);
    if (entry && this.now() < entry.freshUntil) return entry.client;
    const underWay = this.#pending.get(id);
    if (underWay) return underWay;
    const pending = this.#renew(id, this.load).finally(() => this.#pending.delete(id));
    this.#pending.set(id, pending);
    return pending;
  }

  /**
   * A client for sending money, made from the connection as it is now. A client of replaced credentials would send from
   * another account of the PSP, where a later look-up does not find the payout.
   * @throws Error as `of`
   */
  current(id: string): Promise<C> {
    return this.#renew(id, this.loadLocked);
  }

  async close(): Promise<void> {
    const clients = [...this.#retired, ...[...this.#entries.values()].map(({ client }) => client)];
    await Promise.all(clients.map((client) => client.close()));
  }

  async #renew(id: string, load: typeof this.load): Promise<C> {
    const freshUntil = this.now() + FRESH_MS;
    const connection = await load(id);
    if (!connection) throw new Error(`There is no acquirer connection ${id}`);
    const entry = this.#entries.get(id);
    // A newer version: another caller has read the connection since.
    if (entry && entry.version >= connection.version) {
      entry.freshUntil = freshUntil;
      return entry.client;
    }
    const client = this.make(connection);
    this.#entries.set(id, { version: connection.version, client, freshUntil });
    if (entry) this.#retire(entry.client);
    return client;
  }

  #retire(client: C): void {
    this.#retired.add(client);
    const end = (): void => {
      this.#retired.delete(client);
      client.close().catch(() => undefined);
    };
    setTimeout(end, RETIRED_MS).unref();
  }
}
