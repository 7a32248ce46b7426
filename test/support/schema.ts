import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { createDataSource, Database, migrate, Reader } from '../../src/core/database/index.js';
import { createLogger, type Logger } from '../../src/core/log/index.js';
import { createTestDatabase, type TestDatabase } from './database.js';

export const SILENT: Logger = createLogger('silent');

/** A database of its own with the service's doors to it, without the service. */
export class TestSchema {
  readonly #sources: DataSource[] = [];

  private constructor(readonly database: TestDatabase) {}

  /** @param setup SQL that makes what the spec needs besides the service's tables */
  static async open(setup = ''): Promise<TestSchema> {
    const schema = new TestSchema(await createTestDatabase());
    if (setup !== '') {
      await schema.database.pool.query(setup);
      await migrate(schema.database.ownerUrl, [], schema.database.url); // the service's role gets the new tables too
    }
    return schema;
  }

  /** Doors with a pool of their own, as another process would have. */
  async connect(pool: number): Promise<{ source: DataSource; database: Database; reader: Reader }> {
    const source = createDataSource({ url: this.database.url, pool });
    await source.initialize();
    this.#sources.push(source);
    return { source, database: new Database(source), reader: new Reader(source) };
  }

  async close(): Promise<void> {
    for (const source of this.#sources) await source.destroy();
    await this.database.drop();
  }
}

/** A door that stays closed until `open` is called, for bringing two pieces of work to the same point. */
export class Gate {
  #open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  open(): void {
    this.#open();
  }
}

/** Lets nobody past before `count` have arrived. */
export function barrier(count: number): () => Promise<void> {
  const gate = new Gate();
  let arrived = 0;
  return () => {
    if (++arrived >= count) gate.open();
    return gate.opened;
  };
}

/** For what looks through the application's providers, where there is no application. */
export const NO_PROVIDERS = new DiscoveryService(new ModulesContainer());
