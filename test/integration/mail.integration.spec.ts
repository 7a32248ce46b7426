import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SecretBox } from '../../src/core/crypto/index.js';
import { readConfig } from '../../src/core/config/index.js';
import { type Database, type Reader, read } from '../../src/core/database/index.js';
import { createLogger, type Logger } from '../../src/core/log/index.js';
import {
  createMailTransport,
  EmailsRepository,
  type Mail,
  Mailer,
  MailDelivery,
  MailProcessor,
  MailTransport,
  SECRET,
} from '../../src/core/mail/index.js';
import { Metrics } from '../../src/core/metrics/index.js';
import { OperatorQueues } from '../../src/core/operator-queues.js';
import { JobQueues, type Poller } from '../../src/core/queue/index.js';
import { MemoryRateLimiter } from '../../src/core/rate-limit/memory-rate-limiter.js';
import { Retention } from '../../src/core/retention.js';
import { WorkRepository, WorkService } from '../../src/core/work/index.js';
import { headerOf, Mailbox } from '../support/mailbox.js';
import { Processes } from '../support/process.js';
import { Gate, NO_PROVIDERS, SILENT, TestSchema } from '../support/schema.js';
import { TestClock } from '../support/service.js';
import { waitFor } from '../support/wait.js';

interface EmailRow {
  id: string;
  status: string;
  /** Null once it has ended. */
  attempts: number | null;
  last_error: string | null;
  ended_at: Date | null;
  wait_seconds: number;
}

const raw = (text: string): ReturnType<typeof read> => read('', text);
const MAIL: Mail = {
  accountId: null,
  to: 'dono@padaria.example',
  subject: 'Seu endereço de webhook foi desativado',
  text: 'Olá, João.',
  html: '<p>Olá, <b>João</b>.</p>',
};

const SECRETS = new SecretBox('ab'.repeat(32));

describe('mail', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;
  let clock: TestClock;
  let mailbox: Mailbox;
  let dataDir: string;
  const wakes: string[] = [];
  const poller = { wake: (name: string) => wakes.push(name), wakeIn: () => undefined } as unknown as Poller;
  const config = readConfig({ ROLE: 'worker' });

  beforeAll(async () => {
    schema = await TestSchema.open();
    ({ database, reader } = await schema.connect(4));
  });
  afterAll(() => schema.close());
  beforeEach(async () => {
    clock = new TestClock();
    wakes.length = 0;
    dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
    mailbox = await Mailbox.start();
    await schema.database.pool.query('TRUNCATE emails, work');
  });
  afterEach(async () => {
    await mailbox.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  function transport(env: Record<string, string> = { SMTP_URL: mailbox.url }): MailTransport {
    return createMailTransport(readConfig({ DATA_DIR: dataDir, ...env }));
  }

  /** Makes a mail worker as in a separate process. */
  function workOf(mails: MailProcessor, logger = SILENT): WorkService {
    const jobs = new JobQueues(poller, logger);
    const repository = new WorkRepository(reader, clock, new OperatorQueues(reader));
    const work = new WorkService(database, repository, jobs, poller, new Metrics(), clock, logger);
    const { backoff, leaseMs } = mails;
    const run = (subjectId: string, attempt: number, prolong: () => Promise<void>) =>
      mails.run({ subjectId, attempt, prolong });
    work.register('mail', { backoff, leaseMs, concurrency: 5, run });
    return work;
  }

  function processor(by: MailTransport, logger: Logger) {
    const retention = new Retention(config, database, poller, clock, NO_PROVIDERS);
    const emails = new EmailsRepository(reader);
    retention.keep(emails);
    const mails = new MailProcessor(
      config,
      new MemoryRateLimiter(),
      database,
      emails,
      new MailDelivery(by, logger),
      SECRETS,
      clock,
    );
    return { mails, retention };
  }

  function worker(by: MailTransport = transport(), logger: Logger = SILENT) {
    const { mails, retention } = processor(by, logger);
    const work = workOf(mails, logger);
    return {
      clean: () => retention.remove('emails'),
      /** Sends what is due. @returns whether there is more */
      run: async (): Promise<boolean> => {
        await work.sweep();
        await work.onApplicationShutdown();
        const due = 'SELECT 1 FROM work WHERE due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)';
        return (await reader.query(raw(due), [clock.now()])).length > 0;
      },
    };
  }

  const mailer = (): Mailer =>
    new Mailer(new EmailsRepository(reader), SECRETS, workOf(processor(transport(), SILENT).mails), clock);

  async function enqueue(...mails: Partial<Mail>[]): Promise<void> {
    const by = mailer();
    await database.transaction(async (tx) => {
      for (const mail of mails) by.enqueue(tx, { ...MAIL, ...mail });
    });
  }

  function rows(): Promise<EmailRow[]> {
    return reader.query<EmailRow>(
      raw(`SELECT e.*, w.attempts, coalesce(e.last_error, w.last_error) AS last_error,
             extract(epoch FROM w.due_at - $1::timestamptz)::float8 AS wait_seconds
           FROM emails e LEFT JOIN work w ON w.kind = 'mail' AND w.subject_id = e.id ORDER BY created_at, id`),
      [clock.now()],
    );
  }

  describe('written in a transaction', () => {
    it('is sent once the transaction has committed, and the worker is woken for it', async () => {
      await enqueue({});
      expect(wakes).toEqual(['work']);
      expect(await worker().run()).toBe(false);
      expect(await rows()).toMatchObject([
        { status: 'sent', attempts: null, last_error: null, ended_at: expect.any(Date) },
      ]);
      const [mail] = mailbox.received;
      expect(mail).toMatchObject({ from: 'no-reply@localhost', to: ['dono@padaria.example'] });
      expect(headerOf(mail, 'From')).toBe('Recebe <no-reply@localhost>');
      expect(headerOf(mail, 'To')).toBe('dono@padaria.example');
      expect(headerOf(mail, 'Subject')).toMatch(/^=\?UTF-8\?Q\?Seu_endere=C3=A7o_de_webhook_/);
      expect(headerOf(mail, 'Message-ID')).toBe(`<${(await rows())[0]?.id}@localhost>`);
      expect(headerOf(mail, 'Auto-Submitted')).toBe('auto-generated');
      expect(headerOf(mail, 'Content-Type')).toMatch(/^multipart\/alternative/);
      expect(mail?.raw).toContain('Ol=C3=A1, Jo=C3=A3o.');
      expect(mail?.raw).toContain('<p>Ol=C3=A1, <b>Jo=C3=A3o</b>.</p>');

      await worker().run();
      expect(mailbox.received).toHaveLength(1);
    });

    it('about test mode is limited to thirty an hour per mailbox', async () => {
      await enqueue(...Array.from({ length: 33 }, () => ({ isTest: true, to: 'Dono+x@padaria.example' })), {});
      const { run } = worker();
      await waitFor('all mails to be sent or given up', async () => {
        await run();
        return (await rows()).every(({ status }) => status !== 'pending');
      });
      const given = (await rows()).filter(({ status }) => status === 'failed');
      expect(given.map(({ last_error: error }) => error)).toEqual(
        Array<string>(3).fill('more than 30 mails an hour about test mode to this mailbox'),
      );
      expect(mailbox.received).toHaveLength(31);
    });

    it('has its secret sealed until it is sent, and removed afterwards', async () => {
      // A name may look like a placeholder for the secret.
      await enqueue({ text: `Token: ${SECRET} {secret}`, html: `<p>${SECRET}</p>`, secret: 'a-token-of-somebody' });
      const [waiting] = await rows();
      expect(waiting).toMatchObject({ text_body: `Token: ${SECRET} {secret}`, secret_sealed: expect.any(Buffer) });
      expect(JSON.stringify(waiting)).not.toContain('a-token-of-somebody');
      await worker().run();
      expect(mailbox.received[0]?.raw).toContain('Token: a-token-of-somebody {secret}');
      expect(mailbox.received[0]?.raw).toContain('<p>a-token-of-somebody</p>');
      expect(await rows()).toMatchObject([{ status: 'sent', secret_sealed: null }]);
    });

    it('is dropped on a rollback, and no worker is woken', async () => {
      const by = mailer();
      const failed = database.transaction(async (tx) => {
        by.enqueue(tx, MAIL);
        await tx.query(raw('SELECT 1'), []);
        throw new Error('rolled back');
      });
      await expect(failed).rejects.toThrow('rolled back');
      expect(wakes).toEqual([]);
      expect(await rows()).toEqual([]);
    });

    it('has the sender of MAIL_FROM', async () => {
      await enqueue({});
      await worker(transport({ SMTP_URL: mailbox.url, MAIL_FROM: '"Pagamentos, São João" <pix@loja.example>' })).run();
      const [mail] = mailbox.received;
      expect(mail?.from).toBe('pix@loja.example');
      expect(headerOf(mail, 'From')).toMatch(/^=\?UTF-8\?Q\?Pagamentos=2C_S=C3=A3o_Jo=C3=A3o\?= <pix@loja\.example>$/);
      expect(headerOf(mail, 'Message-ID')).toMatch(/@loja\.example>$/);
    });

    it('is shared by several workers, each mail sent by one of them', async () => {
      await enqueue(...Array.from({ length: 40 }, (_, number) => ({ subject: `mail ${number}` })));
      await Promise.all(
        [worker(), worker(), worker()].map(async (one) => {
          while (await one.run());
        }),
      );
      expect(mailbox.received).toHaveLength(40);
      expect(new Set(mailbox.received.map((mail) => headerOf(mail, 'Subject'))).size).toBe(40);
      expect((await rows()).every(({ status }) => status === 'sent')).toBe(true);
    });
  });

  describe('with a temporary failure', () => {
    it.each([
      ['a busy mailbox', { at: 'RCPT TO', code: 450 }, 'EENVELOPE RCPT TO 450'],
      ['a full disk', { at: 'DATA', code: 452 }, 'EMESSAGE DATA 452'],
      ['a server that is closing', { at: 'CONNECT', code: 421 }, /421/],
      // The operator must fix this: the mail must still exist when the password is right again.
      ['a wrong password', { at: 'AUTH', code: 535 }, /^EAUTH AUTH \w+ 535$/],
      ['a sender that is not taken', { at: 'MAIL FROM', code: 550 }, 'EENVELOPE MAIL FROM 550'],
    ] as const)('because of %s is sent later, as the same mail', async (_what, refusal, reason) => {
      await enqueue({});
      mailbox.refusal = { ...refusal };
      const one = worker(transport({ SMTP_URL: `smtp://user:pass@127.0.0.1:${mailbox.port}` }));
      clock.stand();
      await one.run();
      const [waiting] = await rows();
      expect(waiting).toMatchObject({ status: 'pending', attempts: 1, ended_at: null });
      expect(waiting?.last_error).toMatch(reason);
      expect(waiting?.wait_seconds).toBe(30);

      await one.run();
      expect(await rows()).toMatchObject([{ attempts: 1 }]);
      mailbox.refusal = undefined;
      clock.advance(31);
      await one.run();
      expect(await rows()).toMatchObject([{ id: waiting?.id, status: 'sent', last_error: null }]);
      expect(headerOf(mailbox.received[0], 'Message-ID')).toBe(`<${waiting?.id}@localhost>`);
    });

    it('because no server answers is sent later', async () => {
      await enqueue({});
      const one = worker();
      await mailbox.stop();
      await one.run();
      expect(await rows()).toMatchObject([
        { status: 'pending', last_error: expect.stringMatching(/^ESOCKET CONN .*ECONNREFUSED/) },
      ]);
    });

    it('is retried ever more rarely, and given up after two days', async () => {
      await enqueue({});
      mailbox.refusal = { at: 'RCPT TO', code: 450, text: 'try later' };
      const waits: number[] = [];
      for (;;) {
        await worker().run();
        const [row] = await rows();
        if (row?.status !== 'pending') break;
        waits.push(Math.round(row.wait_seconds));
        clock.advance(row.wait_seconds + 1);
      }
      expect(waits).toEqual([30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400]);
      expect(await rows()).toMatchObject([{ status: 'failed', last_error: 'EENVELOPE RCPT TO 450: 450 try later' }]);
      clock.advance(1_000_000);
      await worker().run();
      expect(mailbox.seen['RCPT TO']).toBe(11);
    });

    it('is given up after its last attempt when its secret cannot be opened', async () => {
      await enqueue({ secret: 'a token' });
      await reader.query(raw(`UPDATE emails SET secret_sealed = '\\x00'`), []);
      for (let attempt = 1; attempt <= 11; attempt++) {
        await worker().run();
        clock.advance(86_401);
      }
      expect(await rows()).toMatchObject([{ status: 'failed', secret_sealed: null }]);
      expect(mailbox.seen.CONNECT).toBe(0);
    });

    it('delays no other mail', async () => {
      await enqueue({ to: 'not an address' }, { subject: 'next' });
      await worker().run();
      expect((await rows()).map(({ status }) => status).sort()).toEqual(['failed', 'sent']);
    });
  });

  describe('with a permanent failure', () => {
    it.each([
      ['its recipient', { at: 'RCPT TO', code: 550, text: '5.1.1 no such user' }],
      ['its content', { at: 'DATA', code: 554, text: '5.7.1 spam' }],
    ] as const)('because the server refuses %s for good is not tried again', async (_what, refusal) => {
      await enqueue({});
      mailbox.refusal = { ...refusal };
      await worker().run();
      expect(await rows()).toMatchObject([
        { status: 'failed', attempts: null, last_error: expect.stringContaining(refusal.text) },
      ]);
      clock.advance(1_000_000);
      await worker().run();
      expect(mailbox.seen[refusal.at]).toBe(1);
    });

    it.each([
      '',
      'nobody',
      'a@x.example, b@x.example',
      'A <a@x.example>',
      'a@x.example\r\nBcc: b@x.example',
      'a@x.example\nRCPT TO:<b@x.example>',
      '"a@x.example, b"@x.example',
    ])('because its recipient is %j never reaches a server', async (to) => {
      await enqueue({ to });
      await worker().run();
      expect(await rows()).toMatchObject([{ status: 'failed', last_error: 'the recipient is not an address' }]);
      expect(mailbox.seen.CONNECT).toBe(0);
    });
  });

  describe('after its end', () => {
    it('is removed after thirty days, sent or given up, while waiting mail stays', async () => {
      await enqueue({ subject: 'sent' }, { subject: 'given up', to: 'nobody' });
      await worker().run();
      expect((await rows()).map(({ status }) => status).sort()).toEqual(['failed', 'sent']);
      clock.advance(86_400);
      await enqueue({ subject: 'sent a day later' });
      await worker().run();
      mailbox.refusal = { at: 'RCPT TO', code: 450 };
      await enqueue({ subject: 'waits' });
      await worker().run();
      const left = async (): Promise<string[]> => {
        while (await worker().clean());
        const found = await reader.query<{ subject: string }>(raw('SELECT subject FROM emails ORDER BY subject'), []);
        return found.map(({ subject }) => subject);
      };

      clock.advance(29 * 86_400 - 60);
      expect(await left()).toEqual(['given up', 'sent', 'sent a day later', 'waits']);
      clock.advance(60 + 120);
      expect(await left()).toEqual(['sent a day later', 'waits']);
      clock.advance(86_400);
      expect(await left()).toEqual(['waits']);
    });

    it('is removed by several workers in batches, even in large numbers', async () => {
      await reader.query(
        raw(`INSERT INTO emails (id, recipient, subject, text_body, html_body, status, ended_at, created_at)
             SELECT gen_random_uuid(), 'a@x.example', 's', 't', 'h', 'sent', $1, $1 FROM generate_series(1, 1200)`),
        [clock.now()],
      );
      clock.advance(31 * 86_400);
      await Promise.all(
        [worker(), worker(), worker()].map(async (one) => {
          while (await one.clean());
        }),
      );
      expect(await worker().clean()).toBe(false);
      expect(await rows()).toEqual([]);
    });
  });

  it('has only the given headers and recipients, whatever its texts contain', async () => {
    const injection = 'Hi\r\nBcc: evil@x.example\r\n\r\n.\r\nMAIL FROM:<evil@x.example>';
    await enqueue({ subject: injection, text: `\r\n.\r\nRCPT TO:<evil@x.example>\r\n${injection}`, html: injection });
    await worker().run();
    expect(mailbox.received).toHaveLength(1);
    const [mail] = mailbox.received;
    expect(mail?.to).toEqual([MAIL.to]);
    expect(headerOf(mail, 'Bcc')).toBeUndefined();
    expect(headerOf(mail, 'Subject')).toContain('Hi');
    expect(mail?.raw).toContain('RCPT TO:<evil@x.example>');
  });

  describe('whose worker dies', () => {
    it('is taken over after its lease, and the first worker no longer decides', async () => {
      await enqueue({});
      const gate = new Gate();
      class Stuck extends MailTransport {
        override async send(): Promise<void> {
          await gate.opened;
          throw Object.assign(new Error('refused'), { command: 'DATA', responseCode: 554 });
        }
      }
      const stuck = worker(new Stuck()).run();
      await waitFor('the claim', async () => (await rows())[0]?.attempts === 1);
      await worker().run();
      expect(mailbox.received).toHaveLength(0);

      clock.advance(91);
      await worker().run();
      expect(await rows()).toMatchObject([{ status: 'sent', attempts: null }]);
      gate.open();
      await stuck;
      expect(await rows()).toMatchObject([{ status: 'sent', attempts: null, last_error: null }]);
    });

    it('is given up if every attempt kills its worker', async () => {
      await enqueue({});
      await reader.query(raw('UPDATE work SET attempts = 11'), []);
      await worker().run();
      expect(await rows()).toMatchObject([{ status: 'failed', last_error: 'the last attempt was interrupted' }]);
      expect(mailbox.seen.CONNECT).toBe(0);
    });

    it('is sent again with the same Message-ID after kill -9 between the server’s acceptance and the record', async () => {
      const processes = new Processes();
      try {
        const env = {
          DATABASE_URL: schema.database.url,
          ROLE: 'worker',
          LOG_LEVEL: 'debug',
          // A careless operator might set this: these options make nodemailer print its dialogue with the server.
          SMTP_URL: `smtp://user:hunter2@127.0.0.1:${mailbox.port}/?logger=true&debug=true`,
        };
        const dataDir = processes.dataDir();
        const first = await processes.start(dataDir, env);
        mailbox.beforeAcknowledging = async () => {
          await first.kill('SIGKILL');
        };
        await enqueue({});
        await waitFor('the first delivery', () => !first.running && mailbox.received.length === 1);
        expect(await rows()).toMatchObject([{ status: 'pending', attempts: 1 }]);

        mailbox.beforeAcknowledging = () => undefined;
        const second = await processes.start(dataDir, env);
        await reader.query(raw('UPDATE work SET leased_until = NULL'), []);
        await waitFor('the second delivery', async () => (await rows())[0]?.status === 'sent');
        await second.kill('SIGTERM');
        expect(mailbox.received).toHaveLength(2);
        expect(new Set(mailbox.received.map((mail) => headerOf(mail, 'Message-ID'))).size).toBe(1);
        expect(mailbox.seen.AUTH).toBe(2);
        for (const { stdout, stderr } of [first, second]) {
          expect(stdout + stderr).not.toMatch(/hunter2|EHLO|AUTH/);
          expect(stdout + stderr).not.toContain(MAIL.to);
        }
      } finally {
        await processes.cleanUp();
      }
    }, 60_000);
  });

  describe('with secrets', () => {
    it('keeps the password of SMTP_URL out of logs and rows, even when the server quotes it', async () => {
      const secrets = [
        'hunter2',
        Buffer.from('hunter2').toString('base64'),
        Buffer.from('\0user\0hunter2').toString('base64'),
      ];
      const lines: string[] = [];
      const logger = createLogger('debug', { write: (line) => lines.push(line) });
      mailbox.refusal = { at: 'AUTH', code: 535, text: `you said ${secrets.join(' ')}` };
      await enqueue({});
      await worker(transport({ SMTP_URL: `smtp://user:hunter2@127.0.0.1:${mailbox.port}` }), logger).run();
      expect(mailbox.seen.AUTH).toBe(1);
      const found = JSON.stringify(await rows()) + lines.join('');
      for (const secret of secrets) expect(found).not.toContain(secret);
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        level: 'error',
        error: { message: expect.stringMatching(/^EAUTH/) },
      });
    });

    it('keeps recipient and content out of logs, even when the server quotes them', async () => {
      const lines: string[] = [];
      mailbox.refusal = { at: 'RCPT TO', code: 550, text: `<${MAIL.to}> unknown` };
      await enqueue({});
      await worker(transport(), createLogger('debug', { write: (line) => lines.push(line) })).run();
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', reason: 'EENVELOPE RCPT TO 550' });
      expect(lines.join('')).not.toMatch(/padaria|João|webhook/);
    });

    // 0.0.0.0 is this machine too, but its name does not say so.
    it('sends no password in clear to another machine unless SMTP_URL says so', async () => {
      await enqueue({});
      const url = `smtp://user:hunter2@0.0.0.0:${mailbox.port}`;
      await worker(transport({ SMTP_URL: url })).run();
      expect(await rows()).toMatchObject([{ status: 'pending', last_error: expect.stringMatching(/STARTTLS/) }]);
      expect(mailbox.seen.AUTH).toBe(0);
      clock.advance(31);
      await worker(transport({ SMTP_URL: `${url}/?requireTLS=false` })).run();
      expect(await rows()).toMatchObject([{ status: 'sent' }]);
      expect(mailbox.seen.AUTH).toBe(1);
    });

    it('uses STARTTLS where offered and checks its certificate, except on this machine', async () => {
      const withTls = await Mailbox.start({ disabledCommands: [] });
      try {
        await enqueue({});
        await worker(transport({ SMTP_URL: `smtp://user:hunter2@0.0.0.0:${withTls.port}` })).run();
        expect(await rows()).toMatchObject([{ status: 'pending', last_error: expect.stringMatching(/certificate/) }]);
        expect(withTls.seen.AUTH).toBe(0);
        clock.advance(31);
        await worker(transport({ SMTP_URL: `smtp://user:hunter2@127.0.0.1:${withTls.port}` })).run();
        expect(await rows()).toMatchObject([{ status: 'sent' }]);
        expect(withTls.received).toHaveLength(1);
      } finally {
        await withTls.stop();
      }
    });

    it('uses TLS from the start with smtps://', async () => {
      const secure = await Mailbox.start({ secure: true });
      try {
        await enqueue({});
        await worker(transport({ SMTP_URL: `smtps://user:hunter2@127.0.0.1:${secure.port}` })).run();
        expect(await rows()).toMatchObject([{ status: 'sent' }]);
      } finally {
        await secure.stop();
      }
    });
  });

  describe('without SMTP_URL', () => {
    it('is written to a private file named after its row', async () => {
      await enqueue({}, { subject: 'second' });
      await worker(transport({})).run();
      const directory = join(dataDir, 'mail');
      const found = await rows();
      expect(found.every(({ status }) => status === 'sent')).toBe(true);
      expect(readdirSync(directory).sort()).toEqual(found.map(({ id }) => `${id}.eml`).sort());
      expect(statSync(directory).mode & 0o777).toBe(0o700);
      for (const { id } of found) {
        const path = join(directory, `${id}.eml`);
        expect(statSync(path).mode & 0o777).toBe(0o600);
        const mail = { from: '', to: [], raw: readFileSync(path, 'utf8') };
        expect(headerOf(mail, 'To')).toBe(MAIL.to);
        expect(headerOf(mail, 'Message-ID')).toBe(`<${id}@localhost>`);
        expect(mail.raw).toContain('Ol=C3=A1');
      }
    });

    it('is one file even if it is written twice', async () => {
      await enqueue({});
      await worker(transport({})).run();
      await reader.query(
        raw(`WITH again AS (UPDATE emails SET status = 'pending', ended_at = NULL RETURNING id)
             INSERT INTO work (kind, subject_id, due_at) SELECT 'mail', id, now() FROM again`),
        [],
      );
      await worker(transport({})).run();
      expect(readdirSync(join(dataDir, 'mail'))).toHaveLength(1);
    });

    it('is kept for later when the file cannot be written', async () => {
      await enqueue({});
      await worker(transport({ DATA_DIR: '/dev/null' })).run();
      expect(await rows()).toMatchObject([{ status: 'pending', last_error: expect.stringMatching(/ENOTDIR/) }]);
    });
  });
});
