import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

export interface SentStatement {
  /** The statement's name; empty for a simple query such as BEGIN and COMMIT. */
  readonly name: string;
  readonly text: string;
  /** Values in wire format: text, or bytes where the driver chose the binary format. */
  readonly values: readonly (string | Buffer | null)[];
}

/** Statements sent without waiting for an answer in between: one round trip. */
export type Turn = SentStatement[];

/** Delay of the server's answers in milliseconds; see `WireRecorder`. */
const FAR_AWAY = 5;

/**
 * Splits a PostgreSQL byte stream into messages: one byte of type (not in the first message of a client), four of
 * length.
 */
function splitter(startsUntyped: boolean): (chunk: Buffer) => { type: string; body: Buffer }[] {
  let rest: Buffer = Buffer.alloc(0);
  let offset = startsUntyped ? 0 : 1;
  return (chunk) => {
    const messages = [];
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= offset + 4) {
      const end = offset + rest.readInt32BE(offset);
      if (rest.length < end) break;
      messages.push({ type: rest.toString('latin1', 0, offset), body: rest.subarray(offset + 4, end) });
      rest = rest.subarray(end);
      offset = 1;
    }
    return messages;
  };
}

function textAt(body: Buffer, start: number): [text: string, next: number] {
  const end = body.indexOf(0, start);
  return [body.toString('utf8', start, end), end + 1];
}

/** Parses Bind: portal, statement, formats of the values, values, formats of the results. */
function readBind(body: Buffer): Omit<SentStatement, 'text'> {
  const [name, afterName] = textAt(body, textAt(body, 0)[1]);
  let at = afterName - 2;
  const formats = Array.from({ length: body.readInt16BE((at += 2)) }, () => body.readInt16BE((at += 2)));
  const count = body.readInt16BE((at += 2));
  at += 2;
  const values = Array.from({ length: count }, (_, index): Buffer | string | null => {
    const length = body.readInt32BE(at);
    const bytes = Buffer.from(body.subarray(at + 4, at + 4 + Math.max(0, length)));
    at += 4 + bytes.length;
    if (length === -1) return null;
    return (formats.length === 1 ? formats[0] : formats[index]) === 1 ? bytes : bytes.toString('utf8');
  });
  return { name, values };
}

/**
 * Records the statements between the service and PostgreSQL. Counted queries and round trips therefore belong to the
 * current code. The bare run repeats them without a list of statements that could become stale.
 *
 * Answers are delayed by some milliseconds, as by a distant database. On a fast loopback an answer may overtake the
 * next statement of the same burst, and one round trip would look like two.
 */
export class WireRecorder {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #turns: Turn[] | null = null;
  #waiting = 0;

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer((client) => this.#join(client, target));
  }

  static async start(databaseUrl: string): Promise<{ recorder: WireRecorder; url: string }> {
    const url = new URL(databaseUrl);
    const recorder = new WireRecorder({ host: url.hostname, port: Number(url.port) });
    await new Promise<void>((resolve) => recorder.#server.listen(0, '127.0.0.1', resolve));
    url.port = String((recorder.#server.address() as AddressInfo).port);
    return { recorder, url: url.href };
  }

  /** @returns the statements sent while `work` ran, and its result; nothing else may use the database meanwhile */
  async record<T>(work: () => Promise<T>): Promise<[Turn[], T]> {
    const turns: Turn[] = [];
    this.#turns = turns;
    const result = await work();
    this.#turns = null;
    return [turns, result];
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, target: { host: string; port: number }): void {
    const server = connect({ ...target, noDelay: true });
    const texts = new Map<string, string>();
    const [fromClient, fromServer] = [splitter(true), splitter(false)];
    let outstanding = 0;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.setNoDelay(true);
    const sent = (statement: SentStatement): void => {
      if (this.#waiting === 0) this.#turns?.push([]);
      this.#turns?.at(-1)?.push(statement);
    };
    client.on('data', (chunk: Buffer) => {
      for (const { type, body } of fromClient(chunk)) {
        if (type === 'P') {
          const [name, next] = textAt(body, 0);
          texts.set(name, textAt(body, next)[0]);
        } else if (type === 'B') {
          const { name, values } = readBind(body);
          sent({ name, text: texts.get(name) ?? '', values });
        } else if (type === 'Q') sent({ name: '', text: textAt(body, 0)[0], values: [] });
        if (type === 'Q' || type === 'S') {
          outstanding += 1;
          this.#waiting += 1;
        }
      }
      server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      setTimeout(() => {
        for (const { type } of fromServer(chunk)) {
          if (type !== 'Z' || outstanding === 0) continue; // the first one answers the login
          outstanding -= 1;
          this.#waiting -= 1;
        }
        client.write(chunk);
      }, FAR_AWAY);
    });
  }
}
