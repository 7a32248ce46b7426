import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type Agent, request as forward } from 'undici';
import { CA_CERTIFICATE, SERVER } from '../../tools/psp-simulator/certificates.js';
import { close, listen, readText } from '../../tools/psp-simulator/http.js';
import type { PspSimulator } from '../../tools/psp-simulator/simulator.js';
import { clientAgent } from './psp-client.js';
import { SELF_SIGNED } from './self-signed.js';

/** Kinds of requests to a PSP: a token, a creation, or a query of a state. */
export type Asked = 'token' | 'write' | 'read';

const html =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html>Nginx</html>');
  };
const json = (status: number, body: object) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Faulty answers of a reachable PSP */
export const ANSWERS = {
  'a 500': json(500, { type: 'https://pix.bcb.gov.br/api/v2/error/ErroInternoDoServidor', status: 500 }),
  'a 502 of its gateway': html(502),
  'a 503': json(503, { type: 'https://pix.bcb.gov.br/api/v2/error/ServicoIndisponivel', status: 503 }),
  'a 503 for an hour': html(503, { 'retry-after': '3600' }),
  'a 504 of its gateway': html(504),
  'a 429': html(429, { 'retry-after': '3600' }),
  'a broken connection': (response) => response.socket?.destroy(),
  'headers and a broken connection': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' }).flushHeaders();
    setTimeout(() => response.socket?.destroy(), 20);
  },
  'half a body': (response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': '500' }).write('{"txid":"');
    setTimeout(() => response.socket?.destroy(), 20);
  },
  'half a body in chunks': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"txid":"');
    setTimeout(() => response.socket?.destroy(), 20);
  },
  'a 200 that is no JSON': html(200),
  'a 201 that is no JSON': html(201),
  'a 200 about nothing': json(200, {}),
  'a 201 about nothing': json(201, {}),
  silence: () => undefined,
} as const satisfies Record<string, (response: ServerResponse) => void>;

/** Addresses that replace an unreachable PSP */
export type Absence = 'nobody listening' | 'a name that is none' | 'a certificate that nobody vouches for';

/** A PSP in front of the simulator: forwards each request unless its answer is faulty. */
export class FaultyPsp {
  /** The faulty kind of requests and its answer; null: none */
  fault: { readonly of: Asked; readonly answer: keyof typeof ANSWERS } | null = null;
  /** Questions that were answered wrongly, as `PUT cob`. */
  readonly wronged: string[] = [];
  readonly #agent: Agent = clientAgent();
  readonly #server: Server;
  readonly #untrusted: Server = createServer(SELF_SIGNED, (_request, response) => response.end());
  #origin = '';
  #untrustedOrigin = '';

  private constructor(private readonly simulator: PspSimulator) {
    this.#server = createServer({ ...SERVER, ca: CA_CERTIFICATE, requestCert: true }, (request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
  }

  static async start(simulator: PspSimulator): Promise<FaultyPsp> {
    const psp = new FaultyPsp(simulator);
    psp.#origin = `https://localhost:${await listen(psp.#server, 0)}`;
    psp.#untrustedOrigin = `https://localhost:${await listen(psp.#untrusted, 0)}`;
    return psp;
  }

  /** The addresses of a connection; those that `absent` is about lead nowhere. */
  urls(of: Asked | null = null, absence: Absence = 'nobody listening'): { baseUrl: string; tokenUrl: string } {
    const elsewhere = {
      'nobody listening': 'https://localhost:1',
      'a name that is none': 'https://psp.invalid',
      'a certificate that nobody vouches for': this.#untrustedOrigin,
    }[absence];
    const at = (url: string, isAbsent: boolean): string =>
      `${isAbsent ? elsewhere : this.#origin}${new URL(url).pathname}`;
    return {
      baseUrl: at(this.simulator.baseUrl, of === 'write' || of === 'read'),
      tokenUrl: at(this.simulator.tokenUrl, of === 'token'),
    };
  }

  async stop(): Promise<void> {
    await Promise.all([close(this.#server), close(this.#untrusted)]);
    await this.#agent.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    const asked: Asked = request.method === 'POST' ? 'token' : request.method === 'GET' ? 'read' : 'write';
    if (this.fault?.of === asked) {
      const [what = '', , more = ''] =
        (request.url ?? '')
          .split('?', 1)[0]
          ?.replace(/^\/api\/v2\//, '')
          .split('/') ?? [];
      this.wronged.push(`${request.method ?? ''} ${more === '' ? what : more}`);
      ANSWERS[this.fault.answer](response);
      return;
    }
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const { statusCode, headers, body } = await forward(
      `${new URL(this.simulator.baseUrl).origin}${request.url ?? ''}`,
      {
        dispatcher: this.#agent,
        method: request.method as 'GET' | 'PUT' | 'PATCH' | 'POST',
        headers: { authorization, ...(type === '' ? {} : { 'content-type': type }) },
        body: text === '' ? null : text,
      },
    );
    response.writeHead(statusCode, { 'content-type': String(headers['content-type']) }).end(await body.text());
  }
}
