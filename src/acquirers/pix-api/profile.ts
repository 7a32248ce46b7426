import type { ErrorFormat } from './problem.js';

/** What is asked of a PSP; each has its method and path in the standard. */
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

/**
 * Something that a PSP does in its own way. `source`: where that is stated in public; null: not verified, from the
 * standard or from hearsay. Nothing here was tried against a bank.
 */
export interface Fact<T> {
  readonly value: T;
  readonly source: string | null;
}

/** May hold `{client_id}`, `{uuid}` (a new one for each request) and `{<variable>}` of the connection's credentials. */
export type Template = string;

export interface TokenStyle {
  /**
   * - `basic`: client id and secret in the Authorization header.
   * - `body`: both in the body.
   * - `mtls`: the client id in the body; the certificate is the secret.
   */
  readonly authentication: 'basic' | 'body' | 'mtls';
  readonly contentType: 'form' | 'json';
  /** Where `grant_type` stands. */
  readonly grantType: 'body' | 'query';
  /** Asked for; null: none is named, the PSP gives what was agreed. */
  readonly scope: string | null;
  readonly headers: Readonly<Record<string, Template>>;
}

/** How a callback is known to be the PSP's, before the PSP is asked. The secret in its URL is always ours to check. */
export interface InboundAuthentication {
  /** It shows a client certificate to the proxy that ends TLS, which passes the result on in a header. */
  readonly mtls: boolean;
  /** Addresses it calls from; null: it does not say. */
  readonly addresses: readonly string[] | null;
}

/** One bank or PSP, as data. */
export interface PspProfile {
  readonly name: string;
  readonly title: string;
  /** Without a slash at the end; null: the connection names its own. */
  readonly baseUrl: { readonly production: Fact<string | null>; readonly homologation: Fact<string | null> };
  readonly tokenUrl: { readonly production: Fact<string | null>; readonly homologation: Fact<string | null> };
  readonly token: Fact<TokenStyle>;
  /** Between base URL and resource; `only` for an operation that lives elsewhere. */
  readonly prefix: Fact<{ readonly all: string; readonly only: Readonly<Partial<Record<Operation, string>>> }>;
  readonly headers: Fact<Readonly<Record<string, Template>>>;
  readonly webhookHeaders: Fact<Readonly<Record<string, Template>>>;
  readonly query: Fact<Readonly<Record<string, Template>>>;
  readonly errors: Fact<ErrorFormat>;
  /** The body of a callback, and what is put behind the URL that was registered. Both forms are read anyway. */
  readonly webhook: Fact<{ readonly body: 'object' | 'array'; readonly suffix: string }>;
  readonly inbound: Fact<InboundAuthentication>;
  /** Requests a second and how many at once; null: none is known, and a 429 tells. */
  readonly rateLimit: Fact<{ readonly rate: number; readonly burst: number } | null>;
  /** The longest window of the statement, in hours; the standard names none. */
  readonly longestWindow: Fact<number>;
  /** How many seconds after it was settled a Pix may still be missing in the PSP's answers. */
  readonly settlementLag: Fact<number>;
  /** Whether a client certificate is needed. */
  readonly mtls: Fact<boolean>;
  /** How a phone key is written in the path of its webhook: `+55…` as it is, or escaped as `%2B55…`. */
  readonly phoneInPath: Fact<'plain' | 'escaped'>;
  /** The values that the templates need, with what they are. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values that only some accounts need; a header or parameter without its value is left out. */
  readonly optionalVariables: Readonly<Record<string, string>>;
}

/** A Pix itself may take 40 s. */
export const DEFAULT_SETTLEMENT_LAG = 60;

export const SCOPES = 'cob.write cob.read pix.write pix.read webhook.write webhook.read';
