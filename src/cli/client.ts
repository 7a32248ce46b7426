import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { runningServiceUrl } from '../core/service-address.js';
import type { DemoFile } from '../demo/index.js';
import { UsageError } from './command.js';
import type { Shell } from './shell.js';

export interface ConnectionOptions {
  readonly url?: string;
  readonly apiKeyFile?: string;
}

/** The service did not do what the command asked for. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** @param status of the answer; null when none came */
  constructor(
    message: string,
    readonly status: number | null = null,
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }
}

interface Request {
  readonly body?: object;
  readonly idempotencyKey?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

const LIMIT_MS = 30_000;
const RATE_LIMITED = 429;
const MAX_RATE_LIMITED = 5;

/** Adds the options that say which service, and with which key. */
export function withConnection(command: Command): Command {
  return command
    .option('--url <url>', 'the service; default: RECEBE_URL, else the one that runs on ./.data')
    .option('--api-key-file <file>', 'a file with the key; default: RECEBE_API_KEY, else that of the demo account');
}

/** A caller of the API with a merchant's key, who has nothing of the server. */
export class Client {
  private constructor(
    readonly url: string,
    readonly key: string,
  ) {}

  /** @throws UsageError when the address or the key is missing */
  static of({ url, apiKeyFile }: ConnectionOptions, { env }: Shell): Client {
    const key = apiKeyFile === undefined ? env['RECEBE_API_KEY'] : readKey(apiKeyFile);
    const address = url ?? env['RECEBE_URL'];
    const demo = address && key ? null : readDemo(env['DATA_DIR'] || './.data');
    const found = { url: address || demo?.url, key: key || (address ? undefined : demo?.key) };
    if (!found.url) throw new UsageError('Name the service with --url or RECEBE_URL, as http://localhost:3000.');
    if (!found.key) throw new UsageError('Give the key with --api-key-file or RECEBE_API_KEY.');
    if (!/^https?:\/\//i.test(found.url) || !URL.canParse(found.url)) {
      throw new UsageError(`"${found.url}" is not the address of a service, as http://localhost:3000.`);
    }
    if (!/^ak_(?:test|live)_[\w-]+$/.test(found.key)) {
      throw new UsageError('The key must be of the form ak_test_… or ak_live_….');
    }
    return new Client(found.url.replace(/\/+$/, ''), found.key);
  }

  get isTest(): boolean {
    return this.key.startsWith('ak_test_');
  }

  /** Calls the API, and waits as it says when it limits the rate. @throws ClientError */
  async call<T>(method: string, path: string, request: Request = {}): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.open(method, path, { signal: AbortSignal.timeout(LIMIT_MS), ...request });
        return (await response.json().catch(() => {
          throw new ClientError(`${this.url} is not a Recebe service: ${method} ${path} was not answered with JSON.`);
        })) as T;
      } catch (error) {
        const isLimited = error instanceof ClientError && error.status === RATE_LIMITED && attempt < MAX_RATE_LIMITED;
        if (!isLimited) throw error;
        await delay(error.retryAfterMs ?? 1_000);
      }
    }
  }

  /** @returns an answer that is a 2xx, unread @throws ClientError */
  async open(method: string, path: string, { body, idempotencyKey, headers, signal }: Request): Promise<Response> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        apikey: this.key,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      throw new ClientError(
        `No service answers at ${this.url} (${reasonOf(error)}). Is it running, and the URL right?`,
      );
    });
    if (response.ok) return response;
    const { status } = response;
    const answer = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    throw new ClientError(
      this.#refusal(status, answer.error, `${method} ${path.replace(/\?.*/, '')}`),
      status,
      Number.isFinite(seconds) ? seconds * 1000 : null,
    );
  }

  #refusal(status: number, error: { code?: string; message?: string } | undefined, request: string): string {
    if (error?.code === undefined) return `${this.url} is not a Recebe service: ${request} was answered ${status}.`;
    if (status === 401) return `The service at ${this.url} refuses the key: ${error.message ?? error.code}`;
    return `${request} was answered ${status} ${error.code}: ${error.message ?? ''}`;
  }
}

/** Short reason of a failed request, as ECONNREFUSED. */
export function reasonOf(error: unknown): string {
  const { cause, code, name, message } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? code ?? message);
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--api-key-file: ${path} cannot be read (${String((error as NodeJS.ErrnoException).code)})`);
  }
}

/** The demo account of the service in this directory; null without one. */
function readDemo(dataDir: string): { url: string; key: string } | null {
  try {
    const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as DemoFile;
    return { url: runningServiceUrl(dataDir) ?? demo.base_url, key: demo.test_api_key };
  } catch {
    return null;
  }
}
