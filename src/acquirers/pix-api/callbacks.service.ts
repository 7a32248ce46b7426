import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../../core/config/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { ApiError, notFound, serviceUnavailable } from '../../core/errors/index.js';
import { isUuid } from '../../core/ids.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { perMinute, refuse, RateLimiter, takeForAddress } from '../../core/rate-limit/index.js';
import { Turnstile } from '../../core/turnstile.js';
import { callbackProof } from './callback-probe.js';
import { CallbackStore } from './callback-store.service.js';
import { callbackSecretNumber } from './callback-url.js';
import { acquirerNameOf } from './connection.js';
import { type CallbackCaller, ConnectionsService } from './connections.service.js';
import { type Caller, inboundProblem } from './inbound.rules.js';

/** About twice the size of a batch of a thousand Pix. */
export const MAX_CALLBACK_BYTES = 1024 * 1024;

/** Limit of bytes that one connection may send. More is refused; the acquirer's list shows those Pix. */
const BYTES_PER_DAY = 256 * 1024 * 1024;
const BYTES_PER_TOKEN = 4 * 1024;
/** Maximum number of bodies in memory while they are being received, of one connection and of all. */
const READ_OF_ONE = 8;
const READ_OF_ALL = 64;
/**
 * Maximum number of bodies that are being stored; the limit for one connection leaves database connections for others.
 */
const STORED_OF_ONE = 2;
const STORED_OF_ALL = 8;
const MAX_WAITING = 1_000;

/** A request to a callback's address. */
export interface PostedCallback {
  /** The parts of the address; they may be any text. */
  readonly connection: string;
  readonly secret: string;
  /**
   * Reads the body once the caller is accepted: a stranger's body is not waited for. Null when it is too large to read.
   */
  readonly readBody: () => Promise<Buffer | null>;
  readonly caller: Caller;
}

/**
 * Receives callbacks of PSPs. If a caller does not know the secret of the address, the answer is 404, without a
 * database query. Other callers may send as much as a PSP needs.
 */
@Injectable()
export class CallbacksService {
  readonly #reading = new Turnstile(READ_OF_ALL, MAX_WAITING, READ_OF_ONE);
  readonly #storing = new Turnstile(STORED_OF_ALL, MAX_WAITING, STORED_OF_ONE);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly connections: ConnectionsService,
    private readonly store: CallbackStore,
    private readonly limiter: RateLimiter,
    private readonly secrets: SecretBox,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /**
   * Stores a callback with its hints. If the body is empty, the PSP only tests the address.
   * @throws ApiError 404 for a caller that is not the PSP, 413, 429
   */
  async receive({ connection, secret, readBody, caller }: PostedCallback): Promise<void> {
    const acquirer = acquirerNameOf(connection);
    const expected = await this.#callerOf({ connection, secret });
    if (!expected) {
      await this.#limitGuesses(caller.address);
      // Anything may stand in place of the id, even a secret, so only a UUID is logged.
      throw this.#refused('wrong_secret', isUuid(connection) ? { connection } : {});
    }
    const problem = inboundProblem(expected.inbound, caller);
    if (problem !== null) throw this.#refused('not_allowed', { acquirer, problem, address: caller.address });
    await this.#limit(acquirer);
    const refusal = (): ApiError => serviceUnavailable('Too many callbacks are being read; retry later.');
    // A body keeps its place until it is stored, so that no more bodies than these are in memory.
    await this.#reading.pass(
      async () => {
        const body = await this.#read(acquirer, readBody);
        if (body) await this.#storing.pass(() => this.store.keep(acquirer, body, expected.desk), refusal, acquirer);
      },
      refusal,
      acquirer,
    );
  }

  /** @returns null for an empty body */
  async #read(acquirer: string, readBody: PostedCallback['readBody']): Promise<Buffer | null> {
    const body = await readBody();
    if (body === null) {
      this.#count('too_large');
      this.logger.warn({ acquirer }, 'a callback is too large');
      throw new ApiError(413, 'invalid_request_error', 'payload_too_large', 'The body is too large.');
    }
    if (body.length === 0) {
      this.#count('empty');
      return null;
    }
    await this.#limitBytes(acquirer, body.length);
    return body;
  }

  /** @returns null without the right secret in the address, and without a nonce */
  async prove(address: Pick<PostedCallback, 'connection' | 'secret'>, nonce: unknown): Promise<string | null> {
    const proof = callbackProof(this.secrets, address.connection, nonce);
    return proof !== null && (await this.#callerOf(address)) ? proof : null;
  }

  /** @returns the expected caller; null if the secret does not open the address */
  async #callerOf({
    connection,
    secret,
  }: Pick<PostedCallback, 'connection' | 'secret'>): Promise<CallbackCaller | null> {
    const number = isUuid(connection) ? callbackSecretNumber(this.secrets, connection, secret) : null;
    const caller = number === null ? null : await this.connections.callerOf(connection);
    return caller && number !== null && number >= caller.oldestSecret && number <= caller.newestSecret ? caller : null;
  }

  /**
   * Limits by acquirer and not by address: a PSP calls for all of its accounts from a few addresses. Refused callbacks
   * lose nothing: the acquirer's list shows their Pix.
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

  /** Limits callers without the right secret. A PSP always has it. */
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
