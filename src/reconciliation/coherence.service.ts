import { Injectable } from '@nestjs/common';
import { Reader, read } from '../core/database/index.js';
import { CHECKS } from './coherence.js';

/** Largest number of rows shown for each broken promise. */
const SHOWN = 5;

export interface BrokenPromise {
  readonly promise: string;
  readonly rows: readonly object[];
}

/** Joins all checks in one statement, so that they see the books at one instant while others write. */
function statementOf(checks: readonly (typeof CHECKS)[number][], name: string): ReturnType<typeof read> {
  const parts = checks.map(
    ({ sql }, number) => `(SELECT ${number} AS number, to_jsonb(c) AS row FROM (${sql}) c LIMIT ${SHOWN})`,
  );
  return read(name, parts.join(' UNION ALL '), true);
}

const LASTING = CHECKS.filter(({ ofEvents }) => ofEvents !== true);
const OF_LASTING = statementOf(LASTING, 'coherence.lasting');
const OF_ALL = statementOf(CHECKS, 'coherence.all');

/** Checks the invariants of all books: journal, balances, sales, refunds, cases and their notifications. */
@Injectable()
export class CoherenceService {
  constructor(private readonly reader: Reader) {}

  /** @param withEvents whether to check events too; fails once old events were removed @returns the broken promises */
  async check(withEvents: boolean): Promise<{ promises: number; broken: BrokenPromise[] }> {
    const checks = withEvents ? CHECKS : LASTING;
    type Row = { number: number; row: object };
    const rows = await this.reader.query<Row>(withEvents ? OF_ALL : OF_LASTING, []);
    const broken = checks.flatMap(({ name }, number) => {
      const found = rows.filter((row) => row.number === number);
      return found.length === 0 ? [] : [{ promise: name, rows: found.map(({ row }) => row) }];
    });
    return { promises: checks.length, broken };
  }
}
