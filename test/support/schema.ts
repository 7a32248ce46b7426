import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { createDataSource, Database, migrate, Reader } from '../../src/core/database/index.js';
import { createLogger, type Logger } from '../../src/core/log/index.js';
import { createTestDatabase, type TestDatabase } from './database.js';

export const SILENT: Logger = createLogger('silent');

/** A separate database with the service's access classes (`Database`, `Reader`), without the service. */
export class TestSchema {
  readonly #sources: DataSource[] = [];

  private constructor(readonly database: TestDatabase) {}

  /** @param setup SQL that makes the spec's own tables, besides those of the service */
  static async open(setup = ''): Promise<TestSchema> {
    const schema = new TestSchema(await createTestDatabase());
    if (setup !== '') {
      await schema.database.pool.query(setup);
      await migrate(schema.database.ownerUrl, [], schema.database.url); // the service's role gets the new tables too
    }
    return schema;
  }

  /** Connects with a separate pool, as another process would. */
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

/** Makes callers wait until `count` of them have arrived. */
export function barrier(count: number): () => Promise<void> {
  const gate = new Gate();
  let arrived = 0;
  return () => {
    if (++arrived >= count) gate.open();
    return gate.opened;
  };
}

/** An empty list of providers, for code that searches the application's providers in tests without an application. */
export const NO_PROVIDERS = new DiscoveryService(new ModulesContainer());
