import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { AcquirersService } from '../acquirers.service.js';
import { connectionIdOf, FAMILY } from './connection.js';
import { ConnectionClients } from './connections.clients.js';
import { ConnectionsService } from './connections.service.js';
import type { ClientOf, Desk } from './desks/desk.js';
import { PixApiAcquirer } from './pix-api.acquirer.js';
import { PixApiClient } from './pix-api.client.js';
import { findProfile } from './profiles.js';
import { TokenCache } from './token-cache.js';

/** Makes the acquirer of each connection. Making one is cheap: its first call reads the connection. */
@Injectable()
export class PixApiFamily implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #tokens = new TokenCache();
  readonly #clients: ConnectionClients<PixApiClient>;

  constructor(
    private readonly acquirers: AcquirersService,
    private readonly connections: ConnectionsService,
    database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {
    this.#clients = new ConnectionClients(
      (id) => connections.find(id),
      (id) => database.transaction((tx) => connections.lock(tx, id)),
      (connection) => {
        const profile = findProfile(connection.profile);
        if (!profile) throw new Error(`There is no PSP profile "${connection.profile}"`);
        return new PixApiClient(connection, profile, {
          tokens: this.#tokens,
          observe: (operation, outcome, seconds) => metrics.acquirerSeconds.observe({ operation, outcome }, seconds),
        });
      },
      () => clock.now().getTime(),
    );
  }

  onModuleInit(): void {
    this.acquirers.registerFamily(FAMILY, (name) => {
      const id = connectionIdOf(name) ?? '';
      this.#learn(() => this.connections.learnProfile(id));
      const desk = (): Desk | null => {
        this.#learn(() => this.connections.learnProfile(id));
        return this.connections.deskOf(id);
      };
      const client: ClientOf = (use) => (use === 'send' ? this.#clients.current(id) : this.#clients.of(id));
      return new PixApiAcquirer(name, client, this.clock, this.logger, this.metrics, desk);
    });
  }

  onApplicationBootstrap(): void {
    this.#learn(() => this.connections.learnProfiles());
  }

  /** If the database does not answer now, each profile is read when it is needed. */
  #learn(read: () => Promise<void>): void {
    read().catch((error: unknown) => this.logger.warn({ error }, 'the profile of a connection could not be read'));
  }

  async onModuleDestroy(): Promise<void> {
    await this.#clients.close();
  }
}
