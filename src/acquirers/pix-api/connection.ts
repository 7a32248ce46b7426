/** A client certificate with its key, as the PSP has handed it out. */
export type ClientCertificate =
  | { readonly kind: 'pfx'; /** Base64. */ readonly pfx: string; readonly passphrase: string | null }
  | { readonly kind: 'pem'; readonly cert: string; readonly key: string; readonly passphrase: string | null };

/** What one account needs to talk to its PSP. Only `SecretBox` sees it on its way to the database; never logged. */
export interface PixApiCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Null only where the profile asks for none. */
  readonly certificate: ClientCertificate | null;
  /** PEM of who vouches for the PSP's server, where public authorities do not. */
  readonly ca: string | null;
  /** Values of the profile's own variables, as an application key in a header or query. */
  readonly variables: Readonly<Record<string, string>>;
}

/** One account's live Pix at one PSP. Its acquirer is named `pix-api:<id>`, for ever. */
export interface PixApiConnection {
  readonly id: string;
  readonly accountId: string;
  /** Name of the PSP profile. */
  readonly profile: string;
  /** The Pix key that is charged to. (profile, Pix key) names a connection: configuring it again renews its credentials. */
  readonly pixKey: string;
  /** Instead of the profile's, as for a PSP's homologation; null: the profile's. No slash at the end. */
  readonly baseUrl: string | null;
  readonly tokenUrl: string | null;
  readonly credentials: PixApiCredentials;
  /** Changes with whatever changes of it: clients made from an older one are thrown away. */
  readonly version: number;
}
