import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Answers without an end: what comes first, and what then comes over and over. */
export const ENDLESS_ANSWERS: Readonly<Record<string, readonly [start: string, piece: string]>> = {
  'a reason phrase': ['HTTP/1.1 200 ', 'x'],
  'blank lines': ['', '\r\n'],
  'blanks before the value of a header': ['HTTP/1.1 200 OK\r\nA:', ' '],
  'a header': ['HTTP/1.1 200 OK\r\nA: ', 'x'],
  'many headers': ['HTTP/1.1 200 OK\r\n', 'A: b\r\n'],
  'interim answers': ['', 'HTTP/1.1 100 Continue\r\n\r\n'],
  'early hints': ['', 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'],
  'one interim answer': ['HTTP/1.1 100 ', 'x'],
};

/** Answers whose status is known before the part without an end begins. */
export const ENDLESS_BODIES: Readonly<Record<string, readonly [start: string, piece: string]>> = {
  'a chunk extension': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1', ';x=y'],
  'a quoted chunk extension': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x="', 'y'],
  'the zeros of a chunk size': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '0'],
  'extensions of tiny chunks': [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    `1;${'x'.repeat(999)}\r\na\r\n`,
  ],
  trailers: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', 'A: b\r\n'],
  'a body': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1000\r\n'.padEnd(6 + 4096, 'x') + '\r\n'],
  'blank lines after the answer': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', '\r\n'],
};

/** A peer that answers each request with one of them, as fast as it is read. */
export class EndlessPeer {
  /** Bytes that the kernel has taken from each connection that is closed, with what the other side never read. */
  readonly closed: number[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket);
    const block = Buffer.from(this.piece.repeat(Math.ceil(65_536 / this.piece.length)));
    const more = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.once('data', () => {
      socket.write(this.start);
      more();
    });
    socket.on('drain', more).on('error', () => undefined);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.closed.push(socket.bytesWritten - socket.writableLength);
    });
  });

  private constructor(
    private readonly start: string,
    private readonly piece: string,
  ) {}

  static async listen([start, piece]: readonly [string, string]): Promise<EndlessPeer> {
    const peer = new EndlessPeer(start, piece);
    peer.#server.listen(0, '127.0.0.1');
    await once(peer.#server, 'listening');
    return peer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
