import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ACCESS_KEY = 'S3RVER'; // the only pair that s3rver knows
const SECRET_KEY = 'S3RVER';
const BUCKET = 'evidence';

/** Faults of the next requests: an error of the store, or an answer that never comes. */
export type S3Fault = 'error' | 'silence';

/** A real S3-compatible server of its own for one spec file. */
export interface TestS3 {
  /** For STORAGE_URL. */
  readonly url: string;
  /** `METHOD path` of each request that was let in, without its query. */
  readonly requests: string[];
  fault: S3Fault | null;
  /** Nobody listens any more; resolves when the port is closed. */
  down(): Promise<void>;
  /** Listens again, on the same port, with everything that was stored. */
  up(): Promise<void>;
  /** Keys of the bucket. */
  keys(): Promise<string[]>;
  stop(): Promise<void>;
}

/**
 * s3rver, which stores and answers as S3 does but accepts every signature of version 4, behind a check of signatures.
 * The check follows Amazon's description and not the SDK's code: signed headers as they came, expiry, region,
 * service.
 */
export async function startS3(): Promise<TestS3> {
  const directory = mkdtempSync(join(tmpdir(), 'recebe-s3-'));
  const { child, port: inner } = await startS3rver(directory);
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.on('exit', killOnExit);

  const requests: string[] = [];
  const state: { fault: S3Fault | null } = { fault: null };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (state.fault === 'silence') return;
    const refusal = state.fault === 'error' ? 'InternalError' : problemOf(request);
    if (refusal !== null) {
      request.resume();
      response.writeHead(refusal === 'InternalError' ? 500 : 403, { 'Content-Type': 'application/xml' });
      response.end(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${refusal}</Code></Error>`);
      return;
    }
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    passOn(request, response, inner);
  };
  let door: Server = createServer(answer).listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  const down = async (): Promise<void> => {
    if (!door.listening) return;
    door.close();
    door.closeAllConnections();
    await once(door, 'close');
  };
  return {
    url: `s3://${ACCESS_KEY}:${SECRET_KEY}@127.0.0.1:${port}/${BUCKET}/med?tls=false`,
    requests,
    get fault() {
      return state.fault;
    },
    set fault(fault) {
      state.fault = fault;
    },
    down,
    up: async () => {
      if (door.listening) return;
      door = createServer(answer).listen(port, '127.0.0.1');
      await once(door, 'listening');
    },
    keys: async () => {
      const response = await fetch(`http://127.0.0.1:${inner}/${BUCKET}?list-type=2`);
      return [...(await response.text()).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key);
    },
    stop: async () => {
      await down();
      process.off('exit', killOnExit);
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startS3rver(directory: string): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(
    process.execPath,
    [
      resolve('node_modules/s3rver/bin/s3rver.js'),
      ...['--directory', directory, '--address', '127.0.0.1', '--port', '0'],
      ...['--no-vhost-buckets', '--configure-bucket', BUCKET],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] ?? '' } },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (output += String(text)));
  for (;;) {
    const port = /listening on [^\n]*:(\d+)/.exec(output)?.[1];
    if (port !== undefined) return { child, port: Number(port) };
    if (child.exitCode !== null) throw new Error(`s3rver ended: ${output}`);
    await once(child.stdout ?? child, 'data', { signal: AbortSignal.timeout(60_000) });
  }
}

/** Whole bodies only: of an upload whose sender hangs up a store keeps nothing, but s3rver would. */
function passOn(request: IncomingMessage, response: ServerResponse, port: number): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url: path, headers } = request;
    const inner = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    inner.on('error', () => response.destroy());
    inner.end(Buffer.concat(chunks));
  });
}

/** The fault in the signature of a request, by S3's code; null when the signature is good. */
function problemOf(request: IncomingMessage): string | null {
  const url = new URL(request.url ?? '/', 'http://store');
  const presigned = url.searchParams.get('X-Amz-Signature');
  const { authorization } = request.headers;
  if (presigned !== null && authorization !== undefined) return 'InvalidArgument';
  const given =
    presigned === null ? fromHeader(request) : { ...fromQuery(url), signature: presigned, payload: 'UNSIGNED-PAYLOAD' };
  if (given === null) return 'AccessDenied';
  const signedAt = Date.parse(given.date.replace(/^(....)(..)(..T..)(..)(..)Z$/, '$1-$2-$3:$4:$5Z'));
  // S3 accepts the signature of a header for 15 minutes.
  if (!(Date.now() < signedAt + (given.expires ?? 900) * 1000)) return 'AccessDenied';
  const [accessKey, day = '', region = '', service = '', end] = given.credential.split('/');
  if (accessKey !== ACCESS_KEY || service !== 's3' || end !== 'aws4_request') return 'InvalidAccessKeyId';
  const canonical = [
    request.method,
    url.pathname,
    [...url.searchParams]
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&'),
    ...given.signedHeaders.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}`),
    '',
    given.signedHeaders.join(';'),
    given.payload,
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', given.date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${SECRET_KEY}`);
  return hmac(key, text).toString('hex') === given.signature ? null : 'SignatureDoesNotMatch';
}

interface Signed {
  readonly credential: string;
  readonly signedHeaders: string[];
  readonly date: string;
  /** Seconds; null in a header. */
  readonly expires: number | null;
}

function fromQuery(url: URL): Signed {
  const read = (name: string): string => url.searchParams.get(`X-Amz-${name}`) ?? '';
  return {
    credential: read('Credential'),
    signedHeaders: read('SignedHeaders').split(';'),
    date: read('Date'),
    expires: Number(read('Expires')),
  };
}

function fromHeader({ headers }: IncomingMessage): (Signed & { signature: string; payload: string }) | null {
  const match = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  );
  if (!match) return null;
  const [, credential = '', signedHeaders = '', signature = ''] = match;
  const [date, payload] = [String(headers['x-amz-date']), String(headers['x-amz-content-sha256'])];
  return { credential, signedHeaders: signedHeaders.split(';'), signature, date, payload, expires: null };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
