import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SYSTEM } from '../../src/audit/index.js';
import { CertificateWatch, LiveAcquirersService } from '../../src/acquirers/index.js';
import { CERTIFICATES } from '../support/client-certificates.js';
import { type Merchant, TestService } from '../support/service.js';

const DAY = 86_400;

describe('warnings about client certificates that expire', () => {
  let service: TestService;
  let other: TestService;

  beforeAll(async () => {
    service = await TestService.start();
    other = await TestService.start({ database: service.database, overrides: { clock: service.clock } });
  });
  afterAll(async () => {
    await other.stop();
    await service.stop();
  });

  async function configure(merchant: Merchant, pixKey: string, psp = 'efi'): Promise<string> {
    const certificate = {
      pfx: null,
      cert: Buffer.from(CERTIFICATES.cert),
      key: Buffer.from(CERTIFICATES.key),
      passphrase: null,
    };
    const { id } = await service.get(LiveAcquirersService).configure(
      {
        accountId: merchant.accountId,
        psp,
        pixKey,
        clientId: 'client',
        clientSecret: 'a-secret-of-the-client',
        certificate,
        ca: null,
        baseUrl: null,
        tokenUrl: null,
        variables: {},
      },
      SYSTEM,
    );
    return id;
  }

  /** Makes a connection's certificate look like another one, with this end. */
  const endsIn = (id: string, seconds: number, fingerprint: string = randomUUID()): Promise<unknown> =>
    service.sql(
      `UPDATE acquirer_connections SET certificate_expires_at = $2, certificate_fingerprint = $3 WHERE id = $1`,
      [id, new Date(service.clock.now().getTime() + seconds * 1000), fingerprint],
    );
  /** Sweeps in both processes at once, twice each. */
  const sweep = (): Promise<unknown> =>
    Promise.all([service, other, service, other].map((each) => each.get(CertificateWatch).sweep()));
  const mails = ({ accountId }: Merchant): Promise<{ recipient: string; subject: string; text_body: string }[]> =>
    service.sql('SELECT recipient, subject, text_body FROM emails WHERE account_id = $1 ORDER BY id', [accountId]);
  const metric = async (psp: string): Promise<number | null> => {
    const { text } = await service.call('GET', '/metrics');
    const found = new RegExp(`^recebe_acquirer_certificate_expires_seconds\\{psp="${psp}"\\} (\\S+)$`, 'm').exec(text);
    return found ? Number(found[1]) : null;
  };

  it('are sent 60, 30 and 7 days before, once each, in two languages', async () => {
    const merchant = await service.merchant();
    const id = await configure(merchant, randomUUID());
    await endsIn(id, 61 * DAY);
    const counts: number[] = [];
    let passed = 0;
    for (const days of [0, 0.9, 1.1, 1.2, 30.9, 31.1, 53.9, 54.1, 60, 62, 80]) {
      service.clock.offsetMs += (days - passed) * DAY * 1000; // the task itself is run below
      passed = days;
      await sweep();
      counts.push((await mails(merchant)).length);
    }
    expect(counts).toEqual([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3]);
    const [first, , last] = await mails(merchant);
    expect(first).toMatchObject({
      recipient: merchant.ownerEmail,
      subject: 'Certificado do PSP expira em 60 dias: efi / PSP certificate expires in 60 days',
    });
    expect(last?.subject).toContain('expira em 7 dias');
    for (const words of ['Peça um novo certificado', 'Ask the PSP for a new certificate']) {
      expect(first?.text_body).toContain(words);
    }
  });

  it('are reduced to the latest when several were missed', async () => {
    const merchant = await service.merchant();
    const id = await configure(merchant, randomUUID());
    await endsIn(id, 5 * DAY);
    await sweep();
    await sweep();
    expect((await mails(merchant)).map(({ subject }) => subject)).toEqual([
      expect.stringContaining('expira em 5 dias'),
    ]);
    const late = await configure(merchant, randomUUID());
    await endsIn(late, -DAY);
    await sweep();
    expect((await mails(merchant))[1]?.subject).toContain('PSP certificate has expired');
  });

  it('are one mail for a certificate that serves several keys', async () => {
    const merchant = await service.merchant();
    const keys = [randomUUID(), randomUUID()];
    for (const key of keys) await endsIn(await configure(merchant, key), 20 * DAY, 'shared');
    await sweep();
    const sent = await mails(merchant);
    expect(sent).toHaveLength(1);
    for (const key of keys) expect(sent[0]?.text_body).toContain(key);
  });

  it('are not repeated after a new secret alone, and start anew for a new certificate', async () => {
    const merchant = await service.merchant();
    const key = randomUUID();
    const id = await configure(merchant, key);
    const [own] = await service.sql<{ fingerprint: string }>(
      'SELECT certificate_fingerprint AS fingerprint FROM acquirer_connections WHERE id = $1',
      [id],
    );
    await endsIn(id, 50 * DAY, own?.fingerprint);
    await sweep();
    const warned = (): Promise<{ days: number | null }[]> =>
      service.sql('SELECT certificate_warned_days AS days FROM acquirer_connections WHERE id = $1', [id]);
    expect(await warned()).toEqual([{ days: 60 }]);
    await configure(merchant, key);
    expect(await warned()).toEqual([{ days: 60 }]);
    await endsIn(id, 50 * DAY, 'an older one');
    await configure(merchant, key);
    expect(await warned()).toEqual([{ days: null }]);
    await sweep();
    expect(await mails(merchant)).toHaveLength(1);
  });

  it('are also a metric of the first expiry at each PSP', async () => {
    const merchant = await service.merchant();
    expect(await metric('itau')).toBeNull();
    const [soon, later, gone] = [
      await configure(merchant, randomUUID(), 'itau'),
      await configure(merchant, randomUUID(), 'itau'),
      await configure(merchant, randomUUID(), 'itau'),
    ];
    await endsIn(soon, 10 * DAY);
    await endsIn(later, 20 * DAY);
    // Nobody has missed it for longer than a refund takes.
    await endsIn(gone, -91 * DAY);
    expect(await metric('itau')).toBeCloseTo(10 * DAY, -2);
    await endsIn(soon, -DAY);
    expect(await metric('itau')).toBeCloseTo(-DAY, -2);
    const { text } = await service.call('GET', '/metrics');
    expect(text).not.toContain(merchant.accountId);
  });
});
