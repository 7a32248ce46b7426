import type { ErrorFormat } from './problem.js';

/** Operations of a PSP; each has its method and path in the standard. */
export type Operation =
  | 'cob.put'
  | 'cob.get'
  | 'cob.patch'
  | 'pix.get'
  | 'pix.list'
  | 'return.put'
  | 'return.get'
  | 'webhook.put'
  | 'webhook.get';

/** Operations of a payout desk, in which the standard has no part. `check`: a question before money is sent. */
export type DeskOperation = 'payout.send' | 'payout.check' | 'payout.get' | 'payout.list' | 'payout.balance';

/**
 * A detail in which PSPs differ. `source`: the public document that states it; null: not verified, from the standard or
 * from unconfirmed reports. Nothing here was tried against a bank.
 */
export interface Fact<T> {
  readonly value: T;
  readonly source: string | null;
}

/**
 * May contain `{client_id}`, `{uuid}` (a new one for each request) and `{<variable>}` of the connection's credentials.
 */
export type Template = string;

export interface TokenStyle {
  /**
   * - `basic`: client id and secret in the Authorization header.
   * - `body`: both in the body.
   * - `mtls`: the client id in the body; the certificate is the secret.
   */
  readonly authentication: 'basic' | 'body' | 'mtls';
  readonly contentType: 'form' | 'json';
  /** Where the request carries `grant_type`. */
  readonly grantType: 'body' | 'query';
  /** The requested scope; null: none is named, and the PSP grants the agreed one. */
  readonly scope: string | null;
  readonly headers: Readonly<Record<string, Template>>;
}

/** How to recognize a PSP's callback before the PSP is queried. We always check the secret in its URL too. */
export interface InboundAuthentication {
  /** Whether the PSP shows a client certificate. The proxy that ends TLS passes the result on in a header. */
  readonly mtls: boolean;
  /** Addresses that the PSP calls from; null: the PSP publishes none. */
  readonly addresses: readonly string[] | null;
}

/** A bank or PSP, as data. */
export interface PspProfile {
  readonly name: string;
  readonly title: string;
  /** Without a slash at the end; null: the connection names its own. */
  readonly baseUrl: { readonly production: Fact<string | null>; readonly homologation: Fact<string | null> };
  readonly tokenUrl: { readonly production: Fact<string | null>; readonly homologation: Fact<string | null> };
  readonly token: Fact<TokenStyle>;
  /** Path between base URL and resource; `only` for operations with another prefix. */
  readonly prefix: Fact<{ readonly all: string; readonly only: Readonly<Partial<Record<Operation, string>>> }>;
  readonly headers: Fact<Readonly<Record<string, Template>>>;
  readonly webhookHeaders: Fact<Readonly<Record<string, Template>>>;
  readonly query: Fact<Readonly<Record<string, Template>>>;
  readonly errors: Fact<ErrorFormat>;
  /**
   * The form of a callback's body, and the suffix that the PSP appends to the registered URL. Both forms are read
   * anyway.
   */
  readonly webhook: Fact<{ readonly body: 'object' | 'array'; readonly suffix: string }>;
  readonly inbound: Fact<InboundAuthentication>;
  /** Requests a second and how many at once; null: no limit is known, and a 429 shows it. */
  readonly rateLimit: Fact<{ readonly rate: number; readonly burst: number } | null>;
  /** The longest window of the statement, in hours; the standard sets no limit. */
  readonly longestWindow: Fact<number>;
  /** How many seconds after its settlement a Pix may be missing in the PSP's answers. */
  readonly settlementLag: Fact<number>;
  /** Whether a client certificate is needed. */
  readonly mtls: Fact<boolean>;
  /** How the path of its webhook writes a phone key: `+55…` unchanged, or escaped as `%2B55…`. */
  readonly phoneInPath: Fact<'plain' | 'escaped'>;
  /** The name of its payout desk (desks/index.ts); null: it cannot send money, or nobody has written its desk. */
  readonly payouts: Fact<string | null>;
  /** Values that the templates need, with their descriptions. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values that only some accounts need; a header or parameter without its value is left out. */
  readonly optionalVariables: Readonly<Record<string, string>>;
}

/** Default for PSPs without a stated lag: a Pix itself may take 40 s. */
export const DEFAULT_SETTLEMENT_LAG = 60;

export const SCOPES = 'cob.write cob.read pix.write pix.read webhook.write webhook.read';
