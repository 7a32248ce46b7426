import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Config } from '../config/index.js';
import { keepOwner, writePrivate } from '../private-files.js';
import type { EmailEntity } from './email.entity.js';

/** Limit for connecting, greeting, login and the mail itself, together. */
export const SEND_LIMIT_MS = 30_000;

/** A bare address. Any other text could become two recipients, or a header. */
const ADDRESS = /^[^\s\p{Cc}@<>()[\]\\,;:"]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u;

/** Thrown when the mail itself is at fault: it can never be sent. */
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

/** Makes an SMTP transport if SMTP_URL is set, else files (docs/contract.md#mail). */
export function createMailTransport(config: Pick<Config, 'mail' | 'dataDir'>): MailTransport {
  const { smtpUrl, from } = config.mail;
  return smtpUrl === undefined
    ? new FileTransport(join(config.dataDir, 'mail'), from)
    : new SmtpTransport(smtpUrl, from);
}

type Sender = Config['mail']['from'];

/**
 * @param smtpUrl in nodemailer's form. `smtp://` is upgraded by STARTTLS when the server offers it; `smtps://` is TLS
 *   from the start. Further options of nodemailer may follow as a query (`?tls.rejectUnauthorized=false`)
 */
class SmtpTransport extends MailTransport {
  readonly #smtp: ReturnType<typeof createTransport>;

  constructor(
    smtpUrl: string,
    private readonly from: Sender,
  ) {
    super();
    const url = new URL(smtpUrl);
    // These options would make nodemailer print its conversation with the server.
    for (const name of ['logger', 'debug', 'transactionLog']) url.searchParams.delete(name);
    const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(url.hostname);
    const hasPassword = url.username !== '' || url.password !== '';
    this.#smtp = createTransport({
      url: url.href,
      // The URL's query overrides these. If an attacker removes STARTTLS from the server's answer, a password must not
      // travel in clear. On this machine there is neither a network in between nor a certificate.
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

/**
 * Writes `.eml` files of mode 0600, named after the mail's id: for trying out, and for any program that reads them.
 */
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
    // Equal at every attempt, so that a reader's program recognises a mail that arrives twice.
    messageId: `<${mail.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    date: mail.createdAt,
    // Tells holiday notices and other robots not to answer (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

export interface MailFailure {
  readonly permanent: boolean;
  /** Safe for a log: no address of a recipient, nothing about a login. */
  readonly summary: string;
  /** The server's words, for the mail's own row. */
  readonly detail: string;
}

/**
 * Judges a failed `send`. A 5xx is final if the server speaks about this mail (recipient, content). If it refuses the
 * login or the sender's address, the operator must correct that, and the mail must still be there.
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
  // Before the login no secret has been sent, so the error cannot quote one.
  const isBeforeLogin = command === undefined || command === 'CONN' || command === 'STARTTLS';
  const codes = [code, command, responseCode].filter((part) => part !== undefined).join(' ');
  const summary = isBeforeLogin ? `${codes} ${(message ?? 'unknown error').slice(0, 200)}`.trim() : codes;
  return { permanent, summary, detail: isAboutMail ? `${codes}: ${storable(response ?? '')}` : storable(summary) };
}

/** Removes NUL, the only character that PostgreSQL refuses. */
function storable(text: string): string {
  return text.replaceAll('\0', '').slice(0, 500);
}
