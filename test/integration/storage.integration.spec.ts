import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ObjectStorage, type Upload } from '../../src/storage/index.js';
import type { DiskLinks } from '../../src/storage/disk-links.js';
import { DiskStorage, UploadBrokenOff } from '../../src/storage/disk.storage.js';
import { StorageUnavailable } from '../../src/storage/storage.errors.js';
import { inS3, onDisk, type Place } from '../support/storage.js';
import { waitFor } from '../support/wait.js';

const BYTES = randomBytes(100_000);
const LIFETIME = 900;

const upload = (changes: Partial<Upload> = {}): Upload => ({
  key: randomUUID(),
  contentType: 'image/png',
  size: BYTES.length,
  ...changes,
});

/** Sends by hand, since fetch sets Content-Length itself. @returns the status; 0 when the connection was closed */
function put(url: string, headers: Record<string, string>, ...chunks: Buffer[]): Promise<number> {
  return new Promise((resolve) => {
    const request = httpRequest(url, { method: 'PUT', headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', () => resolve(0));
    for (const chunk of chunks) request.write(chunk);
    request.end();
  });
}

describe('a disk that is nearly full', () => {
  it('refuses uploads without room, and reserves none for an upload that stalls', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'recebe-room-'));
    const { bavail, bsize } = statfsSync(directory);
    const size = 2 ** 30;
    // Leaves room for other writers.
    const disk = new DiskStorage(directory, null as unknown as DiskLinks, bavail * bsize - 1.5 * size);
    await expect(disk.receive(upload({ size: 2 * size }), new PassThrough())).rejects.toThrow(StorageUnavailable);
    const bodies = [new PassThrough(), new PassThrough()];
    const broken = bodies.map((body) => expect(disk.receive(upload({ size }), body)).rejects.toThrow(UploadBrokenOff));
    for (const body of bodies) body.write('a');
    const incoming = join(directory, '.incoming');
    await waitFor('both to be under way', () => existsSync(incoming) && readdirSync(incoming).length === 2);
    for (const body of bodies) body.end();
    await Promise.all(broken);
    rmSync(directory, { recursive: true });
  });

  it('ends an upload when others have taken the room meanwhile', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'recebe-room-'));
    const { bavail, bsize } = statfsSync(directory);
    class Filled extends DiskStorage {
      isFull = false;
      protected override async free(): Promise<number> {
        return this.isFull ? 0 : super.free();
      }
    }
    const disk = new Filled(directory, null as unknown as DiskLinks, bavail * bsize - 2 ** 30);
    const body = new PassThrough();
    const refused = expect(disk.receive(upload({ size: 2 }), body)).rejects.toThrow(StorageUnavailable);
    const incoming = join(directory, '.incoming');
    body.write('a');
    await waitFor('it to be under way', () => existsSync(incoming) && readdirSync(incoming).length === 1);
    disk.isFull = true;
    body.write('b');
    await refused;
    expect(readdirSync(incoming)).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});

describe.each([
  ['on disk', onDisk],
  ['in an S3-compatible store', inS3],
])('files %s', (where, open) => {
  let place: Place;
  let storage: ObjectStorage;

  beforeAll(async () => {
    place = await open();
    ({ storage } = place);
  });
  afterAll(() => place.stop());

  /** Returns the file's URL as seen from outside: our own URLs are on the port of the test. */
  const reach = (url: string): string => url.replace('https://pay.example.com', place.service.url);
  const uploadUrl = async (of: Upload): Promise<string> => reach(await storage.uploadUrl(of, LIFETIME));
  const headersOf = ({ contentType, size }: Upload): Record<string, string> => ({
    'Content-Type': contentType,
    'Content-Length': String(size),
  });

  async function uploaded(bytes: Buffer = BYTES): Promise<Upload> {
    const agreed = upload({ size: bytes.length });
    expect(await put(await uploadUrl(agreed), headersOf(agreed), bytes)).toBe(200);
    return agreed;
  }

  it('are uploaded and downloaded unchanged, under the name of their sender', async () => {
    const { key } = await uploaded();
    const object = await storage.take(key);
    expect(object).toEqual({ name: expect.stringMatching(new RegExp(`^${key}/[0-9a-f-]{36}$`)), size: BYTES.length });
    const name = object?.name ?? '';
    expect(await storage.firstBytes(name, 16)).toEqual(BYTES.subarray(0, 16));
    expect((await storage.firstBytes(name, 1_000_000)).equals(BYTES)).toBe(true);

    const download = { name, contentType: 'image/png', fileName: '../../etc/comprovante de março.png' };
    const response = await fetch(reach(await storage.downloadUrl(download, 300)));
    expect(response.status).toBe(200);
    expect(BYTES.equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-length')).toBe(String(BYTES.length));
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="etc_comprovante de mar_o.png"; filename*=UTF-8''etc_comprovante%20de%20mar%C3%A7o.png`,
    );
  });

  it('written by ourselves arrive in pieces, unchanged', async () => {
    const key = randomUUID();
    const pieces = Array.from({ length: 130 }, () => BYTES);
    const chunks = async function* (): AsyncGenerator<Buffer> {
      yield* pieces;
    };
    const { name, size } = await storage.write(key, chunks());
    expect(name).toMatch(new RegExp(`^${key}/[0-9a-f-]{36}$`));
    expect(size).toBe(130 * BYTES.length);
    const download = { name, contentType: 'text/csv', fileName: 'a.csv' };
    const response = await fetch(reach(await storage.downloadUrl(download, 300)));
    expect(Buffer.concat(pieces).equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
    expect((await storage.write(randomUUID(), (async function* () {})())).size).toBe(0);
  });

  it('written by ourselves leave nothing when their source fails, and report the error', async () => {
    const key = randomUUID();
    for (const whole of [1, 130]) {
      const chunks = async function* (): AsyncGenerator<Buffer> {
        for (let piece = 0; piece < whole; piece++) yield BYTES;
        throw new RangeError('no more rows');
      };
      await expect(storage.write(key, chunks())).rejects.toThrow(new RangeError('no more rows'));
    }
    expect((await place.stored()).filter((name) => name.includes(key) || name.includes('incoming'))).toEqual([]);
  });

  it('do not exist before they are uploaded', async () => {
    expect(await storage.take(randomUUID())).toBeNull();
  });

  it('stay as they were stored, whatever is uploaded later', async () => {
    const agreed = await uploaded();
    const first = await storage.take(agreed.key);
    const other = randomBytes(BYTES.length);
    expect(await put(await uploadUrl(agreed), headersOf(agreed), other)).toBe(200);
    expect((await storage.firstBytes(first?.name ?? '', BYTES.length)).equals(BYTES)).toBe(true);
    const second = await storage.take(agreed.key);
    expect((await storage.firstBytes(second?.name ?? '', BYTES.length)).equals(other)).toBe(true);
    expect(second?.name).not.toBe(first?.name);
  });

  it('are replaced whole when the sender repeats the upload', async () => {
    const agreed = await uploaded();
    const again = randomBytes(BYTES.length);
    const url = await uploadUrl(agreed);
    expect(await put(url, headersOf(agreed), again)).toBe(200);
    const object = await storage.take(agreed.key);
    expect((await storage.firstBytes(object?.name ?? '', BYTES.length)).equals(again)).toBe(true);
  });

  describe('are refused without a trace', () => {
    let agreed: Upload;
    let url: string;
    beforeEach(async () => {
      agreed = upload();
      url = await uploadUrl(agreed);
    });

    const refusals: [string, (agreed: Upload) => [Record<string, string>, Buffer]][] = [
      ['of another type', (of) => [{ ...headersOf(of), 'Content-Type': 'image/jpeg' }, BYTES]],
      ['without a type', (of) => [{ 'Content-Length': String(of.size) }, BYTES]],
      [
        'a byte larger',
        () => [headersOf(upload({ size: BYTES.length + 1 })), Buffer.concat([BYTES, BYTES.subarray(0, 1)])],
      ],
      ['a byte smaller', () => [headersOf(upload({ size: BYTES.length - 1 })), BYTES.subarray(1)]],
      ['without a size', (of) => [{ 'Content-Type': of.contentType, 'Transfer-Encoding': 'chunked' }, BYTES]],
      ['empty', () => [headersOf(upload({ size: 0 })), Buffer.alloc(0)]],
      ['with a token', (of) => [{ ...headersOf(of), Authorization: 'Bearer a.b.c' }, BYTES]],
    ];
    it.each(refusals)('when the upload is %s', async (_what, request) => {
      const [headers, bytes] = request(agreed);
      expect([400, 403]).toContain(await put(url, headers, bytes));
      expect((await place.stored()).filter((name) => name.includes(agreed.key))).toEqual([]);
    });

    it('when the key, size or type differs from the signed one', async () => {
      const changes: [string, string][] = [
        [agreed.key, randomUUID()],
        [String(BYTES.length), String(BYTES.length + 1)],
        ['image%2Fpng', 'text%2Fhtml'],
      ];
      for (const [from, to] of changes) {
        const changed = url.replace(from, to);
        if (changed === url) continue;
        expect([403, 404]).toContain(await put(changed, headersOf(agreed), BYTES));
      }
    });

    it('when the sender hangs up', async () => {
      await new Promise<void>((resolve) => {
        const request = httpRequest(url, { method: 'PUT', headers: headersOf(agreed), agent: false });
        request.on('error', () => resolve());
        request.write(BYTES.subarray(0, 50_000), () => request.destroy(new Error('gone')));
      });
      expect(await storage.take(agreed.key)).toBeNull();
      await waitFor('the rest to be removed', async () =>
        (await place.stored()).every((name) => !name.includes(agreed.key) && !name.startsWith('.incoming')),
      );
    });

    it('when sent after 900 seconds', async () => {
      const { clock } = place.service;
      // The store has its own clock, so the URL is made in the past instead.
      clock.advance(-LIFETIME - 1);
      const old = await uploadUrl(agreed);
      clock.advance(LIFETIME + 1);
      expect(await put(old, headersOf(agreed), BYTES)).toBe(403);
      clock.advance(-LIFETIME + 30);
      const young = await uploadUrl(agreed);
      clock.advance(LIFETIME - 30);
      expect(await put(young, headersOf(agreed), BYTES)).toBe(200);
    });
  });

  it('are hidden from a changed URL, and after its time', async () => {
    const { clock } = place.service;
    const { key } = await uploaded();
    const name = (await storage.take(key))?.name ?? '';
    const download = { name, contentType: 'image/png', fileName: 'a.png' };
    const url = reach(await storage.downloadUrl(download, 300));
    for (const [from, to] of [
      [key, randomUUID()],
      ['image%2Fpng', 'text%2Fhtml'],
      ['a.png', 'a.exe'],
    ] as const) {
      const changed = url.replace(from, to);
      expect(changed).not.toBe(url);
      const { status } = await fetch(changed);
      expect([403, 404]).toContain(status);
    }
    clock.advance(-301);
    const old = reach(await storage.downloadUrl(download, 300));
    clock.advance(301);
    expect((await fetch(old)).status).toBe(403);
    expect((await fetch(url)).status).toBe(200);
  });

  it('have one URL for each purpose: an upload URL does not read, a download URL does not write', async () => {
    const agreed = await uploaded();
    const object = await storage.take(agreed.key);
    const download = { name: object?.name ?? '', contentType: 'image/png', fileName: 'a.png' };
    const down = reach(await storage.downloadUrl(download, 300));
    expect([403, 404]).toContain(await put(down, headersOf(agreed), BYTES));
    expect([403, 404]).toContain((await fetch(await uploadUrl(agreed))).status);
  });

  it('are reduced to the kept one when closed, and closing again removes later ones', async () => {
    const agreed = await uploaded();
    const url = await uploadUrl(agreed);
    const kept = (await storage.take(agreed.key))?.name ?? '';
    await storage.take(agreed.key);
    await storage.close(agreed.key, kept);
    const mine = async (): Promise<string[]> => (await place.stored()).filter((name) => name.includes(agreed.key));
    expect(await mine()).toEqual([kept]);
    const again = await put(url, headersOf(agreed), randomBytes(BYTES.length));
    expect(again).toBe(where === 'on disk' ? 409 : 200);
    await storage.close(agreed.key, kept);
    expect(await mine()).toEqual([kept]);
    expect((await storage.firstBytes(kept, BYTES.length)).equals(BYTES)).toBe(true);
    await storage.remove(kept);
    await storage.remove(kept);
    expect(await mine()).toEqual([]);
  });

  it('are removed without a trace when they are closed and none is kept', async () => {
    const { key } = await uploaded();
    await storage.take(key);
    await storage.close(key, null);
    await storage.close(key, null);
    expect((await place.stored()).filter((name) => name.includes(key))).toEqual([]);
    expect(await storage.take(key)).toBeNull();
  });

  it.each(['down', 'error'] as const)(
    'are a 503 while the store is gone (%s), and available again after it',
    async (fault) => {
      const { key } = await uploaded();
      const kept = (await storage.take(key))?.name ?? '';
      const untilReadyTells = (told: object): Promise<unknown> =>
        waitFor(`readiness to tell ${JSON.stringify(told)}`, async () => {
          const { body } = await place.service.call<object>('GET', '/health/ready');
          return Object.entries(told).every((entry) => Reflect.get(body, entry[0]) === entry[1]);
        });
      await untilReadyTells({ status: 'up', storage: 'up' });
      await place.fail(fault);
      try {
        const unavailable = { status: 503, type: 'api_error', code: 'service_unavailable' };
        await expect(storage.take(key)).rejects.toMatchObject(unavailable);
        await expect(storage.firstBytes(kept, 16)).rejects.toMatchObject(unavailable);
        await expect(storage.close(key, kept)).rejects.toMatchObject(unavailable);
        await expect(storage.check()).rejects.toMatchObject(unavailable);
        await untilReadyTells({ status: 'up', database: 'up', storage: 'down' });
      } finally {
        await place.mend();
      }
      await untilReadyTells({ status: 'up', storage: 'up' });
      expect((await storage.firstBytes(kept, BYTES.length)).equals(BYTES)).toBe(true);
    },
  );
});

describe('a store that does not answer', () => {
  it('is given up after seconds, while nothing else waits for it', async () => {
    const place = await inS3();
    await place.fail('silence');
    const ready = place.service.call('GET', '/health/ready');
    let isGivenUp = false;
    const check = place.storage.check().finally(() => (isGivenUp = true));
    expect((await ready).body).toMatchObject({ status: 'up', storage: 'down' });
    // Two tries of five seconds; the answer comes after two seconds.
    expect(isGivenUp).toBe(false);
    await expect(check).rejects.toMatchObject({ status: 503 });
    await place.stop();
  });
});

describe('files on disk', () => {
  let place: Place;
  let root: string;

  beforeAll(async () => {
    place = await onDisk();
    const { storage } = place.service.runtime.resources.config;
    root = storage.kind === 'disk' ? storage.directory : '';
  });
  afterAll(() => place.stop());

  it('explain why their URL takes no key', async () => {
    const agreed = upload();
    const url = new URL(await place.storage.uploadUrl(agreed, LIFETIME));
    const answer = await place.service.call('PUT', `${url.pathname}${url.search}`, {
      key: `ak_test_${'A'.repeat(32)}`,
      rawBody: BYTES,
      headers: { 'content-type': 'image/png' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringContaining('signature is the credential') },
    });
    expect(await place.storage.take(agreed.key)).toBeNull();
  });

  it('are served with headers that forbid running anything', async () => {
    const agreed = upload();
    const url = new URL(await place.storage.uploadUrl(agreed, LIFETIME));
    const headers = { 'content-type': 'image/png' };
    await place.service.call('PUT', `${url.pathname}${url.search}`, { rawBody: BYTES, headers });
    const name = (await place.storage.take(agreed.key))?.name ?? '';
    const view = new URL(await place.storage.downloadUrl({ name, contentType: 'image/png', fileName: 'a' }, 300));
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${place.service.url}${view.pathname}${view.search}`, { method });
      expect(answer.status).toBe(200);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
        'content-length': String(BYTES.length),
      });
      await answer.arrayBuffer();
    }
  });

  it('left half uploaded by a crash are swept after an hour, and not before', async () => {
    await place.storage.check();
    const [old, young] = [join(root, '.incoming', 'old'), join(root, '.incoming', 'young')];
    for (const path of [old, young]) writeFileSync(path, 'half');
    const hourAgo = new Date(Date.now() - 3_601_000);
    utimesSync(old, hourAgo, hourAgo);
    place.service.runtime.resources.poller.wake('storage.sweep');
    await waitFor('the old one to go', () => !readdirSync(join(root, '.incoming')).includes('old'));
    expect(readdirSync(join(root, '.incoming'))).toEqual(['young']);
    rmSync(young);
  });

  it('never have paths from a user', async () => {
    for (const key of ['..', '../x', 'a/b', '', 'closed']) await expect(place.storage.take(key)).rejects.toThrow();
    for (const name of ['x', '../../etc/passwd', `${randomUUID()}/../x`, `${randomUUID()}/upload`]) {
      await expect(place.storage.firstBytes(name, 1)).rejects.toThrow();
    }
  });
});
