import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CLIENT } from '../../tools/psp-simulator/certificates.js';
import { ConfirmationService, LiveAcquirersService } from '../../src/acquirers/index.js';
import { CallbackStore } from '../../src/acquirers/pix-api/callback-store.service.js';
import type { CobRequest } from '../../src/acquirers/pix-api/messages.js';
import { PixApiClient, type PspAnswer } from '../../src/acquirers/pix-api/pix-api.client.js';
import { SYSTEM } from '../../src/audit/index.js';
import { newEndToEndId, saoPauloDay } from '../../src/brazil/index.js';
import { Database } from '../../src/core/database/index.js';
import { ApiError } from '../../src/core/errors/index.js';
import { ReconciliationService } from '../../src/reconciliation/index.js';
import { StatementReader } from '../../src/reconciliation/statement-reader.service.js';
import { CorrectionsService } from '../../src/transactions/corrections/corrections.service.js';
import { ExpiryProcessor } from '../../src/transactions/expiry/expiry.processor.js';
import { ExpiryRepository } from '../../src/transactions/expiry/expiry.repository.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { type Merchant, TestService } from '../support/service.js';

type Body = Readonly<Record<string, unknown>>;
type Told = 'callback' | 'list' | 'charge';

/** A PSP that answers what a spec puts here, for all connections. */
class Psp {
  readonly cobs = new Map<string, Body & { readonly chave: string }>();
  readonly pix = new Map<string, Body>();
  list: readonly Body[] = [];

  install(): void {
    const { cobs } = this;
    const ok = (body: unknown): Promise<PspAnswer> => Promise.resolve({ kind: 'ok', body });
    const one = (body: unknown): Promise<PspAnswer> =>
      body === undefined ? Promise.resolve({ kind: 'not_found' }) : ok(body);
    jest
      .spyOn(PixApiClient.prototype, 'putCob')
      .mockImplementation((txid: string, make: () => CobRequest | null): Promise<PspAnswer> => {
        const asked = make();
        if (asked === null) return one(undefined);
        const { calendario, valor, chave } = asked;
        const location = `psp.example/${txid}`;
        const cob = { txid, chave, valor, location, status: 'ATIVA' };
        cobs.set(txid, { ...cob, calendario: { ...calendario, criacao: new Date().toISOString() } });
        return ok(cobs.get(txid));
      });
    jest.spyOn(PixApiClient.prototype, 'getCob').mockImplementation(function (this: PixApiClient, txid: string) {
      const cob = cobs.get(txid);
      return one(cob?.chave === this.pixKey ? cob : undefined);
    });
    jest.spyOn(PixApiClient.prototype, 'getPix').mockImplementation((id: string) => one(this.pix.get(id)));
    jest.spyOn(PixApiClient.prototype, 'listPix').mockImplementation(() => {
      const parametros = { paginacao: { quantidadeDePaginas: 1 } };
      return ok({ parametros, pix: this.list });
    });
  }
}

const service = TestService.forSpec({ env: { ROLE: 'api' } });
const psp = new Psp();

interface Shop {
  readonly merchant: Merchant;
  readonly acquirer: string;
  readonly pixKey: string;
}

/** @param of an account that has a connection already */
async function aShop(of: Merchant | null = null): Promise<Shop> {
  const merchant = of ?? (await service.merchant({ fee_bps: '0', payer_lock: 'true' }));
  const { acquirer, pixKey } = await service.get(LiveAcquirersService).configure(
    {
      accountId: merchant.accountId,
      psp: 'standard',
      pixKey: randomUUID(),
      clientId: randomUUID(),
      clientSecret: 'secret',
      certificate: { pfx: Buffer.from(CLIENT.pfx, 'base64'), cert: null, key: null, passphrase: CLIENT.passphrase },
      ca: null,
      baseUrl: 'https://localhost:1',
      tokenUrl: 'https://localhost:1/token',
      variables: {},
    },
    SYSTEM,
  );
  return { merchant, acquirer, pixKey };
}

async function charge(key: string, body: Body = {}): Promise<{ id: string; txid: string }> {
  const made = await service.createCharge(key, body);
  expect([made.status, made.text]).toEqual([201, made.text]);
  return { id: made.body.id.slice(3), txid: made.body.pix.txid ?? '' };
}

/** Asks about everything that waits in the inbox. */
async function confirmAll(): Promise<void> {
  const waiting = await service.sql<{ id: string }>(`SELECT id FROM acquirer_notifications WHERE status = 'pending'`);
  for (const { id } of waiting) await service.get(ConfirmationService).confirm(id);
}

/** The PSP reports a Pix, and all that follows is done. */
async function tell(shop: Shop, told: Told, own: { id: string; txid: string }, pix: Body): Promise<void> {
  if (told === 'callback') {
    await service.get(CallbackStore).keep(shop.acquirer, Buffer.from(JSON.stringify({ pix: [pix] })));
  } else if (told === 'list') {
    psp.list = [pix];
    const to = new Date(service.clock.now().getTime() + 60_000);
    const window = { from: new Date(to.getTime() - 600_000), to };
    await service.get(StatementReader).read(shop.acquirer, 'payments', window);
    psp.list = [];
  } else {
    const cob = psp.cobs.get(own.txid);
    if (!cob) throw new Error('the charge was not made');
    psp.cobs.set(own.txid, { ...cob, status: 'CONCLUIDA', pix: [pix] });
    await service.get(ExpiryProcessor).run(own.id);
  }
  await confirmAll();
}

/** The hint about a Pix has waited for longer than another connection is waited for. */
async function passPatience(endToEndId: string): Promise<void> {
  await service.sql(
    `UPDATE acquirer_notifications SET received_at = received_at - interval '61 minutes' WHERE reference = $1`,
    [endToEndId],
  );
  await confirmAll();
}

/** Where a Pix stands: every book that has it. */
async function booksOf(endToEndId: string): Promise<string[]> {
  const rows = await service.sql<{ book: string }>(
    `SELECT outcome || coalesce(' ' || reason, '') AS book FROM settlements WHERE end_to_end_id = $1
     UNION ALL
     SELECT 'unreadable' FROM acquirer_notifications WHERE reference = $1 AND kind = 'pix' AND unreadable_since IS NOT NULL
     UNION ALL
     SELECT 'foreign' FROM acquirer_notifications
     WHERE reference = $1 AND kind = 'pix' AND status = 'ignored' AND last_error = 'it went to a key that is not ours'`,
    [endToEndId],
  );
  return rows.map(({ book }) => book);
}

beforeAll(() => psp.install());
afterAll(() => void jest.restoreAllMocks());

describe('a Pix is in exactly one book', () => {
  const KEYS = ['absent', 'null', 'empty', 'ours', "another's"] as const;
  const TXIDS = [
    ...(['absent', 'null', 'empty', 'ours', 'ours in capitals'] as const),
    ...(["another account's", "a test charge's"] as const),
  ];
  const TELLERS = ['callback', 'list', 'charge'] as const;
  let shop: Shop;
  let others: string;
  let tests: string;
  /** The PSP's list at the end. */
  const all: { pix: Body; isForeign: boolean; name: string }[] = [];

  beforeAll(async () => {
    shop = await aShop();
    const neighbour = await aShop();
    others = (await charge(neighbour.merchant.liveKey)).txid;
    tests = (await charge(shop.merchant.testKey)).txid;
  });

  const written = (name: string, value: string): Body => ({
    ...(value === 'absent' ? {} : { [name]: value === 'null' ? null : value === 'empty' ? '' : value }),
  });

  /** @returns what has to become of the Pix, from what a PSP says of it */
  function expected(key: string, txid: string, told: Told, isRight: boolean, isFound: boolean): string {
    // A list names the key of another of the holder's Pix: nothing is asked for.
    if (key === "another's" && told === 'list') return 'foreign by the list';
    const isNamed = told === 'charge' || txid === 'ours' || txid === 'ours in capitals';
    if (key === "another's" && told !== 'charge') return isFound ? 'foreign' : 'unknown';
    if (!isNamed) return 'unmatched';
    return isRight ? 'credited' : 'returned wrong_amount';
  }

  it.each(KEYS.flatMap((key) => TXIDS.map((txid) => ({ key, txid }))))(
    'with the key $key and the txid $txid, whichever way it is reported',
    async ({ key, txid }) => {
      const found: Record<string, string> = {};
      const wanted: Record<string, string> = {};
      for (const told of TELLERS) {
        for (const isRight of [true, false]) {
          for (const isFound of told === 'callback' ? [true] : [true, false]) {
            const own = await charge(shop.merchant.liveKey);
            const said = {
              ...{ ours: own.txid, 'ours in capitals': own.txid.toUpperCase() },
              ...{ "another account's": others, "a test charge's": tests },
            };
            const pix = {
              endToEndId: newEndToEndId('12345678', service.clock.now()),
              ...written('chave', { ours: shop.pixKey, "another's": randomUUID() }[key as string] ?? key),
              ...written('txid', said[txid as keyof typeof said] ?? txid),
              valor: isRight ? '19.90' : '19.91',
              horario: service.clock.now().toISOString(),
            };
            if (isFound) psp.pix.set(pix.endToEndId, pix);
            await tell(shop, told, own, pix);
            if (txid === "another account's") await passPatience(pix.endToEndId);
            const name = `told by a ${told}, ${isRight ? 'right' : 'wrong'}, ${isFound ? 'found' : 'not found'} by its id`;
            const books = await booksOf(pix.endToEndId);
            const isForeign = key === "another's" && told === 'list' && books.length === 0;
            found[name] = isForeign ? 'foreign by the list' : books.join(' and ') || 'unknown';
            wanted[name] = expected(key, txid, told, isRight, isFound);
            all.push({ pix, isForeign: isForeign || books[0] === 'foreign', name: `${key} ${txid} ${name}` });
          }
        }
      }
      expect(found).toEqual(wanted);
    },
  );

  it('reconcile counts each Pix that is ours, without a difference', async () => {
    psp.list = all.map(({ pix }) => pix);
    // The list is asked for until some seconds before now.
    service.clock.advance(5);
    const day = saoPauloDay(service.clock.now());
    const { acquirers, notCompared } = await service.get(ReconciliationService).compare(shop.merchant.accountId, day);
    psp.list = [];
    expect(notCompared).toEqual([]);
    const names = new Map(all.map(({ pix, name }) => [pix['endToEndId'], name]));
    const differences = acquirers.flatMap((one) => one.differences);
    expect(differences.map(({ kind, endToEndId }) => `${kind}: ${names.get(endToEndId) ?? ''}`)).toEqual([]);
    const ours = all.filter(({ isForeign }) => !isForeign).length;
    expect(acquirers.map(({ there, here }) => [there.count, here.count])).toEqual([[ours, ours]]);
    await expectLedgerCoherent(service.database.url);
  });

  it('no Pix changes another account or test mode', async () => {
    const rows = await service.sql('SELECT DISTINCT status FROM transactions WHERE txid = ANY ($1::text[])', [
      [others, tests],
    ]);
    expect(rows).toEqual([{ status: 'WAITING_PAYMENT' }]);
    const moved = await service.sql(
      `SELECT DISTINCT account_id AS id FROM journal_entries UNION SELECT account_id FROM acquirer_notifications n
       JOIN transactions t ON t.txid = n.txid WHERE t.mode = 'test' AND n.acquirer = 'sandbox'`,
    );
    expect(moved).toEqual([{ id: shop.merchant.accountId }]);
  });

  it('keeps a Pix that cannot be read, or is held for its unknown payer, in one book as well', async () => {
    const locked = await charge(shop.merchant.liveKey, {
      customer: { name: 'Ana' },
      expected_payer_tax_id: '52998224725',
    });
    const own = await charge(shop.merchant.liveKey);
    for (const [made, valor, book] of [
      [locked, '19.90', 'review payer_unknown'],
      [own, '1,990.5', 'unreadable'],
    ] as const) {
      const endToEndId = newEndToEndId('12345678', service.clock.now());
      const horario = service.clock.now().toISOString();
      const pix = { endToEndId, txid: made.txid, chave: shop.pixKey, valor, horario };
      psp.pix.set(endToEndId, pix);
      await tell(shop, 'callback', made, pix);
      expect(await booksOf(endToEndId)).toEqual([book]);
    }
  });
});

describe('an unmatched Pix that its charge names later', () => {
  let shop: Shop;

  beforeAll(async () => void (shop = await aShop()));
  afterEach(() => expectLedgerCoherent(service.database.url));

  type Own = Awaited<ReturnType<typeof charge>>;

  /** @param own fields of the Pix, which names neither key nor txid */
  function aPix(own: Body = {}): Body & { readonly endToEndId: string } {
    const endToEndId = newEndToEndId('12345678', service.clock.now());
    const pix = { endToEndId, valor: '19.90', horario: service.clock.now().toISOString(), ...own };
    psp.pix.set(endToEndId, pix);
    return pix;
  }

  async function statusOf({ id }: Own): Promise<unknown> {
    const [row] = await service.sql('SELECT status FROM transactions WHERE id = $1', [id]);
    return row?.['status'];
  }

  /** An operator's decision about the Pix. @returns how it ended */
  async function decide(endToEndId: string, kind: 'return' | 'assign', charged: Own | null = null): Promise<string> {
    const [pix] = await service.sql<{ id: string }>('SELECT id FROM settlements WHERE end_to_end_id = $1', [
      endToEndId,
    ]);
    const wanted = {
      ...{ kind, settlementId: pix?.id ?? '', transactionId: charged?.id ?? null },
      ...{ reason: 'by phone', bankReference: null, idempotencyKey: randomUUID() },
    };
    const operator = randomUUID();
    return service
      .get(Database)
      .transaction((tx) => service.get(CorrectionsService).request(tx, wanted, operator))
      .then(({ correction }) => correction.status)
      .catch((error: unknown) => (error instanceof ApiError ? error.code : Promise.reject(error as Error)));
  }

  it.each(
    (['list', 'callback', 'callback that names the charge'] as const).flatMap((told) =>
      (['whole', 'by its id only'] as const).map((shown) => ({ told, shown })),
    ),
  )('pays the charge when it is reported by a $told and then shown $shown', async ({ told, shown }) => {
    const own = await charge(shop.merchant.liveKey);
    const pix = aPix();
    const { endToEndId } = pix;
    if (told === 'callback that names the charge') await tell(shop, 'callback', own, { ...pix, txid: own.txid });
    else await tell(shop, told, own, pix);
    expect(await booksOf(endToEndId)).toEqual(['unmatched']);
    for (let time = 0; time < 2; time += 1) {
      await tell(shop, 'charge', own, shown === 'whole' ? pix : { endToEndId });
      expect([await booksOf(endToEndId), await statusOf(own)]).toEqual([['credited'], 'PAID']);
    }
    const entries = await service.sql(
      `SELECT DISTINCT e.cause FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
       WHERE l.bucket = 'suspense' AND e.transaction_id = $1`,
      [own.id],
    );
    expect(entries).toHaveLength(1);
  });

  it('stays with the operators when an assignment would be refused, and its charge expires', async () => {
    const own = await charge(shop.merchant.liveKey);
    const pix = aPix({ valor: '19.91' });
    await tell(shop, 'list', own, pix);
    await tell(shop, 'charge', own, pix);
    expect([await booksOf(pix.endToEndId), await statusOf(own)]).toEqual([['unmatched'], 'WAITING_PAYMENT']);
    const asked = await service.sql('SELECT expiry_asked_at AS at FROM transactions WHERE id = $1', [own.id]);
    expect(asked).toEqual([{ at: expect.any(Date) as unknown }]);
    expect(await decide(pix.endToEndId, 'return')).toBe('applied');
  });

  it('stays with the operators when a second operator must decide about it', async () => {
    const own = await charge(shop.merchant.liveKey, { amount: 200_000 });
    const pix = aPix({ valor: '2000.00' });
    await tell(shop, 'list', own, pix);
    expect(await decide(pix.endToEndId, 'return')).toBe('waiting');
    await tell(shop, 'charge', own, pix);
    expect([await booksOf(pix.endToEndId), await statusOf(own)]).toEqual([['unmatched'], 'WAITING_PAYMENT']);
  });

  it.each(['return', 'assign'] as const)(
    'is decided about once when an operator asks to %s it at that time',
    async (kind) => {
      for (let time = 0; time < 5; time += 1) {
        const own = await charge(shop.merchant.liveKey);
        const pix = aPix();
        await tell(shop, 'list', own, pix);
        const target = kind === 'assign' ? await charge(shop.merchant.liveKey) : null;
        const [decided] = await Promise.all([decide(pix.endToEndId, kind, target), tell(shop, 'charge', own, pix)]);
        const isOperators = decided === 'applied';
        if (!isOperators) expect(decided).toBe('pix_not_in_suspense');
        expect(await statusOf(own)).toBe(isOperators ? 'WAITING_PAYMENT' : 'PAID');
        if (target) expect(await statusOf(target)).toBe(isOperators ? 'PAID' : 'WAITING_PAYMENT');
        const book = isOperators && kind === 'return' ? 'returned unmatched' : 'credited';
        expect(await booksOf(pix.endToEndId)).toEqual([book]);
      }
    },
  );
});

describe('a Pix that two connections of one account see', () => {
  it.each([
    ['is credited by the connection that made its charge', false, 'credited'],
    ['is unmatched where that connection hears that it went to another key', true, 'unmatched'],
  ])('%s', async (_, isToSecond, outcome) => {
    const first = await aShop();
    const own = await charge(first.merchant.liveKey);
    const second = await aShop(first.merchant);
    const endToEndId = newEndToEndId('12345678', service.clock.now());
    const horario = service.clock.now().toISOString();
    const pix = { endToEndId, txid: own.txid, valor: '19.90', horario, ...(isToSecond && { chave: second.pixKey }) };
    psp.pix.set(endToEndId, pix);
    await tell(second, 'callback', own, pix);
    await confirmAll();
    await confirmAll();
    const settled = await service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId]);
    expect(settled).toEqual([{ outcome }]);
    const open = await service.sql(`SELECT 1 FROM acquirer_notifications WHERE reference = $1 AND status = 'pending'`, [
      endToEndId,
    ]);
    expect(open).toEqual([]);
    await expectLedgerCoherent(service.database.url);
  });
});

describe("a Pix of an account's charge that another account's connection shows first", () => {
  let first: Shop;
  let second: Shop;
  let own: { id: string; txid: string };
  let pix: Body & { readonly endToEndId: string };

  beforeEach(async () => {
    first = await aShop();
    second = await aShop();
    own = await charge(first.merchant.liveKey);
    const now = service.clock.now();
    pix = { endToEndId: newEndToEndId('12345678', now), txid: own.txid, valor: '19.90', horario: now.toISOString() };
    psp.pix.set(pix.endToEndId, pix);
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  const statusOf = (): Promise<unknown[]> => service.sql('SELECT status FROM transactions WHERE id = $1', [own.id]);

  it.each(['as we know it', 'in capitals'])('pays that charge (txid %s)', async (letters) => {
    if (letters === 'in capitals') psp.pix.set(pix.endToEndId, { ...pix, txid: own.txid.toUpperCase() });
    await tell(second, 'callback', own, pix);
    expect(await booksOf(pix.endToEndId)).toEqual([]);
    await tell(first, 'callback', own, pix);
    await confirmAll();
    expect([await booksOf(pix.endToEndId), await statusOf()]).toEqual([['credited'], [{ status: 'PAID' }]]);
    const open = await service.sql(`SELECT 1 FROM acquirer_notifications WHERE reference = $1 AND status = 'pending'`, [
      pix.endToEndId,
    ]);
    expect(open).toEqual([]);
  });

  it('is shown to operators when it was booked for the other account, and the charge does not expire', async () => {
    await tell(second, 'callback', own, pix);
    await passPatience(pix.endToEndId);
    expect(await booksOf(pix.endToEndId)).toEqual(['unmatched']);
    await tell(first, 'callback', own, pix);
    expect(await booksOf(pix.endToEndId)).toEqual(['unmatched', 'unreadable']);
    const now = new Date(service.clock.now().getTime() + 30 * 24 * 3_600_000);
    await service.sql('UPDATE transactions SET expiry_first_asked_at = $2, expiry_asked_at = $2 WHERE id = $1', [
      own.id,
      service.clock.now(),
    ]);
    const due = { now, localAcquirers: [], scope: null, id: own.id };
    const expired = await service
      .get(Database)
      .transaction((tx) => service.get(ExpiryRepository).expireDue(tx, due, 1));
    expect([expired, await statusOf()]).toEqual([[], [{ status: 'WAITING_PAYMENT' }]]);
  });
});
