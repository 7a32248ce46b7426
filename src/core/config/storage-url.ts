import * as z from 'zod';

/** Where files are kept. */
export type StorageConfig =
  | { readonly kind: 'disk'; readonly directory: string }
  | {
      readonly kind: 's3';
      /** Undefined: Amazon's own for the region. */
      readonly endpoint: string | undefined;
      /** Base of signed URLs, where others reach the store by another address; else `endpoint`. */
      readonly publicUrl: string | undefined;
      readonly region: string;
      readonly bucket: string;
      /** Beginning of every key; empty, or with a slash at its end. */
      readonly prefix: string;
      readonly pathStyle: boolean;
      /** Undefined: the usual places of AWS's SDK (environment, profile, role of the machine). */
      readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
    };

const FORM = 's3://[key:secret@][host[:port]]/bucket[/prefix][?region=…]';

/** Names by Amazon's documentation; other stores accept no more. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^[\w.-]+(?:\/[\w.-]+)*$/;

/** Decodes percent-encoding; null when the text is malformed. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

const options = z.strictObject({
  region: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be a region, for example sa-east-1')
    .optional(),
  tls: flag.optional(),
  path_style: flag.optional(),
  public_url: z
    .string()
    .regex(/^https?:\/\/[^/?#]+$/, 'must be an origin, for example https://files.example.com')
    .optional(),
});

/**
 * Parses `s3://key:secret@host:port/bucket/prefix?region=…&tls=…&path_style=…&public_url=…`. Without a host it is
 * Amazon S3 and needs a region. With a host, buckets are part of the path unless `path_style=false`. Key and secret are
 * percent-encoded; without them AWS's usual places are asked.
 */
export const storageUrl = z.string().transform((value, context): StorageConfig => {
  const problem = (message: string): typeof z.NEVER => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const url = URL.canParse(value) ? new URL(value) : null;
  // The message does not quote the value, which may contain a secret.
  if (url?.protocol !== 's3:') return problem(`must look like ${FORM}; in a secret, / is %2F and + is %2B`);
  const [bucket = '', ...prefix] = url.pathname.split('/').slice(1);
  if (!BUCKET.test(bucket)) return problem(`must name a bucket: ${FORM}`);
  if (prefix.length > 0 && !PREFIX.test(prefix.join('/'))) return problem('has a prefix that is not a plain path');
  const [accessKeyId, secretAccessKey] = [decoded(url.username), decoded(url.password)];
  if (accessKeyId === null || secretAccessKey === null) return problem('has a % in its key or secret: write it as %25');
  if ((accessKeyId === '') !== (secretAccessKey === '')) return problem('needs both a key and a secret, or neither');
  const parsed = options.safeParse(Object.fromEntries(url.searchParams));
  if (!parsed.success) {
    return problem(parsed.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; '));
  }
  const { region, tls, path_style, public_url } = parsed.data;
  const isAmazon = url.host === '';
  if (isAmazon && region === undefined) return problem('needs a host, or ?region=… for Amazon S3');
  if (isAmazon && tls !== undefined) return problem('has tls without a host');
  return {
    kind: 's3',
    endpoint: isAmazon ? undefined : `${tls === false ? 'http' : 'https'}://${url.host}`,
    publicUrl: public_url,
    // Stores without regions expect this value.
    region: region ?? 'us-east-1',
    bucket,
    prefix: prefix.length === 0 ? '' : `${prefix.join('/')}/`,
    pathStyle: path_style ?? !isAmazon,
    credentials: accessKeyId === '' ? undefined : { accessKeyId, secretAccessKey },
  };
});
