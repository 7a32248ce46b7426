import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Config } from '../config/index.js';
import { keepOwner, writePrivate } from '../private-files.js';
import type { EmailEntity } from './email.entity.js';

/** The limit for connecting, greeting, login and the mail itself, together. */
export const SEND_LIMIT_MS = 30_000;

/** One bare address. Anything else could turn into two recipients, or into a header. */
const ADDRESS = /^[^\s\p{Cc}@<>()[\]\\,;:"]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u;

/** The mail itself is at fault: it will never be sent. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
}

/** A mail as it is sent. */
export type ReadyMail = Pick<EmailEntity, 'id' | 'to' | 'subject' | 'text' | 'html' | 'createdAt'>;

/** Hands a mail to a mail server, or writes it to a file. */
export abstract class MailTransport {
  /** @throws MailRefusedError, or another error when it may work later; `mailFailure` reads both */
  abstract send(mail: ReadyMail): Promise<void>;
}

/** SMTP where SMTP_URL says so, else files (docs/contract.md#mail). */
export function createMailTransport(config: Pick<Config, 'mail' | 'dataDir'>): MailTransport {
  const { smtpUrl, from } = config.mail;
  return smtpUrl === undefined
    ? new FileTransport(join(config.dataDir, 'mail'), from)
    : new SmtpTransport(smtpUrl, from);
}

type Sender = Config['mail']['from'];

/**
 * @param smtpUrl as nodemailer reads it: `smtp://` is upgraded by STARTTLS when the server offers it, `smtps://` is TLS
 *   from the start, and further options of nodemailer may follow as a query (`?tls.rejectUnauthorized=false`)
 */
class SmtpTransport extends MailTransport {
  readonly #smtp: ReturnType<typeof createTransport>;

  constructor(
    smtpUrl: string,
    private readonly from: Sender,
  ) {
    super();
    const url = new URL(smtpUrl);
    // They would make nodemailer print what it says to the server.
    for (const name of ['logger', 'debug', 'transactionLog']) url.searchParams.delete(name);
    const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(url.hostname);
    const hasPassword = url.username !== '' || url.password !== '';
    this.#smtp = createTransport({
      url: url.href,
      // What the URL's query says wins over these. A password never travels in clear because an attacker took
      // STARTTLS out of the server's answer; on this machine there is no network in between, nor a certificate.
      requireTLS: hasPassword && !isLoopback && url.protocol === 'smtp:',
      ...(isLoopback ? { tls: { rejectUnauthorized: false } } : {}),
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 20_000,
    });
  }

  override async send(mail: ReadyMail): Promise<void> {
    const signal = AbortSignal.timeout(SEND_LIMIT_MS);
    await this.#smtp.sendMail({ ...compose(mail, this.from), signal });
  }
}

/** `.eml` files of mode 0600, named after the mail's id: for trying out, and for any program that reads them. */
class FileTransport extends MailTransport {
  readonly #composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });

  constructor(
    private readonly directory: string,
    private readonly from: Sender,
  ) {
    super();
  }

  override async send(mail: ReadyMail): Promise<void> {
    const { message } = await this.#composer.sendMail(compose(mail, this.from));
    if (mkdirSync(this.directory, { recursive: true, mode: 0o700 }) !== undefined) keepOwner(this.directory);
    writePrivate(join(this.directory, `${mail.id}.eml`), message as Buffer);
  }
}

/** @throws MailRefusedError when the recipient is not one plain address */
function compose(mail: ReadyMail, from: Sender): SendMailOptions {
  if (!ADDRESS.test(mail.to)) throw new MailRefusedError('the recipient is not an address');
  return {
    from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    // The same at every attempt, so that a mail that arrives twice is known as one.
    messageId: `<${mail.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    date: mail.createdAt,
    // Holiday notices and other robots do not answer (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

export interface MailFailure {
  readonly permanent: boolean;
  /** Fit for a log: no address of a recipient, nothing of a login. */
  readonly summary: string;
  /** What the server said, for the mail's own row. */
  readonly detail: string;
}

/**
 * What a failed `send` means. A 5xx is final where the server speaks of this mail (recipient, content). A refused login
 * or sender address is the operator's to mend, and the mail must still be there then.
 */
export function mailFailure(error: unknown): MailFailure {
  if (error instanceof MailRefusedError) return { permanent: true, summary: error.message, detail: error.message };
  const { code, command, responseCode, response, message } = (error ?? {}) as {
    code?: string;
    command?: string;
    responseCode?: number;
    response?: string;
    message?: string;
  };
  const isAboutMail = command === 'RCPT TO' || command === 'DATA';
  // 503 is about the order of commands (RFC 5321 §4.2.4), so about the session.
  const permanent = isAboutMail && responseCode !== undefined && /^5(?!03)\d\d$/.test(String(responseCode));
  // Before the login nothing secret has been said yet, so nothing secret can be quoted.
  const isBeforeLogin = command === undefined || command === 'CONN' || command === 'STARTTLS';
  const codes = [code, command, responseCode].filter((part) => part !== undefined).join(' ');
  const summary = isBeforeLogin ? `${codes} ${(message ?? 'unknown error').slice(0, 200)}`.trim() : codes;
  return { permanent, summary, detail: isAboutMail ? `${codes}: ${storable(response ?? '')}` : storable(summary) };
}

/** What PostgreSQL takes, which is everything but NUL. */
function storable(text: string): string {
  return text.replaceAll('\0', '').slice(0, 500);
}
