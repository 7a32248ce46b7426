import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import { ApiError, notFound, serviceUnavailable } from '../../core/errors/index.js';
import { isUuid, newId } from '../../core/ids.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { perMinute, refuse, RateLimiter, takeForAddress } from '../../core/rate-limit/index.js';
import { Turnstile } from '../../core/turnstile.js';
import { InboxService } from '../inbox.service.js';
import { callbackProof } from './callback-probe.js';
import { callbackSecretNumber } from './callback-url.js';
import { type Callback, readCallbackBody } from './callbacks.js';
import { CallbacksRepository } from './callbacks.repository.js';
import { acquirerNameOf } from './connection.js';
import { type CallbackCaller, ConnectionsService } from './connections.service.js';
import { type Caller, inboundProblem } from './inbound.rules.js';

/** A batch of a thousand Pix is about half of it. */
export const MAX_CALLBACK_BYTES = 1024 * 1024;

/** Of one connection. What is more is refused, and found in the acquirer's list. */
const BYTES_PER_DAY = 256 * 1024 * 1024;
const BYTES_PER_TOKEN = 4 * 1024;
/** Of a body that hints at nothing so much is kept: enough to see what it is. */
const KEPT_BYTES_OF_NOTHING = 4 * 1024;
/** More than a batch of a thousand Pix has: reading it would take the processor from everybody. */
const MAX_DEPTH = 20;
const MAX_VALUES = 50_000;
/** Bodies that are in memory at a time before their end has come, of one connection and of all. */
const READ_OF_ONE = 8;
const READ_OF_ALL = 64;
const MOST_WAITING = 1_000;

/** A request to a callback's address. */
export interface PostedCallback {
  /** As they stand in the address: anything at all. */
  readonly connection: string;
  readonly secret: string;
  /** Asked for once the caller is let in: a stranger's body is not waited for. Null when it is too large to be read. */
  readonly readBody: () => Promise<Buffer | null>;
  readonly caller: Caller;
}

/**
 * What PSPs post to us. The body, sealed, and what it hints at are stored in one commit before it is answered; the inbox
 * asks the PSP about each hint, and nothing of what the body says is believed. Who does not know the secret of the
 * address hears that there is no such address, and costs no look into the database.
 */
@Injectable()
export class CallbacksService {
  readonly #reading = new Turnstile(READ_OF_ALL, MOST_WAITING, READ_OF_ONE);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly callbacks: CallbacksRepository,
    private readonly connections: ConnectionsService,
    private readonly inbox: InboxService,
    private readonly limiter: RateLimiter,
    private readonly secrets: SecretBox,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Stores a callback with what it hints at. One without a body only asks whether we are there.
   * @throws ApiError 404 for a caller that is not the PSP, 413, 429
   */
  async receive({ connection, secret, readBody, caller }: PostedCallback): Promise<void> {
    const acquirer = acquirerNameOf(connection);
    const expected = await this.#callerOf({ connection, secret });
    if (!expected) {
      await this.#limitGuesses(caller.address);
      // What stands in the place of the id may be anything, a secret among them.
      throw this.#refused('wrong_secret', isUuid(connection) ? { connection } : {});
    }
    const problem = inboundProblem(expected.inbound, caller);
    if (problem !== null) throw this.#refused('not_allowed', { acquirer, problem, address: caller.address });
    await this.#limit(acquirer);
    const refusal = (): ApiError => serviceUnavailable('Too many callbacks are being read; retry later.');
    const body = await this.#reading.pass(readBody, refusal, acquirer);
    if (body === null) {
      this.#count('too_large');
      this.logger.warn({ acquirer }, 'a callback is too large');
      throw new ApiError(413, 'invalid_request_error', 'payload_too_large', 'The body is too large.');
    }
    if (body.length === 0) return this.#count('empty');
    await this.#limitBytes(acquirer, body.length);
    await this.#store(acquirer, body);
  }

  /** @returns null without the right secret in the address, and without a nonce */
  async prove(address: Pick<PostedCallback, 'connection' | 'secret'>, nonce: unknown): Promise<string | null> {
    const proof = callbackProof(this.secrets, address.connection, nonce);
    return proof !== null && (await this.#callerOf(address)) ? proof : null;
  }

  /** @returns who has to be calling; null where the secret does not open the address */
  async #callerOf({
    connection,
    secret,
  }: Pick<PostedCallback, 'connection' | 'secret'>): Promise<CallbackCaller | null> {
    const number = isUuid(connection) ? callbackSecretNumber(this.secrets, connection, secret) : null;
    const caller = number === null ? null : await this.connections.callerOf(connection);
    return caller && number !== null && number >= caller.oldestSecret && number <= caller.newestSecret ? caller : null;
  }

  async #store(acquirer: string, body: Buffer): Promise<void> {
    const now = this.clock.now();
    const id = newId(now);
    const callback = this.#read(acquirer, body);
    const kept = callback && callback.hints.length > 0 ? body : body.subarray(0, KEPT_BYTES_OF_NOTHING);
    const row = {
      id,
      acquirer,
      sha256: createHash('sha256').update(body).digest(),
      // Byte by byte, whatever it is.
      bodySealed: this.secrets.seal(kept.toString('latin1'), `callback:${id}`),
      status: callback ? 'read' : 'unreadable',
      hints: callback?.hints.length ?? 0,
      receivedAt: now,
    };
    const stored = await this.database.transaction(async (tx) => {
      const isNew = await this.callbacks.insert(tx, row);
      return isNew ? this.inbox.storeAll(tx, acquirer, callback?.hints ?? [], { isHearsay: true }) : null;
    });
    // What a body says that was there before is known.
    if (stored === null) return this.#count('repeated');
    this.#count('stored');
    const skipped = callback?.skipped ?? 0;
    this.#count(skipped > 0 ? 'partly_read' : row.status);
    if (!callback) this.logger.warn({ acquirer, callbackId: id }, 'a callback cannot be read');
    if (skipped > 0) this.logger.warn({ acquirer, callbackId: id, skipped }, 'a callback has entries that say nothing');
    // The PSP does not wait for the queue, and the inbox brings what it does not take.
    if (stored.length > 0) void this.inbox.enqueue(stored).catch(() => undefined);
  }

  /** @returns null for what is not JSON: nothing of it is quoted, it may be a payer's */
  #read(acquirer: string, body: Buffer): Callback | null {
    if (!isReadable(body)) return null;
    let json: unknown;
    try {
      json = JSON.parse(body.toString('utf8'));
    } catch {
      return null;
    }
    try {
      return readCallbackBody(json);
    } catch (error) {
      // A defect here: the body is kept, and what it hints at is found in the acquirer's list.
      this.logger.error({ acquirer, error }, 'reading a callback failed');
      return null;
    }
  }

  /**
   * Not by address: a PSP calls for all of its accounts from a few. What is refused here is found in the acquirer's
   * list.
   */
  async #limit(acquirer: string): Promise<void> {
    const { enabled, rate, burst } = this.config.rateLimit;
    if (!enabled) return;
    const taken = await this.limiter.take(`callbacks:${acquirer}`, { rate, burst });
    if (taken.allowed) return;
    this.#count('limited');
    await refuse(taken);
  }

  async #limitBytes(acquirer: string, bytes: number): Promise<void> {
    const { enabled, rate, burst } = this.config.rateLimit;
    if (!enabled) return;
    this.limiter.debit(`callbacks:${acquirer}`, { rate, burst }, bytes / BYTES_PER_TOKEN);
    const day = { rate: BYTES_PER_DAY / 86_400, burst: BYTES_PER_DAY };
    const taken = await this.limiter.take(`callback-bytes:${acquirer}`, day, bytes);
    if (taken.allowed) return;
    this.#count('limited');
    await refuse(taken);
  }

  /** Limits the callers without the right secret, which a PSP has. */
  async #limitGuesses(address: string): Promise<void> {
    const { enabled, authFailuresPerMinute } = this.config.rateLimit;
    if (!enabled) return;
    const taken = await takeForAddress(this.limiter, 'callback-guesses', address, perMinute(authFailuresPerMinute));
    if (taken.allowed) return;
    this.#count('limited');
    await refuse(taken);
  }

  #refused(outcome: 'wrong_secret' | 'not_allowed', fields: object): ApiError {
    this.#count(outcome);
    this.logger.warn({ ...fields, outcome }, 'a callback was refused');
    return notFound('route');
  }

  #count(outcome: string): void {
    this.metrics.callbacks.inc({ outcome });
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** Whether JSON has no more values and levels than a PSP has reason to send; its texts are not looked into. */
export function isReadable(body: Buffer): boolean {
  let [depth, values, isText] = [0, 0, false];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (depth > MAX_DEPTH || values > MAX_VALUES) return false;
  }
  return true;
}
