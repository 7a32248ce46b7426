import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ReturnRequest } from '../../src/acquirers/acquirer.port.js';
import { PixApiAcquirer } from '../../src/acquirers/pix-api/pix-api.acquirer.js';
import { PixApiClient } from '../../src/acquirers/pix-api/pix-api.client.js';
import { findProfile } from '../../src/acquirers/pix-api/profiles.js';
import {
  type Asked,
  aCob,
  aConnection,
  aPage,
  aPix,
  aProblem,
  aReturn,
  E2E,
  type FakePsp,
  type Reply,
  startPsp,
  TXID,
} from '../../src/acquirers/pix-api/psp.fixture.js';
import { Clock } from '../../src/core/clock.js';
import { createLogger } from '../../src/core/log/index.js';
import { Metrics } from '../../src/core/metrics/index.js';
import { describeWith } from '../support/needs.js';
import { pixApiDocument } from '../support/pix-api-document.js';
import { type Prism, startPrism } from '../support/prism.js';

const document = pixApiDocument();

const CREATED = new Date('2026-09-09T20:15:00Z');
const CALLBACK = 'https://recebe.example.com/callbacks/pix/c1/secret';
const PAYERS = [
  { name: null, document: null },
  { name: 'Maria', document: '52998224725' },
  { name: 'Loja', document: '11222333000181' },
];

/** Sends every request that the adapter makes, in every form. Other specs check the results. */
async function everyRequest(acquirer: PixApiAcquirer, client: PixApiClient): Promise<void> {
  const returned: ReturnRequest = {
    accountId: 'a1',
    way: 'devolution',
    reference: E2E,
    returnId: 'r1',
    cause: 'refund',
    amount: 789,
    currency: 'BRL',
    destination: null,
  };
  const calls: (() => unknown)[] = [
    ...PAYERS.flatMap((payer) =>
      [1, 11_000, 999_999_999_999].map((amount) => () => {
        const expiresAt = new Date(Date.now() + 3_600_000);
        const merchant = { name: 'Loja', city: 'SAO PAULO' };
        return acquirer.pixIssuer.issue({ txid: TXID, amount, expiresAt, merchant, payer });
      }),
    ),
    () => acquirer.getPixCharge(TXID),
    () => acquirer.cancel(TXID),
    () => acquirer.getStatus(TXID),
    () => acquirer.getPix(E2E),
    () => acquirer.getDispute(`${E2E}/r1`),
    ...[true, false].map((withReturns) => async () => {
      const to = new Date(CREATED.getTime() + 7 * 3_600_000 + 1);
      for await (const line of acquirer.statement({ from: CREATED, to, withReturns })) expect(line).toBeDefined();
    }),
    () => acquirer.requestReturn(returned),
    () => acquirer.getReturn(returned),
    () => client.registerWebhook(CALLBACK),
    () => client.webhook(),
  ];
  for (const call of calls) await Promise.resolve(call()).catch(() => undefined);
}

/** Answers as a PSP that follows the standard. */
function byTheBook({ method, path }: { method: string; path: string }): Reply {
  const isPut = method === 'PUT';
  if (path.startsWith('/webhook')) {
    const body = { webhookUrl: CALLBACK, chave: 'x', cnpj: '11222333000181', criacao: '2026-09-09T20:15:00Z' };
    return { status: 200, body: isPut ? undefined : body };
  }
  if (path.includes('/devolucao/')) return { status: isPut ? 201 : 200, body: aReturn() };
  const devolucoes = [aReturn({ natureza: 'MED_FRAUDE' }), aReturn({ id: 'r2', status: 'DEVOLVIDO' })];
  if (path === '/pix') return { status: 200, body: aPage([aPix(), aPix({ endToEndId: 'E'.repeat(32), devolucoes })]) };
  if (path.startsWith('/pix/')) return { status: 200, body: aPix({ devolucoes }) };
  const removed = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' };
  const paid = { status: 'CONCLUIDA', pix: [aPix()] };
  return { status: isPut ? 201 : 200, body: aCob({ PUT: {}, PATCH: removed, GET: paid }[method]) };
}

describe('the adapter of API Pix', () => {
  let psp: FakePsp;
  let client: PixApiClient;
  let acquirer: PixApiAcquirer;

  beforeEach(async () => {
    psp = await startPsp();
    client = new PixApiClient(aConnection(psp), findProfile('standard')!);
    acquirer = new PixApiAcquirer('pix-api:c1', async () => client, new Clock(), createLogger('silent'), new Metrics());
  });
  afterEach(async () => {
    await client.close();
    await psp.stop();
  });

  describeWith('pixApiDocument')("compared with BACEN's document", () => {
    const wrong = (): string[] =>
      psp.exchanges.flatMap(({ asked, reply }) => {
        const { method, path, query, body } = asked;
        const answered =
          typeof reply === 'string' ? [] : document!.validateResponse(method, path, reply.status, reply.body);
        const found = [...document!.validateRequest(method, path, body, query), ...answered];
        return found.map((text) => `${method} ${path}: ${text}`);
      });

    it('sends requests and reads answers that all fit the document', async () => {
      psp.script = byTheBook;
      await everyRequest(acquirer, client);
      expect(new Set(psp.exchanges.map(({ asked }) => `${asked.method} ${asked.path.split('/')[1]}`))).toEqual(
        new Set(['PUT cob', 'GET cob', 'PATCH cob', 'GET pix', 'PUT pix', 'PUT webhook', 'GET webhook']),
      );
      expect(wrong()).toEqual([]);
    });

    it('reads refusals that fit the document', async () => {
      psp.script = ({ method }) =>
        method === 'GET'
          ? { status: 404, body: aProblem('NaoEncontrado', 404) }
          : { status: 400, body: aProblem('CobOperacaoInvalida', 400, [{ razao: 'x', propriedade: 'y', valor: 'z' }]) };
      await everyRequest(acquirer, client);
      // The document knows no 404 of a list.
      expect(wrong().filter((text) => !text.startsWith('GET /pix: '))).toEqual([]);
    });

    it('notices requests and answers that do not fit the document', () => {
      expect(document!.validateRequest('PUT', `/cob/${TXID}`, { valor: { original: '1.0' }, chave: 'x' })).not.toEqual(
        [],
      );
      expect(
        document!.validateRequest('PUT', '/cob/short', { calendario: {}, valor: { original: '1.00' }, chave: 'x' }),
      ).toHaveLength(1);
      expect(document!.validateRequest('GET', '/pix', undefined, { inicio: 'now', fin: 'x' })).toHaveLength(3);
      expect(document!.validateRequest('GET', '/nothing', undefined)).toHaveLength(1);
      expect(document!.validateResponse('PUT', `/cob/${TXID}`, 200, aCob())).toHaveLength(1);
      expect(document!.validateResponse('GET', `/cob/${TXID}`, 200, aCob({ status: 'X' }))).not.toEqual([]);
      expect(document!.validateCallback({ pix: [{}] })).not.toEqual([]);
      expect(document!.validateCallback({ pix: [aPix({ devolucoes: [aReturn()] })] })).toEqual([]);
    });
  });

  describeWith('pixApiDocument', 'prism')('compared with Prism serving the document', () => {
    let server: Prism;
    beforeAll(async () => {
      server = await startPrism(document!.path);
    }, 60_000);
    afterAll(() => server.stop());

    /** Asks Prism the same. @returns its status, and what it finds wrong with the request */
    async function ask({
      method,
      path,
      query,
      headers,
      text,
    }: Asked): Promise<{ status: number; violations: string[] }> {
      const answer = await fetch(`${server.url}${path}?${new URLSearchParams(query).toString()}`, {
        method,
        headers: { 'content-type': 'application/json', authorization: headers.authorization ?? '' },
        ...(text === '' ? {} : { body: text }),
      });
      await answer.arrayBuffer();
      const found = JSON.parse(answer.headers.get('sl-violations') ?? '[]') as {
        location: string[];
        message: string;
      }[];
      const wrong = found.filter(({ location: [where] }) => where !== 'response');
      return {
        status: answer.status,
        violations: wrong.map(({ location, message }) => `${location.join('.')}: ${message}`),
      };
    }

    it('sends only requests that Prism accepts', async () => {
      psp.script = byTheBook;
      await everyRequest(acquirer, client);
      expect(psp.exchanges.length).toBeGreaterThan(18);
      for (const { asked } of psp.exchanges) {
        const { status, violations } = await ask(asked);
        expect([asked.method, asked.path, status < 300, violations]).toEqual([asked.method, asked.path, true, []]);
      }
    }, 60_000);

    it('notices that Prism refuses a wrong request', async () => {
      const own = {
        method: 'PUT',
        path: `/cob/${TXID}`,
        query: {},
        headers: { authorization: 'Bearer x' },
        body: null,
      };
      const { status } = await ask({ ...own, text: '{"chave":7}' });
      expect(status).toBeGreaterThanOrEqual(400);
    });
  });
});
