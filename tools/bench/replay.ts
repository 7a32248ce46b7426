import pg from 'pg';
import type { Cleanup } from '../harness/cleanup.js';
import { drive, type Operation, type Round } from './stats.js';
import type { SentStatement, Turn } from './wire.js';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

/** Values of the recording that differ between operations, with their field names. */
export type Known = ReadonlyMap<string, string>;

/** Returns a field's value in one operation; called once for each field. */
export type Fresh = (field: string) => string;

type Part = { readonly field: string } | { readonly text: string };
type Value = null | Buffer | string | { readonly parts: readonly Part[] };

interface ReplayStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Value[];
}

/** A recorded operation that can be repeated any number of times with other ids, without the service. */
export class Replay {
  readonly turns: readonly (readonly ReplayStatement[])[];

  /** UUIDv7s that are not `known` were made by the service for this operation: each becomes a field. */
  constructor(recorded: readonly Turn[], known: Known) {
    const fields = new Map(known);
    for (const { values } of recorded.flat()) {
      for (const value of values) {
        if (typeof value !== 'string') continue;
        for (const [uuid] of value.matchAll(UUID)) {
          if (!fields.has(uuid)) fields.set(uuid, `id-${String(fields.size)}`);
        }
      }
    }
    this.turns = recorded.map((turn) => turn.map((statement) => compile(statement, fields)));
  }

  /** Runs the operation on one client. Each turn is sent at once and its answers are awaited, as the service does. */
  async run(client: pg.Client, fresh: Fresh): Promise<void> {
    const made = new Map<string, string>();
    const of = (field: string): string => {
      let value = made.get(field);
      if (value === undefined) made.set(field, (value = fresh(field)));
      return value;
    };
    for (const turn of this.turns) {
      await Promise.all(
        turn.map(({ name, text, values }) =>
          name === ''
            ? client.query(text)
            : client.query({ name, text, values: values.map((value) => fill(value, of)) }),
        ),
      );
    }
  }
}

function compile(statement: SentStatement, fields: ReadonlyMap<string, string>): ReplayStatement {
  const values = statement.values.map((value): Value => {
    if (typeof value !== 'string') return value;
    let parts: Part[] = [{ text: value }];
    for (const [known, field] of fields) parts = parts.flatMap((part) => cut(part, known, field));
    return parts.length === 1 ? value : { parts: parts.filter((part) => 'field' in part || part.text !== '') };
  });
  return { name: statement.name, text: statement.text, values };
}

function cut(part: Part, known: string, field: string): Part[] {
  if ('field' in part) return [part];
  return part.text.split(known).flatMap((text, index): Part[] => (index === 0 ? [{ text }] : [{ field }, { text }]));
}

function fill(value: Value, of: Fresh): unknown {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  let text = '';
  for (const part of value.parts) text += 'field' in part ? of(part.field) : part.text;
  return text;
}

/** Plain `pg` clients without pool, HTTP or framework. */
export class BareClients {
  readonly #clients: pg.Client[];

  private constructor(clients: pg.Client[]) {
    this.#clients = clients;
  }

  static async connect(databaseUrl: string, count: number, cleanup: Cleanup): Promise<BareClients> {
    const clients = Array.from({ length: count }, () => {
      const config: pg.ClientConfig & { pipeline: boolean } = { connectionString: databaseUrl, pipeline: true };
      const client = new pg.Client(config);
      // A server that is stopped during a run disconnects its clients; without a listener that would end the process.
      client.on('error', () => undefined);
      return client;
    });
    await Promise.all(clients.map((client) => client.connect()));
    const connected = new BareClients(clients);
    cleanup.add(() => connected.close());
    return connected;
  }

  /** @param next returns the fields of an operation, or null when there is nothing left to do */
  drive(replay: Replay, workers: number, seconds: number, next: () => Fresh | null): Promise<Round> {
    return drive(workers, seconds, (worker): Operation | null => {
      const client = this.#clients[worker];
      const fresh = next();
      if (!client || !fresh) return null;
      return async () => {
        await replay.run(client, fresh);
        return null;
      };
    });
  }

  async query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
    const [client] = this.#clients;
    if (!client) throw new Error('No client');
    return (await client.query<R>(text, values)).rows;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
  }
}
