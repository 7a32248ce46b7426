import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { PixApiConnection, PixApiCredentials } from './connection.js';

export interface Asked {
  readonly method: string;
  /** The path without its query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: unknown;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged, instead of `body`. */
  readonly text?: string;
}

/** `drop`: the connection breaks after the request was read. `hang`: no answer ever comes. */
export type Script = (asked: Asked) => Reply | 'drop' | 'hang' | Promise<Reply>;

/** A fake PSP that answers as a spec tells it to. Tokens are given at /oauth/token: t1, t2, … */
export interface FakePsp {
  readonly url: string;
  /** Requests other than for tokens, with their answers. */
  readonly exchanges: { readonly asked: Asked; readonly reply: Reply | 'drop' | 'hang' }[];
  readonly tokenRequests: Asked[];
  script: Script;
  tokenScript: Script;
  /** Connections made so far. */
  readonly connections: () => number;
  stop(): Promise<void>;
}

export async function startPsp(tls?: ServerOptions): Promise<FakePsp> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const tokenRequests: Asked[] = [];
  const psp = {
    url: '',
    exchanges: [] as FakePsp['exchanges'],
    tokenRequests,
    script: (() => ({ status: 404, body: aProblem('NaoEncontrado', 404) })) as Script,
    tokenScript: (() => ({
      status: 200,
      body: { access_token: `t${tokenRequests.length}`, expires_in: 3600, token_type: 'Bearer' },
    })) as Script,
    connections: () => connections,
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(psp, request, Buffer.concat(chunks).toString(), response);
    });
  };
  const server = tls ? createHttps(tls, handle) : createHttp(handle);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  psp.url = `http${tls ? 's' : ''}://localhost:${(server.address() as AddressInfo).port}`;
  return Object.assign(psp, {
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  });
}

async function answer(
  psp: Pick<FakePsp, 'exchanges' | 'tokenRequests' | 'script' | 'tokenScript'>,
  request: IncomingMessage,
  text: string,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const asked: Asked = {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    text,
    body: text.startsWith('{') ? (JSON.parse(text) as unknown) : null,
  };
  const isToken = url.pathname === '/oauth/token';
  if (isToken) psp.tokenRequests.push(asked);
  const reply = await (isToken ? psp.tokenScript : psp.script)(asked);
  if (!isToken) psp.exchanges.push({ asked, reply });
  if (reply === 'hang') return;
  if (reply === 'drop') {
    request.socket.destroy();
    return;
  }
  const type = reply.status >= 400 ? 'application/problem+json' : 'application/json';
  response.writeHead(reply.status, { 'content-type': type, ...reply.headers });
  response.end(reply.text ?? (reply.body === undefined ? '' : JSON.stringify(reply.body)));
}

export const PIX_KEY = '7d9f0335-8dcc-4054-9bf9-0dbd61d36906';
export const TXID = '7978c0c97ea847e78e8849634473c1f1';
export const E2E = 'E12345678202009091221kkkkkkkkkkk';

export function aConnection(
  psp: Pick<FakePsp, 'url'>,
  own: Partial<PixApiConnection> & { credentials?: PixApiCredentials } = {},
): PixApiConnection {
  return {
    id: 'c1',
    accountId: 'a1',
    profile: 'standard',
    pixKey: PIX_KEY,
    baseUrl: psp.url,
    tokenUrl: `${psp.url}/oauth/token`,
    credentials: { clientId: 'the-client', clientSecret: 'the-secret', certificate: null, ca: null, variables: {} },
    version: 1,
    fees: [],
    ...own,
  };
}

/** A charge as the standard shows it, with a location. */
export function aCob(own: Record<string, unknown> = {}): Record<string, unknown> {
  const location = 'pix.example.com/qr/9d36b84fc70b478fb95c12729b90ca25';
  return {
    calendario: { criacao: '2026-09-09T20:15:00.358Z', expiracao: 3600 },
    txid: TXID,
    revisao: 0,
    loc: { id: 789, txid: TXID, location, tipoCob: 'cob', criacao: '2026-09-09T20:15:00.358Z' },
    location,
    status: 'ATIVA',
    valor: { original: '110.00' },
    chave: PIX_KEY,
    ...own,
  };
}

export function aPix(own: Record<string, unknown> = {}): Record<string, unknown> {
  return { endToEndId: E2E, txid: TXID, valor: '110.00', chave: PIX_KEY, horario: '2026-09-10T13:03:33.902Z', ...own };
}

export function aReturn(own: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'r1',
    rtrId: 'D12345678202009091000abcde123456',
    valor: '7.89',
    horario: { solicitacao: '2026-09-11T15:25:59.411Z' },
    status: 'EM_PROCESSAMENTO',
    ...own,
  };
}

export function aPage(pix: unknown[], pages = 1, page = 0): Record<string, unknown> {
  const paginacao = {
    paginaAtual: page,
    itensPorPagina: 100,
    quantidadeDePaginas: pages,
    quantidadeTotalDeItens: pix.length,
  };
  return { parametros: { inicio: '2026-09-10T00:00:00Z', fim: '2026-09-11T00:00:00Z', paginacao }, pix };
}

export function aProblem(type: string, status: number, violacoes?: object[]): Record<string, unknown> {
  return {
    type: `https://pix.bcb.gov.br/api/v2/error/${type}`,
    title: 'Operação inválida.',
    status,
    detail: 'A requisição não faz sentido.',
    ...(violacoes ? { violacoes } : {}),
  };
}
