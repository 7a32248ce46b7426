import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperatorQueues } from '../../src/core/operator-queues.js';
import { Clock } from '../../src/core/clock.js';
import { type Database, type Reader } from '../../src/core/database/index.js';
import type { Mode, Scope } from '../../src/core/mode.js';
import type { ReportFormat, ReportOrder } from '../../src/reports/report.entity.js';
import { ReportRowsRepository } from '../../src/reports/report-rows.repository.js';
import { commodityOf } from '../../src/reports/formats/journal.js';
import { ReportWriter } from '../../src/reports/report-writer.service.js';
import type { AccountsService } from '../../src/accounts/index.js';
import type { TransactionsService } from '../../src/transactions/index.js';
import { type Bucket, LedgerService } from '../../src/wallets/index.js';
import type { ListWalletEntriesQuery } from '../../src/wallets/dto/list-wallet-entries.query.js';
import type { WalletEntryBody } from '../../src/wallets/dto/wallet-entry.body.js';
import { StatementRepository } from '../../src/wallets/statement.repository.js';
import { StatementService } from '../../src/wallets/statement.service.js';
import { WalletsRepository } from '../../src/wallets/wallets.repository.js';
import { brokenPromises } from '../../src/reconciliation/coherence.js';
import { Random } from '../../tools/harness/random.js';
import { itWith } from '../support/needs.js';
import { balancesBy, ofxAccounts } from '../support/bookkeepers.js';
import { TestSchema } from '../support/schema.js';

/** Statements are not searched. */
const NO_SEARCH = {} as TransactionsService;
/** Only a closing names its account. */
const NO_ACCOUNTS = {} as AccountsService;
const START = Date.parse('2026-11-21T12:00:00.000Z');
const SPAN_MS = 2_000;
const POSTINGS = 300;
const OWN: readonly Bucket[] = ['available', 'pending', 'retained'];
const OTHERS: readonly Bucket[] = ['clearing', 'reserved', 'platform_fees'];
const CAUSES = [
  ['charge.paid', 'sale'],
  ['release', 'release'],
  ['refund.reserved', 'refund'],
  ['med.held', 'med_hold'],
  ['med.lost', 'chargeback'],
] as const;

const decimal = (cents: number): string => (cents / 100).toFixed(2);

describe('the statement of a random history', () => {
  const random = new Random(20261121);
  const pick = <T>(from: readonly T[]): T => from[random.between(0, from.length - 1)] as T;
  const scopes = [randomUUID(), randomUUID()].flatMap((accountId) =>
    (['test', 'live'] as Mode[]).map((mode): Scope => ({ accountId, mode })),
  );
  const payments = Array.from({ length: 40 }, () => randomUUID());
  const directory = mkdtempSync(join(tmpdir(), 'recebe-statement-'));
  let schema: TestSchema;
  let reader: Reader;
  let statement: StatementService;

  beforeAll(async () => {
    schema = await TestSchema.open();
    let database: Database;
    ({ database, reader } = await schema.connect(20));
    statement = new StatementService(new StatementRepository(reader));
    // The amounts are drawn, whatever is below zero by them.
    await schema.database.pool.query('ALTER TABLE balances DISABLE TRIGGER balances_held');
    // Each posting by a process whose clock is its own, many at once, so that they commit in another order than their times'.
    const post = async (): Promise<void> => {
      const clock = new Clock();
      const at = START + random.between(0, SPAN_MS);
      clock.now = () => new Date(at);
      const ledger = new LedgerService(new WalletsRepository(reader, new OperatorQueues(reader)), clock);
      const postings = Array.from({ length: pick([1, 1, 1, 4]) }, () => {
        const lines: Partial<Record<Bucket, number>> = {};
        for (const bucket of [pick(OWN), pick(OWN), pick(OTHERS)]) lines[bucket] = random.between(-500, 900) || 1;
        const sum = Object.values(lines).reduce((total, amount) => total + amount, 0);
        const [what, type] = pick(CAUSES);
        const transactionId = pick(payments);
        const id = what === 'charge.paid' || what === 'release' ? transactionId : randomUUID();
        return {
          ...pick(scopes),
          currency: pick(['BRL', 'BRL', 'A1Z']),
          cause: `${what}:${id}`,
          type,
          transactionId,
          lines: { ...lines, provider_fees: -sum },
        };
      });
      // A sale is posted once; which one it is, is up to the others.
      await database
        .transaction(async (tx) => ledger.post(tx, postings))
        .catch((error: unknown) => {
          if (!String(error).includes('journal_entries_cause_key')) throw error;
        });
    };
    const queue = Array.from({ length: POSTINGS }, () => post);
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        for (let next = queue.pop(); next; next = queue.pop()) await next();
      }),
    );
  });
  afterAll(async () => {
    await schema.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const orderOf = (format: ReportFormat): ReportOrder => {
    const times = [random.between(-50, SPAN_MS + 50), random.between(-50, SPAN_MS + 50)];
    const [from, to] = times.sort((a, b) => a - b).map((at) => new Date(START + at)) as [Date, Date];
    const columns = format === 'csv' ? ['id', 'bucket', 'currency', 'amount', 'balance'] : null;
    const createdAt = new Date(START + 2 * SPAN_MS);
    return { ...pick(scopes), type: 'statement', format, locale: null, from, to, columns, filters: null, createdAt };
  };

  async function textOf(order: ReportOrder): Promise<string> {
    const writer = new ReportWriter(new ReportRowsRepository(reader), statement, NO_SEARCH, NO_ACCOUNTS);
    const { totalRows, pieces } = await writer.write(order);
    let text = '';
    let rows = 0;
    for await (const piece of pieces) {
      text += String(piece.content);
      rows += piece.rows;
    }
    expect(rows).toBe(totalRows);
    return text;
  }

  async function all(scope: Scope, query: ListWalletEntriesQuery, limit = 100): Promise<WalletEntryBody[]> {
    const entries: WalletEntryBody[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await statement.list(scope, {
        ...query,
        limit,
        ...(cursor === undefined ? {} : { starting_after: cursor }),
      });
      expect(page.data.length).toBeLessThanOrEqual(limit);
      entries.push(...page.data);
      cursor = page.next_cursor;
    }
    return entries;
  }

  const linesOf = async ({ accountId, mode }: Scope): Promise<string[]> => {
    const { rows } = await schema.database.pool.query<{ line: string }>(
      `SELECT format('we_%s_%s %s %s %s', entry_id, line, bucket, amount, currency) AS line FROM journal_lines
       WHERE account_id = $1 AND mode = $2 AND bucket IN ('available', 'pending', 'retained')`,
      [accountId, mode],
    );
    return rows.map(({ line }) => line).sort();
  };

  it('has every line of the ledger once, whatever the size of the pages', async () => {
    // The refunds and cases of these entries are not there.
    const broken = await brokenPromises(
      async (sql) => (await schema.database.pool.query<Record<string, unknown>>(sql)).rows,
    );
    const ofTheLedger = /^(?:the lines|all lines|each balance|the entries of each wallet|the balance after)/;
    expect(Object.keys(broken).filter((name) => ofTheLedger.test(name))).toEqual([]);
    for (const scope of scopes) {
      const entries = await all(scope, {});
      expect(entries.length).toBeGreaterThan(50);
      const shown = entries.map(({ id, bucket, amount, currency }) => `${id} ${bucket} ${amount} ${currency}`);
      expect(shown.sort()).toEqual(await linesOf(scope));
      expect(await all(scope, {}, 7)).toEqual(entries);
      expect(entries.map((entry) => entry.created_at)).toEqual(
        entries
          .map((entry) => entry.created_at)
          .sort()
          .toReversed(),
      );
      for (const [index, { bucket, currency, balance, amount }] of entries.entries()) {
        const before = entries.slice(index + 1).find((entry) => entry.bucket === bucket && entry.currency === currency);
        expect(balance - amount).toBe(before?.balance ?? 0);
      }
    }
  });

  it('goes in any window from the balance before it to the balance at its end', async () => {
    for (let round = 0; round < 60; round++) {
      const scope = pick(scopes);
      const [from, to] = [
        START + random.between(-50, SPAN_MS + 50),
        START + random.between(-50, SPAN_MS + 50),
      ].sort() as [number, number];
      const [opening, closing, entries] = await Promise.all([
        statement.balancesAt(scope, 'BRL', new Date(from - 1)),
        statement.balancesAt(scope, 'BRL', new Date(to)),
        all(scope, { created_after: new Date(from), created_before: new Date(to) }),
      ]);
      for (const end of closing) {
        const begin = opening.find(({ currency }) => currency === end.currency);
        for (const bucket of ['available', 'pending', 'retained'] as const) {
          const moved = entries.filter((entry) => entry.currency === end.currency && entry.bucket === bucket);
          expect((begin?.[bucket] ?? 0) + moved.reduce((sum, { amount }) => sum + amount, 0)).toBe(end[bucket]);
        }
      }
      expect(entries.filter(({ currency }) => !closing.some((end) => end.currency === currency))).toEqual([]);
    }
  });

  it('ends with the current balance', async () => {
    for (const scope of scopes) {
      const now = await new WalletsRepository(reader, new OperatorQueues(reader)).balances(scope);
      const [brl, ...others] = await statement.balancesAt(scope, 'BRL', new Date(START + SPAN_MS));
      for (const { currency, bucket, amount } of now) {
        const then = [brl, ...others].find((balance) => balance?.currency === currency);
        expect(then?.[bucket as 'available'] ?? 0).toBe(amount);
      }
    }
  });

  it('is filtered equally by every filter, also together', async () => {
    for (let round = 0; round < 40; round++) {
      const scope = pick(scopes);
      const everything = await all(scope, {});
      const source = pick([undefined, pick(payments)]);
      const query: ListWalletEntriesQuery = {
        ...pick([{}, { currency: 'BRL' }, { currency: 'A1Z' }]),
        ...pick([{}, { bucket: pick(['available', 'pending', 'retained'] as const) }]),
        ...pick([{}, { type: pick(CAUSES)[1] }]),
        ...pick([{}, { created_after: new Date(START + random.between(0, SPAN_MS)) }]),
        ...(source === undefined ? {} : { source: pick([source, `tx_${source}`, `ch_${source}`]) }),
      };
      const { rows } = await schema.database.pool.query<{ id: string }>(
        'SELECT id FROM journal_entries WHERE transaction_id = $1',
        [source ?? null],
      );
      const wanted = everything.filter(
        (entry) =>
          (query.currency ?? entry.currency) === entry.currency &&
          (query.bucket ?? entry.bucket) === entry.bucket &&
          (query.type ?? entry.type) === entry.type &&
          entry.created_at >= (query.created_after?.toISOString() ?? '') &&
          (source === undefined || rows.some(({ id }) => entry.id.startsWith(`we_${id}_`))),
      );
      expect(await all(scope, query, pick([3, 100]))).toEqual(wanted);
    }
  });

  it('finds the lines of one refund or case', async () => {
    for (const scope of scopes) {
      for (const entry of (await all(scope, {}))
        .filter(({ type }) => type === 'refund' || type === 'chargeback')
        .slice(0, 5)) {
        const found = await all(scope, { source: entry.source?.id ?? '' });
        expect(found.map(({ id }) => id)).toContain(entry.id);
        expect(new Set(found.map(({ source }) => source?.id))).toEqual(new Set([entry.source?.id]));
      }
    }
  });

  it('is equal in the files of reports and in the API, for any window', async () => {
    for (let round = 0; round < 30; round++) {
      const order = orderOf('csv');
      const [header, ...lines] = (await textOf(order)).trimEnd().split('\r\n');
      expect(header).toBe('id,bucket,currency,amount,balance');
      const window = { created_after: order.from, created_before: order.to };
      const entries = (await all(order, window)).toReversed();
      expect([...lines].sort()).toEqual(
        entries
          .map(({ id, bucket, currency, amount, balance }) => {
            return [id, bucket, currency, decimal(amount), decimal(balance)].join(',');
          })
          .sort(),
      );
      // Bucket by bucket, each in its order.
      for (const currency of ['BRL', 'A1Z']) {
        for (const bucket of ['available', 'pending', 'retained']) {
          const own = lines
            .filter((line) => line.includes(`,${bucket},${currency},`))
            .map((line) => line.split(',')[0]);
          const expected = entries.filter((entry) => entry.bucket === bucket && entry.currency === currency);
          expect(own).toEqual(expected.map(({ id }) => id));
        }
      }
    }
  });

  itWith('bookkeepers')('is balanced to the cent by independent bookkeeping programs, for any window', async () => {
    for (let round = 0; round < 5; round++) {
      const order = orderOf('journal');
      const path = join(directory, `${round}.journal`);
      writeFileSync(path, await textOf(order));
      const at = await statement.balancesAt(order, 'BRL', order.to);
      const own = at.flatMap(({ currency, ...buckets }) =>
        (['available', 'pending', 'retained'] as const)
          .filter((bucket) => buckets[bucket] !== 0)
          .map((bucket) => `${bucket} ${decimal(buckets[bucket])} ${commodityOf(currency)}`),
      );
      for (const program of ['hledger', 'ledger', 'beancount'] as const) {
        const assets = balancesBy(program, path).filter((line) => line.startsWith('Assets:'));
        expect(assets.map((line) => line.split(':')[2]?.toLowerCase()).sort()).toEqual(
          own.map((line) => line.toLowerCase()).sort(),
        );
      }
      const ofx = orderOf('ofx');
      const ofxPath = join(directory, `${round}.ofx`);
      writeFileSync(ofxPath, await textOf(ofx));
      const closing = await statement.balancesAt(ofx, 'BRL', ofx.to);
      const entries = (await all(ofx, { created_after: ofx.from, created_before: ofx.to })).toReversed();
      const accounts = ['A1Z', 'BRL'].flatMap((currency) =>
        (['available', 'pending', 'retained'] as const).map((bucket) => ({
          account: `RECEBE${ofx.mode === 'live' ? '' : 'TST'} ${ofx.accountId.slice(-12)}${bucket.slice(0, 1).toUpperCase()}-${currency}`,
          balance: decimal(closing.find((end) => end.currency === currency)?.[bucket] ?? 0),
          amounts: entries
            .filter((entry) => entry.currency === currency && entry.bucket === bucket)
            .map(({ amount }) => decimal(amount)),
        })),
      );
      const dumped = ofxAccounts(ofxPath).map((account) => ({
        ...account,
        account: account.account.replace(/ +/, ' '),
      }));
      expect(dumped).toEqual(accounts);
    }
  });
});
