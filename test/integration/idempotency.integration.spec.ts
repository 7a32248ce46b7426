import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/core/config/index.js';
import { fingerprintOf, SecretBox } from '../../src/core/crypto/index.js';
import { type Database, type Reader, read, write } from '../../src/core/database/index.js';
import { ApiError } from '../../src/core/errors/index.js';
import { HashKeys, HashKeysRepository } from '../../src/core/hash-keys/index.js';
import {
  type Admission,
  type Answer,
  type Claim,
  IdempotencyRepository,
  IdempotencyService,
  type IdempotentAnswer,
  type IdempotentRequest,
  KeyChanged,
} from '../../src/core/idempotency/index.js';
import { Poller } from '../../src/core/queue/index.js';
import { Retention } from '../../src/core/retention.js';
import { Gate, NO_PROVIDERS, SILENT, TestSchema } from '../support/schema.js';
import { TestClock } from '../support/service.js';

const MAKE = write('spec.make', 'INSERT INTO things (id) VALUES ($1)');
const raw = (text: string): ReturnType<typeof read> => read('', text);

const FINGERPRINTS = 'SELECT fingerprint AS hash FROM idempotency_keys';
const OLD = `old:${'5a'.repeat(32)}`;
const NEW = `new:${'6b'.repeat(32)}`;

interface Body {
  id: string;
}

/** Steps that a test may add to the creation of a thing */
interface Steps {
  /** Admits a new request, or refuses it. */
  admit?: () => Promise<Admission>;
  /** Throws before the key is taken. */
  refused?: () => void;
  /** Waits with the key taken and nothing committed. */
  uncommitted?: () => Promise<void>;
  /** Commits the thing without an answer, as before a call to an acquirer, and then runs this. */
  committed?: (id: string, claim: Claim) => Promise<Answer<Body>>;
}

type Resume = (id: string, claim: Claim) => Promise<Answer<Body> | null>;

describe('idempotency', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;
  let clock: TestClock;
  let service: IdempotencyService;
  let retention: Retention;

  beforeAll(async () => {
    schema = await TestSchema.open('CREATE TABLE things (id uuid PRIMARY KEY)');
    ({ database, reader } = await schema.connect(40));
  });
  afterAll(() => schema.close());
  beforeEach(async () => {
    clock = new TestClock();
    const config = readConfig({ ALLOW_INSECURE: 'true', DATABASE_URL: 'postgres://unused/unused' });
    const keys = await keysWith(OLD);
    retention = new Retention(config, database, new Poller({ logger: SILENT }), clock, NO_PROVIDERS);
    retention.keep(keys);
    service = new IdempotencyService(database, keys, clock);
    await schema.database.pool.query('TRUNCATE things, idempotency_keys');
  });

  async function keysWith(encryptionKey: string): Promise<IdempotencyRepository> {
    const secrets = new SecretBox(encryptionKey);
    const hashes = new HashKeys(secrets, new HashKeysRepository(), database, clock);
    await hashes.onModuleInit();
    return new IdempotencyRepository(reader, secrets, hashes);
  }

  const request = (changes: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
    accountId: randomUUID(),
    mode: 'test',
    operation: 'things.create',
    key: 'key-00000001',
    fingerprint: fingerprintOf({ amount: 1 }),
    ...changes,
  });

  const complete = (id: string, claim: Claim): Promise<Answer<Body>> =>
    database.transaction(async (tx) => {
      const answer = { status: 201, body: { id } };
      claim.complete(tx, answer);
      return answer;
    });

  /** Continues a request as a service does. */
  async function once(asked: IdempotentRequest, steps: Steps, resume: Resume): Promise<IdempotentAnswer<Body>> {
    const begun = await service.begin<Body>(asked);
    if (begun.kind === 'replay') return begun.answer;
    const { claim } = begun;
    if (begun.kind === 'resume') {
      const answer = await resume(begun.resourceId, claim);
      if (!answer) throw new KeyChanged();
      return { ...answer, replayed: true };
    }
    try {
      claim.admission = (await steps.admit?.()) ?? null;
      steps.refused?.();
      const id = randomUUID();
      const answer = { status: 201, body: { id } };
      await database.transaction(async (tx) => {
        claim.take(tx, id, steps.committed ? null : answer);
        await tx.query(MAKE, [id]);
        await steps.uncommitted?.();
      });
      return { ...(steps.committed ? await steps.committed(id, claim) : answer), replayed: false };
    } catch (error) {
      throw await service.failed(error, claim);
    }
  }

  /** Repeats a request as the interceptor does. */
  async function run(
    asked: IdempotentRequest,
    steps: Steps = {},
    resume: Resume = complete,
  ): Promise<IdempotentAnswer<Body>> {
    for (;;) {
      try {
        return await once(asked, steps, resume);
      } catch (error) {
        if (!(error instanceof KeyChanged)) throw error;
      }
    }
  }

  const things = async (): Promise<string[]> =>
    (await reader.query<{ id: string }>(raw('SELECT id FROM things ORDER BY id'), [])).map((row) => row.id);
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'answered',
      (error: unknown) => (error instanceof ApiError ? error.code : error),
    );

  it('does the work once and repeats its answer', async () => {
    const asked = request();
    const first = await run(asked);
    expect(first).toEqual({ status: 201, body: { id: expect.any(String) }, replayed: false });
    expect(await run(asked)).toEqual({ ...first, replayed: true });
    expect(await things()).toEqual([first.body.id]);
  });

  it('refuses another body under the key, before and after the answer', async () => {
    const asked = request();
    await run(asked);
    const other = { ...asked, fingerprint: fingerprintOf({ amount: 2 }) };
    await expect(run(other)).rejects.toMatchObject({
      status: 409,
      type: 'idempotency_error',
      code: 'idempotency_key_reused',
    });
    const unanswered = request();
    await run(unanswered, {
      committed: async (id, claim) => {
        expect(await codeOf(run({ ...unanswered, fingerprint: other.fingerprint }))).toBe('idempotency_key_reused');
        return complete(id, claim);
      },
    });
    expect(await things()).toHaveLength(2);
  });

  it('stores a fingerprint that the body alone does not give, and another one for each key', async () => {
    await Promise.all([run(request()), run(request({ key: 'key-00000002' }))]);
    const hashes = (await reader.query<{ hash: Buffer }>(raw(FINGERPRINTS), [])).map(({ hash }) =>
      hash.toString('hex'),
    );
    expect(new Set([...hashes, request().fingerprint.toString('hex')]).size).toBe(3);
  });

  it('knows the body of a row from before fingerprints were keyed', async () => {
    const asked = request();
    const first = await run(asked);
    await schema.database.pool.query('UPDATE idempotency_keys SET fingerprint = $1', [asked.fingerprint]);
    expect(await run(asked)).toEqual({ ...first, replayed: true });
    expect(await codeOf(run({ ...asked, fingerprint: fingerprintOf({ amount: 2 }) }))).toBe('idempotency_key_reused');
  });

  it('knows the body of a row whose hash key is not the newest one', async () => {
    const asked = request();
    const first = await run(asked);
    await keysWith(NEW);
    service = new IdempotencyService(database, await keysWith(`${NEW},${OLD}`), clock);
    expect(await run(asked)).toEqual({ ...first, replayed: true });
    expect(await codeOf(run({ ...asked, fingerprint: fingerprintOf({ amount: 2 }) }))).toBe('idempotency_key_reused');
  });

  it('limits a key to its account, mode and operation', async () => {
    const asked = request();
    const others = [
      { accountId: randomUUID() },
      { mode: 'live' as const },
      { operation: 'other' },
      { key: 'KEY-00000001' },
    ];
    await run(asked);
    for (const other of others) expect((await run({ ...asked, ...other })).replayed).toBe(false);
    expect(await things()).toHaveLength(5);
  });

  it('answers 30 simultaneous requests under one key with one result', async () => {
    const asked = request();
    const answers = await Promise.all(Array.from({ length: 30 }, () => run(asked)));
    const [id] = await things();
    expect(await things()).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.body.id))).toEqual(new Set([id]));
    expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);
  });

  it('lets a request wait for a twin that has not committed yet, and repeats its answer', async () => {
    const asked = request();
    const [taken, gate] = [new Gate(), new Gate()];
    const first = run(asked, { uncommitted: () => (taken.open(), gate.opened) });
    await taken.opened;
    const twin = run(asked);
    gate.open();
    expect(await twin).toEqual({ ...(await first), replayed: true });
    expect(await things()).toHaveLength(1);
  });

  it('lets a waiting request run when its twin rolls back', async () => {
    const asked = request();
    const [taken, gate] = [new Gate(), new Gate()];
    const first = run(asked, {
      uncommitted: async () => {
        taken.open();
        await gate.opened;
        throw new Error('crashed');
      },
    });
    await taken.opened;
    const twin = run(asked);
    gate.open();
    await expect(first).rejects.toThrow('crashed');
    expect((await twin).replayed).toBe(false);
    expect(await things()).toEqual([(await twin).body.id]);
  });

  it('lets a request wait for the unknown outcome of its twin, and repeats its answer', async () => {
    const asked = request();
    let twin: Promise<IdempotentAnswer<Body>> | undefined;
    const first = await run(asked, {
      committed: (id, claim) => {
        twin = run(asked);
        return complete(id, claim);
      },
    });
    expect(await twin).toEqual({ ...first, replayed: true });
    expect(await things()).toHaveLength(1);
  });

  it('answers a request after 10 s that its twin is still in progress', async () => {
    const asked = request();
    await run(asked, {
      committed: async (id, claim) => {
        await expect(run(asked)).rejects.toMatchObject({
          status: 409,
          type: 'idempotency_error',
          code: 'idempotency_key_in_use',
          headers: { 'Retry-After': '1' },
        });
        return complete(id, claim);
      },
    });
  });

  describe('when the first request died before it had an answer', () => {
    /** Leaves a thing and its key without an answer. */
    async function die(asked: IdempotentRequest): Promise<string> {
      await expect(run(asked, { committed: () => Promise.reject(new Error('killed')) })).rejects.toThrow('killed');
      const [id = ''] = await things();
      return id;
    }

    it('lets one of many repetitions continue with its result, once the lease has run out', async () => {
      const asked = request();
      const id = await die(asked);
      clock.advance(41);
      const resumed: string[] = [];
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          run(asked, {}, (found, claim) => {
            resumed.push(found);
            return complete(found, claim);
          }),
        ),
      );
      expect(resumed).toEqual([id]);
      expect(answers).toEqual(answers.map(() => ({ status: 201, body: { id }, replayed: true })));
      expect(await things()).toEqual([id]);
    });

    it('renews the lease, so that a repetition that dies is continued too', async () => {
      const asked = request();
      const id = await die(asked);
      clock.advance(41);
      await expect(run(asked, {}, () => Promise.reject(new Error('killed again')))).rejects.toThrow('killed again');
      let resumed = 0;
      const waiting = run(asked, {}, (found, claim) => {
        resumed++;
        return complete(found, claim);
      });
      expect(resumed).toBe(0);
      clock.advance(41);
      expect((await waiting).body.id).toBe(id);
      expect(resumed).toBe(1);
    });

    it('lets the next repetition continue at once when the outcome was handed on', async () => {
      const asked = request();
      const handedOn = run(asked, {
        committed: async (_id, claim) => {
          await database.transaction(async (tx) => claim.handOn(tx));
          throw new Error('unknown');
        },
      });
      await expect(handedOn).rejects.toThrow('unknown');
      const [id] = await things();
      expect((await run(asked)).body.id).toBe(id);
      expect(await things()).toHaveLength(1);
    });

    it('frees the key and starts anew when the first request made nothing', async () => {
      const asked = request();
      const id = await die(asked);
      clock.advance(41);
      const answer = await run(asked, {}, async (found, claim) => {
        await database.transaction(async (tx) => claim.release(tx, found));
        return null;
      });
      expect(answer.replayed).toBe(false);
      expect(answer.body.id).not.toBe(id);
      expect(await run(asked)).toEqual({ ...answer, replayed: true });
    });

    it('forbids the first request to answer or free the key after its successor has', async () => {
      const asked = request();
      const answered = await run(asked, {
        committed: async (id, claim) => {
          clock.advance(41);
          const first = await run(asked);
          expect(first).toEqual({ status: 201, body: { id }, replayed: true });
          // The first request was slow, not dead.
          await expect(database.transaction((tx) => claim.hold(tx, id))).rejects.toBeInstanceOf(KeyChanged);
          await database.transaction(async (tx) => claim.release(tx, id));
          return first;
        },
      });
      expect((await run(asked)).body).toEqual(answered.body);
      expect(await things()).toHaveLength(1);
    });
  });

  it('stores no refusal: the key is free for a corrected request', async () => {
    const asked = request();
    const refused = run(asked, {
      committed: async (id, claim) => {
        await database.transaction(async (tx) => claim.release(tx, id));
        throw new Error('refused');
      },
    });
    await expect(refused).rejects.toThrow('refused');
    const corrected = await run({ ...asked, fingerprint: fingerprintOf({ amount: 2 }) });
    expect(corrected.replayed).toBe(false);
  });

  it('passes an error of the work on unchanged, and stores nothing', async () => {
    const asked = request();
    const error = new Error('mine');
    await expect(run(asked, { uncommitted: () => Promise.reject(error) })).rejects.toBe(error);
    expect(await things()).toEqual([]);
    expect((await run(asked)).replayed).toBe(false);
  });

  it('replays for 24 hours only; afterwards another body is a new request', async () => {
    const asked = request();
    const first = await run(asked);
    clock.advance(24 * 3600 - 60);
    expect((await run(asked)).body).toEqual(first.body);
    clock.advance(61);
    const [later, twin] = await Promise.all([
      run({ ...asked, fingerprint: fingerprintOf({ amount: 2 }) }),
      run({ ...asked, fingerprint: fingerprintOf({ amount: 2 }) }),
    ]);
    expect(later.body.id).not.toBe(first.body.id);
    expect(twin.body).toEqual(later.body);
    expect([later.replayed, twin.replayed].sort()).toEqual([false, true]);
    expect(await things()).toHaveLength(2);
  });

  it('replays a permanent key permanently, and after a day rebuilds the answer from the stored result', async () => {
    const asked = request({ permanent: true });
    const first = await run(asked);
    const kept = async (): Promise<unknown> =>
      reader.query(raw('SELECT response_status AS status, response_body AS body FROM idempotency_keys'), []);
    clock.advance(86_400 - 1);
    expect(await retention.remove('permanent_answers')).toBe(false);
    expect(await run(asked)).toEqual({ ...first, replayed: true });
    clock.advance(41);
    expect(await retention.remove('permanent_answers')).toBe(false);
    expect(await kept()).toEqual([{ status: 201, body: null }]);
    clock.advance(10 * 365 * 86_400);
    expect(await retention.remove('idempotency_keys')).toBe(false);
    const again = (id: string): Promise<Answer<Body>> => Promise.resolve({ status: 201, body: { id } });
    expect(await run(asked, {}, again)).toEqual({ ...first, replayed: true });
    await expect(run({ ...asked, fingerprint: fingerprintOf({ amount: 2 }) })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(await things()).toEqual([first.body.id]);
    expect(await kept()).toEqual([{ status: 201, body: null }]);
  });

  it('removes only expired keys', async () => {
    await Promise.all([run(request()), run(request())]);
    clock.advance(12 * 3600);
    const young = request();
    await run(young);
    clock.advance(12 * 3600 + 1);
    expect(await retention.remove('idempotency_keys')).toBe(false);
    const left = await reader.query(raw('SELECT account_id FROM idempotency_keys'), []);
    expect(left).toEqual([{ account_id: young.accountId }]);
  });

  describe('with a guard before new requests', () => {
    let counted: number;
    let open: boolean;
    const refusal = new ApiError(403, 'fraud_error', 'refused', 'Refused.');
    const admit = async (): Promise<Admission> => {
      if (!open) throw refusal;
      counted += 1;
      return { undo: async () => void (counted -= 1) };
    };
    beforeEach(() => {
      counted = 0;
      open = true;
    });

    it('stores nothing about a refused request, so that it may be repeated', async () => {
      const asked = request();
      open = false;
      await expect(run(asked, { admit })).rejects.toBe(refusal);
      expect(await reader.query(raw('SELECT 1 FROM idempotency_keys'), [])).toEqual([]);
      open = true;
      expect(await run(asked, { admit })).toMatchObject({ status: 201, replayed: false });
      expect(counted).toBe(1);
    });

    it('replays earlier answers and refuses another body first', async () => {
      const asked = request();
      const first = await run(asked, { admit });
      open = false;
      expect(await run(asked, { admit })).toEqual({ ...first, replayed: true });
      const other = { ...asked, fingerprint: fingerprintOf({ amount: 2 }) };
      expect(await codeOf(run(other, { admit }))).toBe('idempotency_key_reused');
      // The key is free again a day later: this is a new request.
      clock.advance(24 * 3600);
      await expect(run(asked, { admit })).rejects.toBe(refusal);
      expect(counted).toBe(1);
    });

    it('admits a request whose twin was admitted before the guard closed', async () => {
      const asked = request();
      let first: IdempotentAnswer<Body> | undefined;
      const closing = async (): Promise<Admission> => {
        first = await run(asked, { admit });
        throw refusal;
      };
      expect(await run(asked, { admit: closing })).toEqual({ ...first, replayed: true });
      expect(await things()).toHaveLength(1);
      expect(counted).toBe(1);
    });

    it('lets a repetition finish an unfinished request after the guard closed', async () => {
      const asked = request();
      const died = new Error('died');
      await expect(run(asked, { admit, committed: () => Promise.reject(died) })).rejects.toBe(died);
      open = false;
      clock.advance(60);
      expect(await run(asked, { admit })).toMatchObject({ status: 201, replayed: true });
    });

    it('counts created results, and no failure, repetition or conflict', async () => {
      const asked = request();
      await run(asked, { admit });
      expect(counted).toBe(1);
      clock.advance(60);
      await run(asked, { admit });
      expect(counted).toBe(1);
      expect(await codeOf(run({ ...asked, fingerprint: fingerprintOf({ amount: 2 }) }, { admit }))).toBe(
        'idempotency_key_reused',
      );
      expect(counted).toBe(1);
      const failure = new Error('failed');
      await expect(run(request(), { admit, uncommitted: () => Promise.reject(failure) })).rejects.toBe(failure);
      expect(counted).toBe(1);
    });

    it('gives its count back for a refusal before the key is taken, but not for a repetition', async () => {
      const asked = request();
      const late = new ApiError(422, 'business_error', 'late', 'Late.');
      const refused = (): never => {
        throw late;
      };
      await expect(run(asked, { admit, refused })).rejects.toBe(late);
      expect(counted).toBe(0);
      const first = await run(asked, { admit });
      clock.advance(60);
      expect(await run(asked, { admit, refused })).toEqual({ ...first, replayed: true });
      expect(counted).toBe(1);
    });

    it('counts a request of unknown outcome, and one that is made in place of one without result', async () => {
      const asked = request();
      const died = new Error('died');
      await expect(run(asked, { admit, committed: () => Promise.reject(died) })).rejects.toBe(died);
      expect(counted).toBe(1);
      clock.advance(60);
      const freed = async (id: string, claim: Claim): Promise<null> => {
        await database.transaction(async (tx) => claim.release(tx, id));
        return null;
      };
      expect(await run(asked, { admit }, freed)).toMatchObject({ status: 201, replayed: false });
      expect(counted).toBe(2);
    });

    it('keeps its count for simultaneous twins, since nobody knows which one made the result', async () => {
      const asked = request();
      const answers = await Promise.all(Array.from({ length: 5 }, () => run(asked, { admit })));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(counted).toBe(5);
    });
  });
});
