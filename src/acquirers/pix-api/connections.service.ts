import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/index.js';
import { Clock, DAY_MS } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { type Tx, uniqueViolation } from '../../core/database/index.js';
import { ApiError, conflict, invalidRequest, notFound, serviceUnavailable } from '../../core/errors/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { newId } from '../../core/ids.js';
import { acquirerNameOf, connectionIdOf, type PixApiConnection, type PixApiCredentials } from './connection.js';
import type { FeeSchedule } from './fees.js';
import {
  type CertificateFacts,
  ConnectionsRepository,
  type ConnectionSummary,
  type SealedConnection,
  type StoredConnection,
} from './connections.repository.js';
import type { Desk } from './desks/desk.js';
import { findDesk } from './desks/index.js';
import type { InboundAuthentication } from './profile.js';
import { findProfile } from './profiles.js';

/** A connection as it is configured. */
export interface ConnectionSettings extends Omit<PixApiConnection, 'id' | 'version' | 'fees'> {
  readonly certificate: CertificateFacts | null;
}

/** The expected caller of a connection's callbacks, and the numbers of the secrets that open its address now. */
export interface CallbackCaller {
  readonly inbound: InboundAuthentication;
  readonly oldestSecret: number;
  readonly newestSecret: number;
  /** Reads entries about payouts. */
  readonly desk?: Desk | null;
}

/** The connections that accounts have to their PSPs. */
@Injectable()
export class ConnectionsService {
  /** The names of the profiles of connections that this process has met. */
  readonly #profiles = new Map<string, string>();

  constructor(
    private readonly connections: ConnectionsRepository,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** Reads the connection with its secrets. @returns null when there is none */
  async find(id: string): Promise<PixApiConnection | null> {
    return this.#open(await this.connections.find(id));
  }

  /** Reads the connection as `find`, once a change of it that is under way has ended. */
  async lock(tx: Tx, id: string): Promise<PixApiConnection | null> {
    return this.#open(await this.connections.lockById(tx, id));
  }

  /** @returns null when there is no such connection */
  async callerOf(id: string): Promise<CallbackCaller | null> {
    const found = await this.connections.callbacksOf(id);
    const profile = found && findProfile(found.profile);
    if (!found || !profile) return null;
    return { inbound: profile.inbound.value, desk: findDesk(profile.payouts.value), ...found };
  }

  /** Reads the profiles of all connections, so that `deskOf` needs no query. */
  async learnProfiles(): Promise<void> {
    for (const { id, profile } of await this.connections.profiles()) this.#profiles.set(id, profile);
  }

  /** Reads the profile of a connection that another process has made since. */
  async learnProfile(id: string): Promise<void> {
    const found = this.#profiles.has(id) ? null : await this.connections.callbacksOf(id);
    if (found) this.#profiles.set(id, found.profile);
  }

  /**
   * The payout desk of a connection's PSP, without a query: capabilities of acquirers are read inside transactions.
   * @returns null for a PSP without a desk
   * @throws ApiError 503 until `learnProfile` has read the connection
   */
  deskOf(id: string): Desk | null {
    const name = this.#profiles.get(id);
    const profile = name === undefined ? undefined : findProfile(name);
    if (!profile) throw serviceUnavailable('The connection to the PSP is being read; retry in a second.');
    return findDesk(profile.payouts.value);
  }

  /** @returns the account whose money an acquirer keeps; null for an acquirer of all accounts, such as the sandbox */
  async ownerOf(tx: Tx, acquirer: string): Promise<string | null> {
    const id = connectionIdOf(acquirer);
    return id === null ? null : this.connections.ownerOf(tx, id);
  }

  /** The names of the acquirers of an account's connections. @param accountId null: of all accounts */
  async acquirersOf(accountId: string | null): Promise<string[]> {
    return (await this.connections.list(accountId)).map(({ id }) => acquirerNameOf(id));
  }

  /** Gives the callback address another secret. Previous secrets stay valid until the new one is registered. */
  rotateCallback(tx: Tx, id: string): void {
    this.connections.rotateCallback(tx, id, this.clock.now());
  }

  /** Profile and Pix key of a connection, which never change. @returns null when there is no such connection */
  nameOf(tx: Tx, id: string): Promise<Pick<PixApiConnection, 'profile' | 'pixKey'> | null> {
    return this.connections.nameOf(tx, id);
  }

  /**
   * Adds a fee schedule from a day on; running services notice within seconds.
   * @throws ApiError 404, 400 for a day that is too early
   */
  async addFee(tx: Tx, id: string, fee: FeeSchedule): Promise<void> {
    const connection = await this.connections.lockById(tx, id);
    if (!connection) throw notFound('connection');
    const now = this.clock.now();
    const isFirst = connection.fees.every(({ operation }) => operation !== fee.operation);
    const earliest = saoPauloDay(isFirst ? now : new Date(now.getTime() + DAY_MS + FEE_NOTICE_MS));
    if (fee.validFrom < earliest) {
      const message = `is ${earliest} at the earliest: what was settled before has its fee, and running services have to learn of it`;
      throw invalidRequest([{ param: 'from', code: 'invalid', message }]);
    }
    this.connections.addFee(tx, { ...fee, connectionId: id, createdAt: now });
  }

  /** @param accountId null: of all accounts */
  list(accountId: string | null): Promise<ConnectionSummary[]> {
    return this.connections.list(accountId);
  }

  /** Newest first. @param accountId null: of all accounts */
  page(accountId: string | null, filter: IdCursorFilter): Promise<ConnectionSummary[]> {
    return this.connections.page(accountId, filter);
  }

  /**
   * Makes the account's connection for (profile, Pix key), or renews the existing one; running services notice within
   * seconds. The caller holds the lock of the account.
   * @throws ApiError 409 when another account has it: configuring its key anew would take its money; 409 for another
   * client id while money is under way
   */
  async save(tx: Tx, settings: ConnectionSettings): Promise<{ id: string; renewed: boolean }> {
    const { credentials, ...rest } = settings;
    const { accountId, profile, pixKey } = rest;
    const now = this.clock.now();
    const known = await this.connections.lock(tx, profile, pixKey);
    if (known && known.accountId !== accountId) throw taken(profile, pixKey);
    if (known) await this.#assertSameClient(tx, known, credentials.clientId);
    const id = known?.id ?? newId(now);
    this.#profiles.set(id, profile);
    const connection = { id, ...rest, sealed: this.secrets.seal(JSON.stringify(credentials), context(id)) };
    if (known) {
      this.connections.renew(tx, connection, now);
      return { id, renewed: true };
    }
    try {
      await this.connections.insert(tx, connection, now);
    } catch (error) {
      // This account is locked, so another account won the race.
      if (uniqueViolation(error) === 'acquirer_connections_pix_key_key') throw taken(profile, pixKey);
      throw error;
    }
    return { id, renewed: false };
  }

  /**
   * Refuses a new client id while money is under way: the PSP could not find that money by it, and would send it twice.
   */
  async #assertSameClient(
    tx: Tx,
    known: Pick<SealedConnection, 'id' | 'accountId' | 'sealed'>,
    clientId: string,
  ): Promise<void> {
    const { id, accountId, sealed } = known;
    // First: credentials that cannot be opened any more are replaced when nothing is under way.
    if (!(await this.connections.hasSendsUnderWay(tx, acquirerNameOf(id), accountId))) return;
    if (this.#credentials(id, sealed).clientId !== clientId) throw underWay();
  }

  #open(found: StoredConnection | null): PixApiConnection | null {
    if (!found) return null;
    const { sealed, ...connection } = found;
    return { ...connection, credentials: this.#credentials(found.id, sealed) };
  }

  #credentials(id: string, sealed: Buffer): PixApiCredentials {
    return JSON.parse(this.secrets.open(sealed, context(id))) as PixApiCredentials;
  }

  /** @param secret the number of the secret in the address that the PSP calls */
  webhookRegistered(tx: Tx, id: string, secret: number): void {
    this.connections.webhookRegistered(tx, id, this.clock.now(), secret);
  }

  /**
   * Claims connections whose warning of that many days before the end of their certificate is due, each for one caller.
   */
  claimWarnings(tx: Tx, days: number): Promise<ConnectionSummary[]> {
    return this.connections.claimWarnings(tx, days, daysFrom(this.clock.now(), days));
  }

  /**
   * When the first client certificate at each PSP ends, by profile. Certificates that ended long ago are left out: no
   * refund can need them any more.
   */
  firstExpiries(): Promise<Map<string, Date>> {
    return this.connections.firstExpiries(daysFrom(this.clock.now(), -REFUND_DAYS));
  }
}

/** How long before their begin new fees are entered: meanwhile every process learns them, and the old fees run out. */
const FEE_NOTICE_MS = 10 * 60_000;

/** How long a Pix can be returned (Regulamento do Pix, devolução). */
const REFUND_DAYS = 90;

function daysFrom(now: Date, days: number): Date {
  return new Date(now.getTime() + days * DAY_MS);
}

function context(id: string): string {
  return `acquirer_connection:${id}`;
}

function taken(profile: string, pixKey: string): ApiError {
  return conflict(
    'acquirer_key_taken',
    `The Pix key ${pixKey} at ${profile} is another account's: a key is charged to by one account only.`,
  );
}

function underWay(): ApiError {
  return conflict(
    'payouts_under_way',
    'Payouts or refunds by cashout are under way with the present client id, and with another one they could be paid twice. Repeat this once they have ended, or an operator has resolved them. A new secret or certificate of the present client id is accepted now.',
  );
}
