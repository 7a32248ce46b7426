import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SELF_SIGNED } from './self-signed.js';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
}

type Step = 'CONNECT' | 'AUTH' | 'MAIL FROM' | 'RCPT TO' | 'DATA';

/** A mail server on this machine, whose answers can be changed in the middle of a test. */
export class Mailbox {
  readonly received: ReceivedMail[] = [];
  /** Counts how often a client has reached each stage. */
  readonly seen: Record<Step, number> = { CONNECT: 0, AUTH: 0, 'MAIL FROM': 0, 'RCPT TO': 0, DATA: 0 };
  /** Refuses from now on; undefined takes everything. */
  refusal: { at: Step; code: number; text?: string } | undefined;
  /** Runs after a mail is read and before it is acknowledged. */
  beforeAcknowledging: () => Promise<void> | void = () => undefined;
  readonly #server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.#server = new SMTPServer({
      ...SELF_SIGNED,
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: ['STARTTLS'],
      ...options,
      onConnect: (_session, callback) => callback(this.#refused('CONNECT')),
      onAuth: (_auth, _session, callback) => callback(this.#refused('AUTH'), { user: 'somebody' }),
      onMailFrom: (_address, _session, callback) => callback(this.#refused('MAIL FROM')),
      onRcptTo: (_address, _session, callback) => callback(this.#refused('RCPT TO')),
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const refused = this.#refused('DATA');
          if (refused) return callback(refused);
          const { mailFrom, rcptTo } = session.envelope;
          this.received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            raw: Buffer.concat(chunks).toString('utf8'),
          });
          void Promise.resolve(this.beforeAcknowledging()).then(() => callback(null));
        });
      },
    });
    // A client that is killed in the middle of a mail is an error of its connection.
    this.#server.on('error', () => undefined);
  }

  static async start(options: SMTPServerOptions = {}): Promise<Mailbox> {
    const mailbox = new Mailbox(options);
    mailbox.#server.listen(0, '127.0.0.1');
    await once(mailbox.#server.server, 'listening');
    return mailbox;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  #refused(step: Step): (Error & { responseCode: number }) | null {
    this.seen[step]++;
    if (this.refusal?.at !== step) return null;
    return Object.assign(new Error(this.refusal.text ?? 'refused'), { responseCode: this.refusal.code });
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }
}

/** The value of one header, unfolded; undefined when it is not there. */
export function headerOf(mail: ReceivedMail | undefined, name: string): string | undefined {
  const head = mail?.raw.split('\r\n\r\n')[0]?.replaceAll(/\r\n[ \t]+/g, ' ') ?? '';
  return new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
}
