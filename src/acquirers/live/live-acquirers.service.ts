import { Inject, Injectable } from '@nestjs/common';
import { AccountsService } from '../../accounts/index.js';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database, type Tx } from '../../core/database/index.js';
import { business, invalidRequest, notFound } from '../../core/errors/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { callbackUrl } from '../pix-api/callback-url.js';
import type { PixApiConnection } from '../pix-api/connection.js';
import type { ConnectionSummary } from '../pix-api/connections.repository.js';
import { ConnectionsService } from '../pix-api/connections.service.js';
import type { FeeSchedule } from '../pix-api/fees.js';
import { check as checkPixApi, type Registration } from '../pix-api/doctor.js';
import type { Finding } from '../pix-api/finding.js';
import { acquirerNameOf, connectionIdOf } from '../pix-api/connection.js';
import { subjectOf } from './certificate.js';
import { type Configuration, readConfiguration } from './configuration.js';

/** The result of a configuration, without any secret. */
export interface Configured {
  /** The connection's. */
  readonly id: string;
  readonly acquirer: string;
  readonly psp: string;
  readonly pixKey: string;
  /** The account already had this connection, and its credentials were replaced. */
  readonly renewed: boolean;
  /** The previous acquirer of live charges, if it was another one. */
  readonly replaced: string | null;
  readonly certificate: { readonly subject: string; readonly expiresAt: Date } | null;
}

/** A connection of an account, as people name it. */
export interface LiveName {
  readonly id: string;
  readonly acquirer: string;
  readonly psp: string;
  readonly pixKey: string;
}

export interface LiveConnection extends ConnectionSummary {
  /** Whether new live charges of its account go to this connection. */
  readonly live: boolean;
}

/** Assigns live acquirers to accounts and tests them. */
@Injectable()
export class LiveAcquirersService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly connections: ConnectionsService,
    private readonly audit: AuditTrail,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores the connection and sends the account's live charges there from the commit on.
   * @throws ApiError 400 with every violation, 404 for an unknown account, 409 for another account's key
   */
  async configure(input: Configuration, actor: Actor): Promise<Configured> {
    const { production } = this.config;
    const { settings, x509, violations } = readConfiguration(input, { now: this.clock.now(), production });
    if (violations.length > 0) throw invalidRequest([...violations]);
    const { accountId, profile, pixKey, certificate } = settings;
    const { id, renewed, before } = await this.database.transaction(async (tx) => {
      const { liveAcquirer } = await this.accounts.lock(tx, accountId);
      const saved = await this.connections.save(tx, settings);
      this.accounts.setLiveAcquirer(tx, accountId, acquirerNameOf(saved.id));
      this.audit.record(tx, actor, 'acquirer.configured', accountId, {
        data: {
          connection_id: saved.id,
          psp: profile,
          renewed: saved.renewed,
          certificate_fingerprint: certificate?.fingerprint ?? null,
        },
      });
      return { ...saved, before: liveAcquirer };
    });
    const acquirer = acquirerNameOf(id);
    return {
      id,
      acquirer,
      psp: profile,
      pixKey,
      renewed,
      replaced: before === acquirer ? null : before,
      certificate: x509 && { subject: subjectOf(x509), expiresAt: new Date(x509.validTo) },
    };
  }

  /**
   * Stops sending the account's new live charges anywhere from the commit on. The connection stays for existing
   * charges: they are settled and refunded, and its callbacks and lists are read. `configure` with the same PSP and key
   * resumes it.
   * @throws ApiError 404, 422 when the account has none
   */
  async disconnect(accountId: string, actor: Actor): Promise<LiveName> {
    return this.database.transaction(async (tx) => {
      const connection = await this.#lockLive(tx, accountId);
      const { id, psp } = connection;
      this.accounts.setLiveAcquirer(tx, accountId, null);
      this.audit.record(tx, actor, 'acquirer.disconnected', accountId, { data: { connection_id: id, psp } });
      return connection;
    });
  }

  /**
   * Gives the account's callback address another secret. The previous secret stays valid until `check` finds the new
   * address registered at the PSP.
   * @throws ApiError 404, 422 when the account has none
   */
  async rotateCallback(accountId: string, actor: Actor): Promise<LiveName> {
    return this.database.transaction(async (tx) => {
      const connection = await this.#lockLive(tx, accountId);
      const { id, psp } = connection;
      this.connections.rotateCallback(tx, id);
      this.audit.record(tx, actor, 'acquirer.callback_rotated', accountId, { data: { connection_id: id, psp } });
      return connection;
    });
  }

  /**
   * Adds a fee schedule of a connection's PSP from a day on.
   * @param connectionId null: the only one that the account has
   * @throws ApiError 404, 400 for a day that is too early and where the account has several
   */
  async setFee(accountId: string, connectionId: string | null, fee: FeeSchedule, actor: Actor): Promise<LiveName> {
    const connection = await this.connectionOf(accountId, connectionId);
    await this.database.transaction(async (tx) => {
      await this.connections.addFee(tx, connection.id, fee);
      const { operation, validFrom, bps, fixed, minimum, maximum } = fee;
      this.audit.record(tx, actor, 'acquirer.fee_set', accountId, {
        data: { connection_id: connection.id, operation, valid_from: validFrom, bps, fixed, minimum, maximum },
      });
    });
    return connection;
  }

  /**
   * A connection of the account, whether live charges go there or not.
   * @param id null: the only one that it has
   * @throws ApiError 404, 400 where it has several, 422 where it has none
   */
  async connectionOf(accountId: string, id: string | null): Promise<LiveName> {
    await this.accounts.get(accountId);
    const all = await this.connections.list(accountId);
    const [connection, other] = all.filter((each) => id === null || each.id === id);
    if (!connection) throw id === null ? notConnected() : notFound('connection of the account');
    if (other) {
      const names = all.map((each) => `${each.id} (${each.profile}, ${each.pixKey})`).join(', ');
      const message = `is required, for the account has several: ${names}`;
      throw invalidRequest([{ param: 'connection', code: 'required', message }]);
    }
    const { profile: psp, pixKey } = connection;
    return { id: connection.id, acquirer: acquirerNameOf(connection.id), psp, pixKey };
  }

  /** @param accountId null: of all accounts */
  async list(accountId: string | null): Promise<LiveConnection[]> {
    return this.#withUse(await this.connections.list(accountId));
  }

  /** Newest first, a page. @param accountId null: of all accounts */
  async page(accountId: string | null, filter: IdCursorFilter): Promise<LiveConnection[]> {
    return this.#withUse(await this.connections.page(accountId, filter));
  }

  async #withUse(connections: ConnectionSummary[]): Promise<LiveConnection[]> {
    const owners = [...new Set(connections.map((connection) => connection.accountId))];
    const accounts = await Promise.all(owners.map((owner) => this.accounts.get(owner)));
    const live = new Set(accounts.map(({ liveAcquirer }) => liveAcquirer));
    return connections.map((connection) => ({ ...connection, live: live.has(acquirerNameOf(connection.id)) }));
  }

  /**
   * Tests the account's live acquirer step by step: creates a charge there and cancels it.
   * @param options.baseUrl at which the PSP reaches the service; null: not known
   * @throws ApiError 404, 422 when the account has none
   */
  async *check(
    accountId: string,
    { baseUrl, registration }: { baseUrl: string | null; registration: Registration },
  ): AsyncGenerator<Finding> {
    const connection = await this.#liveConnection(accountId);
    const { id } = connection;
    const secret = (await this.connections.callerOf(id))?.newestSecret ?? 1;
    const options = {
      callbackUrl: baseUrl === null ? null : callbackUrl(baseUrl, this.secrets, id, secret),
      secrets: this.secrets,
      registration,
      certificatesChecked: this.config.certificateHeader !== null,
      now: this.clock.now(),
    };
    for await (const finding of checkPixApi(connection, options)) {
      if (finding.step === 'webhook' && finding.ok === true) {
        await this.database.transaction(async (tx) => this.connections.webhookRegistered(tx, id, secret));
      }
      yield finding;
    }
  }

  /** Locks an account and reads its live acquirer. */
  async #lockLive(tx: Tx, accountId: string): Promise<LiveName> {
    const { liveAcquirer: acquirer } = await this.accounts.lock(tx, accountId);
    if (acquirer === null) throw notConnected();
    const id = connectionIdOf(acquirer);
    const connection = id === null ? null : await this.connections.nameOf(tx, id);
    if (id === null || connection === null) throw new Error(`The live acquirer ${acquirer} is no connection`);
    return { id, acquirer, psp: connection.profile, pixKey: connection.pixKey };
  }

  async #liveConnection(accountId: string): Promise<PixApiConnection> {
    const { liveAcquirer } = await this.accounts.get(accountId);
    const id = liveAcquirer === null ? null : connectionIdOf(liveAcquirer);
    const connection = id === null ? null : await this.connections.find(id);
    if (connection) return connection;
    throw notConnected();
  }
}

function notConnected(): Error {
  return business('no_provider_configured', 'This account has no live acquirer: `acquirer configure` gives it one.');
}
