import type pg from 'pg';
import type { SentStatement, Turn } from './wire.js';

/** Returns a field's value in one operation; called once for each field. */
export type Fresh = (field: string) => string;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

/** A recorded operation that can be repeated any number of times with other ids, without the service. */
export class Replay {
  /** Values that differ between operations. */
  readonly #variable: RegExp;

  /**
   * @param known fields by their recorded values. A UUIDv7 that is not among them was made by the service for this
   *   operation: it is a field of its own
   */
  constructor(
    private readonly turns: readonly Turn[],
    private readonly known: ReadonlyMap<string, string>,
  ) {
    this.#variable = new RegExp([...known.keys(), UUID.source].join('|'), 'g');
  }

  /** Queries and round trips as lines of the report. */
  describe(name: string): string[] {
    const queries = this.turns.flat().filter((statement) => statement.name !== '').length;
    return [
      `  ${name}: ${String(queries)} queries in ${String(this.turns.length)} round trips`,
      ...this.turns.map((turn, index) => {
        const sent = turn.map((statement) => (statement.name === '' ? statement.text : statement.name));
        return `    ${String(index + 1)}. ${sent.join(' + ')}`;
      }),
    ];
  }

  /** Runs the operation on one client. Sends the statements of a round trip together, then awaits their answers. */
  async run(client: pg.Client, fresh: Fresh): Promise<void> {
    const made = new Map<string, string>();
    const replace = (recorded: string): string => {
      let value = made.get(recorded);
      if (value === undefined) made.set(recorded, (value = fresh(this.known.get(recorded) ?? 'id')));
      return value;
    };
    const fill = (value: SentStatement['values'][number]): unknown =>
      typeof value === 'string' ? value.replace(this.#variable, replace) : value;
    for (const turn of this.turns) {
      await Promise.all(
        turn.map(({ name, text, values }) =>
          name === '' ? client.query(text) : client.query({ name, text, values: values.map(fill) }),
        ),
      );
    }
  }
}
