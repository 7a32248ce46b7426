import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ObjectStorage } from '../../../src/storage/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  anUpload,
  complete,
  type EvidenceAnswer,
  listEvidence,
  png,
  reach,
  requestUpload,
  type TicketAnswer,
  upload,
} from '../../support/evidence.js';
import { aDisputedCharge, answerCase, happens, type MedCaseAnswer } from '../../support/med.js';
import { type Answer, TestService } from '../../support/service.js';
import { inS3, onDisk, type Place } from '../../support/storage.js';
import { waitFor } from '../../support/wait.js';

const BYTES = png(1000);
const CLEANUP = 'work';

interface ErrorAnswer {
  error: { type: string; code: string; message: string; param?: string; details?: object[] };
}

function expectError(answer: Answer<ErrorAnswer>, status: number, type: string, code: string): void {
  expect({ status: answer.status, ...answer.body.error }).toMatchObject({ status, type, code });
}

describe.each([
  ['on disk', onDisk],
  ['in an S3-compatible store', inS3],
])('evidence %s', (where, open) => {
  let place: Place;
  let service: TestService;
  let key: string;
  let medCase: MedCaseAnswer;

  beforeAll(async () => {
    place = await open();
    ({ service } = place);
  });
  afterAll(() => place.stop());
  beforeEach(async () => {
    key = (await service.merchant()).testKey;
    ({ medCase } = await aDisputedCharge(service, key));
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  const ticketFor = async (body: Record<string, unknown> = {}): Promise<TicketAnswer> => {
    const { status, body: ticket } = await requestUpload(service, key, medCase.id, body);
    expect(status).toBe(201);
    return ticket;
  };
  const counted = async (): Promise<number> =>
    (await service.call<MedCaseAnswer>('GET', `/v1/med/cases/${medCase.id}`, { key })).body.evidence_count;
  const storedOf = async ({ id }: { id: string }): Promise<string[]> =>
    (await place.stored()).filter((name) => name.startsWith(id));
  const completed = async ({ id }: { id: string }): Promise<EvidenceAnswer> => {
    const { status, body } = await complete(service, key, medCase.id, id);
    expect(status).toBe(200);
    return body;
  };

  it('is requested, uploaded and completed in three steps', async () => {
    const asked = await requestUpload(service, key, medCase.id, { file_name: 'comprovante.png' });
    expect(asked.status).toBe(201);
    expect(asked.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      object: 'med_case_evidence_upload',
      upload_url: expect.stringMatching(
        where === 'on disk' ? /^https:\/\/pay\.example\.com\/storage\// : /X-Amz-Signature/,
      ),
      upload_method: 'PUT',
      upload_headers: { 'Content-Type': 'image/png', 'Content-Length': '1000' },
      expires_in: 900,
    });
    expect(await listEvidence(service, key, medCase.id)).toEqual([]);
    expectError(
      await complete<ErrorAnswer>(service, key, medCase.id, asked.body.id),
      409,
      'conflict_error',
      'EVIDENCE_NOT_UPLOADED',
    );

    expect((await upload(service, asked.body, BYTES)).status).toBe(200);
    expect(await listEvidence(service, key, medCase.id)).toEqual([]);
    expect(await counted()).toBe(0);

    const evidence = await completed(asked.body);
    expect(evidence).toEqual({
      id: asked.body.id,
      object: 'med_case_evidence',
      file_name: 'comprovante.png',
      file_size: 1000,
      mime_type: 'image/png',
      uploaded_by: 'merchant',
      created_at: expect.stringMatching(/Z$/),
      uploaded_at: expect.stringMatching(/Z$/),
      view_url: expect.stringMatching(/^https?:/),
    });
    expect(await counted()).toBe(1);
    const { view_url, ...rest } = evidence;
    for (const path of ['/v1/med/cases', '/v1/infractions']) {
      const { body } = await service.call('GET', `${path}/${medCase.id}/evidence`, { key });
      expect(body).toEqual({ object: 'list', data: [{ ...rest, view_url: expect.any(String) }] });
    }

    const file = await fetch(reach(service, view_url));
    expect(file.status).toBe(200);
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(file.headers.get('content-disposition')).toContain('filename="comprovante.png"');
    expect(BYTES.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
    // The storage keeps only the file that was checked.
    expect(await storedOf(evidence)).toHaveLength(1);

    const second = await completed({ id: await anUpload(service, key, medCase.id) });
    expect((await listEvidence(service, key, medCase.id)).map(({ id }) => id)).toEqual([second.id, evidence.id]);
    expect(await counted()).toBe(2);
  });

  it('keeps its name exactly as written', async () => {
    for (const file_name of ['recibo\n.png', '\u202egnp.exe', 'a\u0000.png']) {
      const answer = await requestUpload<ErrorAnswer>(service, key, medCase.id, { file_name });
      expectError(answer, 400, 'invalid_request_error', 'invalid_request');
      expect(answer.body.error.param).toBe('file_name');
    }
  });

  it('works equally through /v1/infractions', async () => {
    const path = `/v1/infractions/${medCase.id}/evidence`;
    const body = { file_name: 'a.png', file_size: 1000, mime_type: 'image/png' };
    const { status, body: ticket } = await service.call<TicketAnswer>('POST', path, { key, body });
    expect(status).toBe(201);
    await upload(service, ticket, BYTES);
    expect((await service.call('POST', `${path}/${ticket.id}/complete`, { key })).status).toBe(200);
    expect(await counted()).toBe(1);
  });

  it.each([
    ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF'],
    ['image/gif', 'GIF89a'],
    ['image/webp', 'RIFF\0\0\0\0WEBP'],
    ['application/pdf', '%PDF-1.7\n'],
  ])('may have the type %s', async (mime_type, start) => {
    const bytes = Buffer.alloc(500);
    bytes.write(start, 'latin1');
    const ticket = await ticketFor({ mime_type, file_size: 500, file_name: 'file' });
    expect((await upload(service, ticket, bytes)).status).toBe(200);
    expect((await completed(ticket)).mime_type).toBe(mime_type);
  });

  it('refuses an upload of another type or size, or one that shows a key', async () => {
    const ticket = await ticketFor();
    const refused: [Buffer, Record<string, string>][] = [
      [BYTES, { 'Content-Type': 'image/jpeg' }],
      [BYTES, { 'Content-Type': 'application/octet-stream' }],
      [png(1001), {}],
      [png(999), {}],
      [BYTES, { Authorization: `Bearer ${key}` }],
    ];
    // A store elsewhere does not know our keys; the documentation says not to send them there.
    if (where === 'on disk') refused.push([BYTES, { apikey: key }]);
    for (const [bytes, headers] of refused) {
      const { status } = await upload(service, ticket, bytes, headers);
      expect([400, 403]).toContain(status);
    }
    expect(await storedOf(ticket)).toEqual([]);
    const answer = await complete<ErrorAnswer>(service, key, medCase.id, ticket.id);
    expectError(answer, 409, 'conflict_error', 'EVIDENCE_NOT_UPLOADED');
    expect(await counted()).toBe(0);
  });

  it('refuses content of another type than declared, and accepts a second upload', async () => {
    const ticket = await ticketFor();
    const page = Buffer.alloc(1000, ' ');
    page.write('<html><script>alert(1)</script>');
    expect((await upload(service, ticket, page)).status).toBe(200);
    const answer = await complete<ErrorAnswer>(service, key, medCase.id, ticket.id);
    expectError(answer, 400, 'invalid_request_error', 'invalid_request');
    expect(answer.body.error.param).toBe('mime_type');
    expect(await counted()).toBe(0);
    // The copy that was checked is gone.
    expect(await storedOf(ticket)).toEqual([`${ticket.id}/upload`]);
    expect((await upload(service, ticket, BYTES)).status).toBe(200);
    await completed(ticket);
  });

  it('is too late after 900 seconds, even when the file was uploaded', async () => {
    const { clock } = service;
    const ticket = await ticketFor();
    expect((await upload(service, ticket, BYTES)).status).toBe(200);
    clock.advance(899);
    const young = await ticketFor();
    clock.advance(1);
    try {
      const late = await complete<ErrorAnswer>(service, key, medCase.id, ticket.id);
      expectError(late, 409, 'conflict_error', 'EVIDENCE_NOT_UPLOADED');
      if (where === 'on disk') expect((await upload(service, ticket, BYTES)).status).toBe(403);
    } finally {
      clock.advance(-900);
    }
    expect((await upload(service, young, BYTES)).status).toBe(200);
    await completed(young);
    expect(await counted()).toBe(1);
  });

  it('is checked twenty times at once, and then once a minute', async () => {
    const { body: ticket } = await requestUpload(service, key, medCase.id, { file_size: 1000 });
    await upload(service, ticket, Buffer.alloc(1000, 'x'));
    const statuses: number[] = [];
    for (let n = 0; n < 21; n++) statuses.push((await complete(service, key, medCase.id, ticket.id)).status);
    expect(statuses).toEqual([...Array<number>(20).fill(400), 429]);
  });

  it('is completed once, however many requests come at once', async () => {
    const id = await anUpload(service, key, medCase.id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => complete(service, key, medCase.id, id)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const first = answers[0]?.body;
    for (const { body } of answers) expect({ ...body, view_url: '' }).toEqual({ ...first, view_url: '' });
    expect({ ...(await completed({ id })), view_url: '' }).toEqual({ ...first, view_url: '' });
    expect(await counted()).toBe(1);
    expect(await storedOf({ id })).toHaveLength(1);
  });

  it('stays as it was checked, whatever is uploaded later', async () => {
    const ticket = await ticketFor();
    await upload(service, ticket, BYTES);
    await completed(ticket);
    const again = await upload(service, ticket, png(1000, 9));
    expect(again.status).toBe(where === 'on disk' ? 409 : 200);
    const { view_url } = await completed(ticket);
    const file = await fetch(reach(service, view_url));
    expect(BYTES.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
  });

  it.each(['../../../etc/passwd', '..\\..\\win.ini', '/etc/passwd', 'a/../../b.png', 'x"; filename=y'])(
    'called %j is stored under another path, and downloaded under a safe name',
    async (file_name) => {
      const ticket = await ticketFor({ file_name });
      expect(ticket.upload_url).not.toContain('passwd');
      await upload(service, ticket, BYTES);
      const evidence = await completed(ticket);
      expect(evidence.file_name).toBe(file_name);
      expect(await storedOf(ticket)).toEqual([expect.stringMatching(new RegExp(`^${ticket.id}/[0-9a-f-]{36}$`))]);
      const file = await fetch(reach(service, evidence.view_url));
      await file.arrayBuffer();
      expect(file.headers.get('set-cookie')).toBeNull();
      expect(file.headers.get('content-disposition')).toMatch(
        /^attachment; filename="[\w. ;=-]+"; filename\*=UTF-8''[\w.%-]+$/,
      );
      expect(file.headers.get('content-disposition')).not.toMatch(/\.\.|%2F|%5C/i);
    },
  );

  it.each([
    ['image/png', png(500), 'x.exe', 'x_exe.png'],
    ['application/pdf', Buffer.from('%PDF-1.7\n'.padEnd(500)), 'receipt.hta.png', 'receipt_hta_png.pdf'],
    ['application/pdf', Buffer.from('%PDF-1.7\n'.padEnd(500)), 'CON.pdf', '_CON.pdf'],
    ['image/jpeg', Buffer.from('\xff\xd8\xff\xe0'.padEnd(500), 'latin1'), 'LPT1 ', '_LPT1.jpg'],
  ])('is downloaded under the extension of its type: %s', async (mime_type, bytes, file_name, saved) => {
    const ticket = await ticketFor({ mime_type, file_size: 500, file_name });
    expect((await upload(service, ticket, bytes)).status).toBe(200);
    const evidence = await completed(ticket);
    expect(evidence.file_name).toBe(file_name);
    const file = await fetch(reach(service, evidence.view_url));
    await file.arrayBuffer();
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${saved}"; filename*=UTF-8''${saved}`);
  });

  it('is visible only to its account, mode and case', async () => {
    const id = await anUpload(service, key, medCase.id);
    const stranger = await service.merchant();
    const other = await aDisputedCharge(service, stranger.testKey);
    const mine = await aDisputedCharge(service, key);
    for (const who of [stranger.testKey, stranger.liveKey]) {
      for (const path of ['/v1/med/cases', '/v1/infractions']) {
        const own = `${path}/${medCase.id}/evidence`;
        expect((await service.call('GET', own, { key: who })).status).toBe(404);
        const body = { file_name: 'a', file_size: 1, mime_type: 'image/png' };
        expect((await service.call('POST', own, { key: who, body })).status).toBe(404);
        expect((await service.call('POST', `${own}/${id}/complete`, { key: who })).status).toBe(404);
      }
    }
    // A foreign upload under a case of one's own, and one's own under another case.
    expect((await complete(service, stranger.testKey, other.medCase.id, id)).status).toBe(404);
    expect((await complete(service, key, mine.medCase.id, id)).status).toBe(404);
    for (const nobody of ['nobody', '00000000-0000-7000-8000-000000000000']) {
      expect((await complete(service, key, medCase.id, nobody)).status).toBe(404);
      expect((await complete(service, key, `med_${nobody}`, id)).status).toBe(404);
    }
    await completed({ id });
  });

  it('answers 503 while the storage is gone, and loses nothing', async () => {
    const id = await anUpload(service, key, medCase.id);
    const kept = await completed({ id: await anUpload(service, key, medCase.id) });
    await place.fail('down');
    try {
      for (const answer of [
        await requestUpload<ErrorAnswer>(service, key, medCase.id),
        await complete<ErrorAnswer>(service, key, medCase.id, id),
      ]) {
        expectError(answer, 503, 'api_error', 'service_unavailable');
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect(await counted()).toBe(1);
      // Payments go on: a process without its storage must stay in service.
      const ready = await service.call('GET', '/health/ready');
      expect([ready.status, ready.body]).toEqual([200, expect.objectContaining({ status: 'up', storage: 'down' })]);
      // Requests that need no storage go on.
      expect((await answerCase(service, key, medCase.id, 'appeal')).status).toBe(200);
    } finally {
      await place.mend();
    }
    await completed({ id });
    expect(await counted()).toBe(2);
    expect((await fetch(reach(service, (await completed(kept)).view_url))).status).toBe(200);
  });

  it('is cleaned up only when nobody completed it', async () => {
    const { clock, runtime } = service;
    const forgotten = await anUpload(service, key, medCase.id);
    const never = await ticketFor();
    const kept = await ticketFor();
    await upload(service, kept, BYTES);
    await completed(kept);
    if (where !== 'on disk') await upload(service, kept, png(1000, 9));
    const rows = async (): Promise<string[]> => {
      const found = await service.sql<{ id: string }>('SELECT id FROM med_evidence WHERE case_id = $1 ORDER BY id', [
        medCase.id.slice(4),
      ]);
      return found.map((row) => row.id);
    };
    clock.advance(900 + 3500);
    try {
      runtime.resources.poller.wake(CLEANUP);
      expect(await rows()).toEqual([forgotten, never.id, kept.id]);
      clock.advance(200);
      await waitFor('what was not completed to go', async () => {
        runtime.resources.poller.wake(CLEANUP);
        return (await rows()).length === 1;
      });
      await waitFor('the rest to be noted', async () => {
        const soon = new Date(clock.now().getTime() + 86_400_000);
        const query = 'SELECT 1 FROM work WHERE subject_id = $1 AND due_at < $2';
        return (await service.sql(query, [kept.id, soon])).length === 0;
      });
    } finally {
      clock.advance(-900 - 3700);
    }
    expect(await rows()).toEqual([kept.id]);
    expect(await storedOf({ id: forgotten })).toEqual([]);
    expect(await storedOf(kept)).toEqual([expect.stringMatching(/\/[0-9a-f-]{36}$/)]);
    const file = await fetch(reach(service, (await completed(kept)).view_url));
    expect(BYTES.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
    expect((await complete(service, key, medCase.id, forgotten)).status).toBe(404);
  });

  it('can be deleted with its file while nobody needs it', async () => {
    const remove = (id: string, path = '/v1/med/cases') =>
      service.call<ErrorAnswer>('DELETE', `${path}/${medCase.id}/evidence/${id}`, { key });
    const [waiting, done, other] = [
      await anUpload(service, key, medCase.id),
      (await completed({ id: await anUpload(service, key, medCase.id) })).id,
      (await completed({ id: await anUpload(service, key, medCase.id) })).id,
    ];
    expect(await counted()).toBe(2);
    const stranger = (await service.merchant()).testKey;
    for (const id of [waiting, done]) {
      const path = `/v1/med/cases/${medCase.id}/evidence/${id}`;
      expect((await service.call('DELETE', path, { key: stranger })).status).toBe(404);
    }
    expect((await remove(waiting)).body).toEqual({ deleted: true });
    // Only the first of several simultaneous requests deletes the file, so that it is counted once.
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(done, '/v1/infractions')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    expect(await counted()).toBe(1);
    expect((await listEvidence(service, key, medCase.id)).map(({ id }) => id)).toEqual([other]);
    expect((await complete(service, key, medCase.id, waiting)).status).toBe(409);
    await waitFor(
      'the files to go',
      async () => (await storedOf({ id: waiting })).concat(await storedOf({ id: done })).length === 0,
    );
    expect((await answerCase(service, key, medCase.id, 'appeal')).status).toBe(200);
    expectError(await remove(other), 409, 'conflict_error', 'evidence_in_use');
    expect(await counted()).toBe(1);
  });

  it('ends after 30 days in test mode and never in live mode', async () => {
    const days = 30 * 86_400;
    const old = await completed({ id: await anUpload(service, key, medCase.id) });
    service.clock.advance(days - 7200);
    try {
      expect(await counted()).toBe(1);
      service.clock.advance(7201);
      await waitFor('its end', async () => (await counted()) === 0);
      await waitFor('its file', async () => (await storedOf(old)).length === 0);
    } finally {
      service.clock.advance(-days - 1);
    }
  });

  it('keeps an account within its quota, even when requests come at once', async () => {
    const bounded = await TestService.start({ database: service.database, env: { EVIDENCE_QUOTA_MB: '1' } });
    try {
      const cases = await Promise.all(
        Array.from({ length: 4 }, async () => (await aDisputedCharge(service, key)).medCase),
      );
      const ask = (caseId: string, file_size: number) =>
        requestUpload<ErrorAnswer & TicketAnswer>(bounded, key, caseId, { file_size });
      const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(cases[n % 4]?.id ?? '', 200_000)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
      const refused = answers.filter(({ status }) => status !== 201);
      for (const answer of refused) expectError(answer, 422, 'business_error', 'evidence_quota_reached');
      expect(refused[0]?.body.error.message).toContain('has 1.0 MB');
      // Other accounts and the other mode keep their own quota.
      const other = (await service.merchant()).testKey;
      const { medCase: theirs } = await aDisputedCharge(service, other);
      expect((await requestUpload(bounded, other, theirs.id, { file_size: 200_000 })).status).toBe(201);
      const made = answers.findIndex(({ status }) => status === 201);
      const path = `/v1/med/cases/${cases[made % 4]?.id}/evidence/${answers[made]?.body.id}`;
      expect((await bounded.call('DELETE', path, { key })).status).toBe(200);
      // The URL still accepts the file, so its size stays counted until the URL has expired.
      expectError(await ask(cases[0]?.id ?? '', 200_000), 422, 'business_error', 'evidence_quota_reached');
      bounded.clock.advance(900 + 3600);
      expect((await ask(cases[0]?.id ?? '', 200_000)).status).toBe(201);
    } finally {
      await bounded.stop();
    }
  });
});

describe('evidence', () => {
  let place: Place;
  let service: TestService;
  let key: string;
  let medCase: MedCaseAnswer;

  beforeAll(async () => {
    place = await onDisk();
    ({ service } = place);
  });
  afterAll(() => place.stop());
  beforeEach(async () => {
    key = (await service.merchant()).testKey;
    ({ medCase } = await aDisputedCharge(service, key));
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  it.each([
    ['no file_name', { file_name: undefined }, 'file_name', 'required'],
    ['an empty file_name', { file_name: '' }, 'file_name', 'invalid'],
    ['a file_name that nobody sees', { file_name: '\u202e\u200b' }, 'file_name', 'invalid'],
    ['a file_name of blanks', { file_name: ' \t ' }, 'file_name', 'invalid'],
    ['a file_name of 256 characters', { file_name: 'x'.repeat(256) }, 'file_name', 'invalid'],
    ['a file_name that is a number', { file_name: 1 }, 'file_name', 'invalid'],
    ['no file_size', { file_size: undefined }, 'file_size', 'required'],
    ['a file_size of 0', { file_size: 0 }, 'file_size', 'invalid'],
    ['a file_size of 1.5', { file_size: 1.5 }, 'file_size', 'invalid'],
    ['a file_size that is a text', { file_size: '1000' }, 'file_size', 'invalid'],
    ['a file_size of 10 MB and one byte', { file_size: 10 * 1024 * 1024 + 1 }, 'file_size', 'invalid'],
    ['no mime_type', { mime_type: undefined }, 'mime_type', 'required'],
    ['pictures that can run scripts', { mime_type: 'image/svg+xml' }, 'mime_type', 'invalid'],
    ['pages', { mime_type: 'text/html' }, 'mime_type', 'invalid'],
    ['an unknown field', { path: '/etc' }, 'path', 'unknown_field'],
  ])('with %s is refused by its field', async (_what, body, param, code) => {
    const answer = await requestUpload<ErrorAnswer>(service, key, medCase.id, body);
    expectError(answer, 400, 'invalid_request_error', 'invalid_request');
    expect(answer.body.error.details).toContainEqual({ param, code, message: expect.any(String) });
    expect(answer.body.error.param).toBe(param);
  });

  it('is refused while the disk is too full', async () => {
    const { database } = service;
    const shared = { DATA_DIR: mkdtempSync(join(tmpdir(), 'recebe-full-')) };
    const roomy = await TestService.start({ database, env: shared });
    const full = await TestService.start({ database, env: { ...shared, STORAGE_MIN_FREE_MB: '1000000' } });
    try {
      const answer = await requestUpload<ErrorAnswer>(full, key, medCase.id);
      expectError(answer, 503, 'api_error', 'service_unavailable');
      const { body: ticket } = await requestUpload(roomy, key, medCase.id);
      expect((await upload({ url: full.url, runtime: roomy.runtime }, ticket, BYTES)).status).toBe(503);
      expect((await full.call('GET', '/health/ready')).body).toMatchObject({ storage: 'down' });
      expect((await upload(roomy, ticket, BYTES)).status).toBe(200);
    } finally {
      await full.stop();
      await roomy.stop();
      rmSync(shared.DATA_DIR, { recursive: true });
    }
  });

  it('is uploaded to one URL at most twenty times, then once a minute', async () => {
    const { body: ticket } = await requestUpload(service, key, medCase.id);
    const statuses: number[] = [];
    for (let n = 0; n < 22; n++) statuses.push((await upload(service, ticket, BYTES)).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429, 429]);
  });

  it('accepts 10 MB and a long name', async () => {
    const body = { file_size: 10 * 1024 * 1024, file_name: 'ã'.repeat(255) };
    expect((await requestUpload(service, key, medCase.id, body)).status).toBe(201);
  });

  it('refuses an upload that shows a key and says why', async () => {
    const { body: ticket } = await requestUpload(service, key, medCase.id);
    const keys: Record<string, string>[] = [{ apikey: key }, { Authorization: `Bearer ${key}` }];
    for (const headers of keys) {
      const { status, text } = await upload(service, ticket, BYTES, headers);
      expect(status).toBe(400);
      expect(text).toContain('signature is the credential');
      expect(text).not.toContain(key);
    }
  });

  it('is not confirmed when its file has changed size in the storage', async () => {
    const id = await anUpload(service, key, medCase.id);
    const { storage } = service.runtime.resources.config;
    if (storage.kind !== 'disk') throw new Error('unreachable');
    writeFileSync(join(storage.directory, id, 'upload'), png(500));
    const answer = await complete<ErrorAnswer>(service, key, medCase.id, id);
    expectError(answer, 409, 'conflict_error', 'EVIDENCE_SIZE_MISMATCH');
    expect(await listEvidence(service, key, medCase.id)).toEqual([]);
  });

  it('may be attached before and after appealing, not after the case is over', async () => {
    const before = await anUpload(service, key, medCase.id);
    expect((await complete(service, key, medCase.id, before)).status).toBe(200);
    expect((await answerCase(service, key, medCase.id, 'appeal')).status).toBe(200);
    const after = await anUpload(service, key, medCase.id);
    const late = await anUpload(service, key, medCase.id);
    expect((await complete(service, key, medCase.id, after)).status).toBe(200);
    await happens(service, key, medCase.charge_id, { event: 'med_rule', result: 'disagreed' });
    expectError(
      await requestUpload<ErrorAnswer>(service, key, medCase.id),
      400,
      'invalid_request_error',
      'invalid_request',
    );
    const answer = await complete<ErrorAnswer>(service, key, medCase.id, late);
    expectError(answer, 400, 'invalid_request_error', 'invalid_request');
    // Confirmed evidence stays readable, and completing it again gives the same answer.
    expect((await listEvidence(service, key, medCase.id)).map(({ id }) => id)).toEqual([after, before]);
    expect((await complete(service, key, medCase.id, before)).status).toBe(200);
  });

  it('may not be attached after the deadline, and any time when there is none', async () => {
    const { medCase: endless } = await aDisputedCharge(service, key, 200, { response_deadline: null });
    const inTime = await anUpload(service, key, medCase.id);
    const deadline = new Date(medCase.response_deadline ?? '').getTime();
    const ahead = Math.ceil((deadline - service.clock.now().getTime()) / 1000);
    service.clock.advance(ahead);
    try {
      const asked = await requestUpload<ErrorAnswer>(service, key, medCase.id);
      expectError(asked, 400, 'invalid_request_error', 'invalid_request');
      expect(asked.body.error.message).toContain('deadline');
      expect((await complete(service, key, medCase.id, inTime)).status).toBe(400);
      expect((await requestUpload(service, key, endless.id)).status).toBe(201);
    } finally {
      service.clock.advance(-ahead);
    }
  });

  it('is either counted or refused when it is completed while the case is accepted', async () => {
    for (let round = 0; round < 5; round++) {
      const { medCase: open } = await aDisputedCharge(service, key, 100 + round);
      const id = await anUpload(service, key, open.id);
      const [done] = await Promise.all([
        complete(service, key, open.id, id),
        answerCase(service, key, open.id, 'accept'),
      ]);
      const { body } = await service.call<MedCaseAnswer>('GET', `/v1/med/cases/${open.id}`, { key });
      expect(body.status).toBe('accepted');
      expect([200, 400]).toContain(done.status);
      expect(body.evidence_count).toBe(done.status === 200 ? 1 : 0);
      expect(await listEvidence(service, key, open.id)).toHaveLength(body.evidence_count);
    }
  });

  it('is either completed or cleaned up, when both happen at once', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => anUpload(service, key, medCase.id)));
    // Due at once, as if the clocks of two machines disagreed.
    await service.sql(
      `UPDATE work SET due_at = now() - interval '1 minute'
       WHERE subject_id IN (SELECT id FROM med_evidence WHERE case_id = $1)`,
      [medCase.id.slice(4)],
    );
    const completions = ids.map((id) => complete(service, key, medCase.id, id));
    service.runtime.resources.poller.wake(CLEANUP);
    const answers = await Promise.all(completions);
    const done = ids.filter((_id, index) => answers[index]?.status === 200);
    expect(answers.every(({ status }) => [200, 404, 409].includes(status))).toBe(true);
    await waitFor('the clean-up to end', async () => {
      const [row] = await service.sql<{ count: string }>(
        `SELECT count(*) FROM med_evidence e LEFT JOIN work w ON w.subject_id = e.id
         WHERE case_id = $1 AND (status = 'abandoned' OR due_at < now())`,
        [medCase.id.slice(4)],
      );
      return Number(row?.count) === 0;
    });
    const listed = await listEvidence(service, key, medCase.id);
    expect(listed.map(({ id }) => id).sort()).toEqual([...done].sort());
    for (const { view_url } of listed) expect((await fetch(reach(service, view_url))).status).toBe(200);
  });

  it('is refused as not uploaded, not as unavailable, when it is cleaned up while its file is read', async () => {
    const id = await anUpload(service, key, medCase.id);
    const storage = service.get(ObjectStorage);
    const firstBytes = storage.firstBytes.bind(storage);
    storage.firstBytes = async (name, count) => {
      await service.sql(`UPDATE work SET due_at = now() - interval '1 minute' WHERE subject_id = $1`, [id]);
      service.runtime.resources.poller.wake(CLEANUP);
      const gone = async (): Promise<boolean> =>
        (await service.sql('SELECT 1 FROM med_evidence WHERE id = $1', [id])).length === 0;
      await waitFor('the clean-up', gone);
      return firstBytes(name, count);
    };
    try {
      const answer = await complete(service, key, medCase.id, id);
      expect([answer.status, answer.body]).toMatchObject([409, { error: { code: 'EVIDENCE_NOT_UPLOADED' } }]);
    } finally {
      storage.firstBytes = firstBytes;
    }
    expect(await listEvidence(service, key, medCase.id)).toEqual([]);
  });

  it('cannot block the clean-up of others when its file cannot be removed', async () => {
    const stuck = await anUpload(service, key, medCase.id);
    const others = [await anUpload(service, key, medCase.id), await anUpload(service, key, medCase.id)];
    const storage = service.get(ObjectStorage);
    const close = storage.close.bind(storage);
    storage.close = async (id, name) => {
      if (id === stuck) throw new Error('the storage is down');
      return close(id, name);
    };
    try {
      // The stuck evidence comes first.
      await service.sql(
        `UPDATE work SET due_at = now() - (CASE WHEN subject_id = $2 THEN 2 ELSE 1 END) * interval '1 minute'
         WHERE subject_id IN (SELECT id FROM med_evidence WHERE case_id = $1)`,
        [medCase.id.slice(4), stuck],
      );
      service.runtime.resources.poller.wake(CLEANUP);
      await waitFor('the others to be removed', async () => {
        const rows = await service.sql<{ id: string }>('SELECT id FROM med_evidence WHERE id = ANY ($1::uuid[])', [
          [stuck, ...others],
        ]);
        return rows.length === 1 && rows[0]?.id === stuck;
      });
    } finally {
      storage.close = close;
    }
  });

  it('is limited to a hundred files per case, even when requests come at once', async () => {
    await service.sql(
      `INSERT INTO med_evidence (id, account_id, mode, case_id, file_name, file_size, mime_type, uploaded_by, status,
         object_name, created_at, expires_at, uploaded_at)
       SELECT gen_random_uuid(), account_id, mode, id, 'a.png', 1, 'image/png', 'merchant', 'confirmed', 'x', now(), now(), now()
       FROM med_cases, generate_series(1, 97) WHERE id = $1`,
      [medCase.id.slice(4)],
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => requestUpload(service, key, medCase.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422, 422, 422, 422]);
  });

  it('can be read by operators, for every account', async () => {
    const { token } = await service.operator();
    const id = await anUpload(service, key, medCase.id);
    const path = `/v1/operations/med/${medCase.id}/evidence`;
    expect((await service.call('GET', path, { token })).body).toEqual({ object: 'list', data: [] });
    await complete(service, key, medCase.id, id);
    const { body } = await service.call<{ data: EvidenceAnswer[] }>('GET', path, { token });
    expect(body.data.map((evidence) => evidence.id)).toEqual([id]);
    expect((await fetch(reach(service, body.data[0]?.view_url ?? ''))).status).toBe(200);
    expect((await service.call('GET', '/v1/operations/med/nobody/evidence', { token })).status).toBe(404);
  });
});
