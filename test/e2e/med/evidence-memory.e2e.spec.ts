import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { residentMemory } from '../../../tools/bench/machine.js';
import { png } from '../../support/evidence.js';
import { Processes, type ServiceProcess } from '../../support/process.js';

const FILE = png(10 * 1024 * 1024);

/** The service as it is run, in a process of its own, with its memory measured from outside. */
describe('uploads of 10 MB', () => {
  const processes = new Processes();
  let service: ServiceProcess;
  let key: string;
  let evidenceUrl: string;

  beforeAll(async () => {
    const dataDir = processes.dataDir();
    service = await processes.start(dataDir, { RATE_LIMIT: 'off' });
    key = service.demo().test_api_key;
    const charge = await post<{ id: string }>('/v1/charges', { amount: 1990, payment_method: 'pix' });
    for (const event of ['pay', 'med_open']) await post(`/v1/sandbox/charges/${charge.id}/simulate`, { event });
    const cases = await fetch(`${service.url}/v1/med/cases`, { headers: { apikey: key } });
    const { data } = (await cases.json()) as { data: { id: string }[] };
    evidenceUrl = `/v1/med/cases/${data[0]?.id ?? ''}/evidence`;
  }, 120_000);
  afterAll(async () => {
    await processes.cleanUp();
  });

  async function post<T>(path: string, body?: object): Promise<T> {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: {
        apikey: key,
        'Idempotency-Key': `memory-${path}`.slice(0, 100),
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** All three steps. */
  async function attach(bytes: Buffer): Promise<void> {
    const file = { file_name: 'large.png', file_size: bytes.length, mime_type: 'image/png' };
    const ticket = await post<{ id: string; upload_url: string }>(evidenceUrl, file);
    const url = ticket.upload_url.replace('localhost', '127.0.0.1');
    const headers = { 'Content-Type': 'image/png' };
    const uploaded = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) });
    if (!uploaded.ok) throw new Error(`The upload was answered ${uploaded.status}: ${await uploaded.text()}`);
    await post(`${evidenceUrl}/${ticket.id}/complete`);
  }

  /** Returns by how many MB the memory of the service grows during `work`. */
  async function rise(work: () => Promise<void>): Promise<number> {
    const before = residentMemory(service.pid).nowMb;
    let peak = before;
    const look = setInterval(() => {
      peak = Math.max(peak, residentMemory(service.pid).nowMb);
    }, 2);
    await work().finally(() => clearInterval(look));
    return Math.max(peak, residentMemory(service.pid).nowMb) - before;
  }

  it('add less than 20 MB of memory each, and twenty at once succeed', async () => {
    // Warms up: memory compiled and pooled at the first requests does not belong to an upload.
    for (let round = 0; round < 5; round++) await attach(png(300_000));
    // A garbage collection that comes late adds to one of them, not to all.
    const ones: number[] = [];
    for (let round = 0; round < 3; round++) ones.push(await rise(() => attach(FILE)));
    expect(Math.min(...ones)).toBeLessThan(20);
    const twenty = await rise(async () => {
      await Promise.all(Array.from({ length: 20 }, () => attach(FILE)));
    });
    // Far below the 200 MB that went through.
    expect(twenty).toBeLessThan(100);
    const list = await fetch(`${service.url}${evidenceUrl}`, { headers: { apikey: key } });
    const { data } = (await list.json()) as { data: { file_size: number; view_url: string }[] };
    expect(data.filter(({ file_size }) => file_size === FILE.length)).toHaveLength(23);
    const viewed = await fetch((data[0]?.view_url ?? '').replace('localhost', '127.0.0.1'));
    expect(FILE.equals(Buffer.from(await viewed.arrayBuffer()))).toBe(true);
  }, 120_000);
});
