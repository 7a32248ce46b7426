export interface Token {
  readonly value: string;
  /** The scope that the PSP reports as granted; null: not reported. */
  readonly scope: string | null;
  readonly expiresAt: number;
}

interface Entry {
  readonly token: Token;
  /** When a new token is fetched, while the old one still serves. */
  refreshAt: number;
  readonly servesUntil: number;
}

/** Part of its life for which a token is fresh. */
const FRESH = 0.8;
/**
 * Safety margin: a token with less time left could expire during the request. A short-lived token serves for half its
 * life.
 */
const MARGIN_MS = 10_000;
/** Pause after a failed refresh while the old token still serves. */
const PAUSE_MS = 5_000;

/**
 * Access tokens by account, PSP, client, certificate and scope. Each is fetched by one caller at a time, before the old
 * token expires; meanwhile the old one serves.
 */
export class TokenCache {
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Token>>();

  /** @param now milliseconds */
  constructor(private readonly now: () => number = Date.now) {}

  /**
   * @param rejected a token that the PSP has just refused: any other stored token is returned, else a new one is
   * fetched
   * @throws what `fetch` throws
   */
  async get(key: string, fetch: () => Promise<Token>, rejected: string | null = null): Promise<Token> {
    const now = this.now();
    const entry = this.#entries.get(key);
    const serves = entry !== undefined && entry.token.value !== rejected && entry.servesUntil > now;
    if (!serves) return this.#refresh(key, fetch);
    if (now >= entry.refreshAt) {
      this.#refresh(key, fetch).catch(() => {
        entry.refreshAt = this.now() + PAUSE_MS;
      });
    }
    return entry.token;
  }

  #refresh(key: string, fetch: () => Promise<Token>): Promise<Token> {
    const underWay = this.#pending.get(key);
    if (underWay) return underWay;
    const fetched = this.now();
    const pending = fetch()
      .then((token) => {
        this.#forgetExpired();
        const life = token.expiresAt - fetched;
        const servesUntil = token.expiresAt - Math.min(MARGIN_MS, life / 2);
        this.#entries.set(key, { token, refreshAt: fetched + life * FRESH, servesUntil });
        return token;
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, pending);
    return pending;
  }

  #forgetExpired(): void {
    const now = this.now();
    for (const [key, { token }] of this.#entries) if (token.expiresAt <= now) this.#entries.delete(key);
  }
}
