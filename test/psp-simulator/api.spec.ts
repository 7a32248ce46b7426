import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { CA_CERTIFICATE, CLIENT } from '../../tools/psp-simulator/certificates.js';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { newTxid, parseBrCode } from '../../src/brazil/index.js';
import { PspUnderTest } from '../support/psp-client.js';
import { SELF_SIGNED } from '../support/self-signed.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const OTHER = { clientId: 'other', clientSecret: 'another secret', pixKeys: ['loja@example.com', '+5511999998888'] };
const COB = { calendario: { expiracao: 3_600 }, valor: { original: '110.00' }, chave: KEY };

let psp: PspUnderTest;
let other: PspUnderTest;

beforeAll(async () => {
  psp = await PspUnderTest.start({ merchants: [DEFAULT_MERCHANT, OTHER] });
  other = psp.as(OTHER);
});

afterAll(() => psp.stop());

/** The properties that an answer finds fault with. */
function faulted(body: Readonly<Record<string, unknown>>): string[] {
  return ((body['violacoes'] ?? []) as { propriedade: string }[]).map(({ propriedade }) => propriedade);
}

async function newCob(client = psp, body: object = COB): Promise<string> {
  const txid = newTxid();
  expect(await client.call('PUT', `/cob/${txid}`, body)).toMatchObject({ status: 201 });
  return txid;
}

describe('the authentication of the simulator', () => {
  it.each([
    ['no certificate', {}],
    ['a certificate of somebody else', SELF_SIGNED],
  ])('refuses a client with %s, at the token endpoint too', async (_name, certificate) => {
    const stranger = new Agent({ connect: { ca: CA_CERTIFICATE, ...certificate } });
    for (const url of [psp.simulator.tokenUrl, `${psp.simulator.baseUrl}/pix`]) {
      await expect(psp.send('POST', url, { dispatcher: stranger })).rejects.toThrow();
    }
    await stranger.destroy();
  });

  it('accepts the certificate as PKCS #12', async () => {
    const { pfx, passphrase } = CLIENT;
    const agent = new Agent({ connect: { ca: CA_CERTIFICATE, pfx: Buffer.from(pfx, 'base64'), passphrase } });
    const answer = await psp.send('GET', `${psp.simulator.baseUrl}/cob/x`, { dispatcher: agent });
    expect(answer.status).toBe(401);
    await agent.destroy();
  });

  it('issues tokens for credentials by Basic or in a body of form or JSON', async () => {
    const expected = { token_type: 'Bearer', expires_in: 3_600, scope: 'cob.read pix.read' };
    const basic = await psp.token({ scope: 'cob.read pix.read' });
    expect(basic).toMatchObject({ status: 200, body: expected });
    const fields = {
      grant_type: 'client_credentials',
      client_id: OTHER.clientId,
      client_secret: OTHER.clientSecret,
      scope: 'cob.read pix.read',
    };
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', new URLSearchParams(fields).toString()],
      ['application/json', JSON.stringify(fields)],
    ] as const) {
      const answer = await psp.send('POST', psp.simulator.tokenUrl, { headers: { 'content-type': type }, body });
      expect(answer).toMatchObject({ status: 200, body: expected });
    }
  });

  it('refuses wrong credentials, grants and scopes', async () => {
    const wrong = psp.as({ clientId: OTHER.clientId, clientSecret: DEFAULT_MERCHANT.clientSecret });
    expect(await wrong.token()).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(await psp.token({ scope: 'cob.read everything' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
    expect(await psp.token({ grant_type: 'password' })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    });
  });

  it('refuses unknown and expired tokens with 401, and a scope that was not granted with 403', async () => {
    const read = String((await psp.token({ scope: 'cob.read' })).body['access_token']);
    const send = (token: string, method: 'GET' | 'PUT' = 'GET') =>
      psp.send(method, `${psp.simulator.baseUrl}/cob/${newTxid()}`, { headers: { authorization: `Bearer ${token}` } });
    expect((await send(read)).status).toBe(404);
    expect(await send(read, 'PUT')).toMatchObject({
      status: 403,
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/AcessoNegado' },
    });
    expect((await send('unknown')).status).toBe(401);
    psp.simulator.expireTokens();
    expect(await send(read)).toMatchObject({ status: 401, headers: { 'content-type': 'application/problem+json' } });
    psp.forgetToken();
    other.forgetToken();
  });
});

describe('charges', () => {
  it('are created with a BR code that leads to the simulator', async () => {
    const txid = newTxid();
    const devedor = { cpf: '12345678909', nome: 'José da Silva' };
    const body = { ...COB, devedor, solicitacaoPagador: 'Pedido?', infoAdicionais: [{ nome: 'Loja', valor: '7' }] };
    const created = await psp.call('PUT', `/cob/${txid}`, body);
    expect(created).toMatchObject({
      status: 201,
      body: { ...body, txid, revisao: 0, status: 'ATIVA', calendario: { expiracao: 3_600 } },
    });
    const code = parseBrCode(String(created.body['pixCopiaECola']));
    expect(code).toMatchObject({ kind: 'dynamic', location: created.body['location'] });
    expect(created.body['location']).toMatch(/^localhost:\d+\/qr\/v2\/[0-9a-f]{32}$/);
    expect((await psp.call('GET', `/cob/${txid}`)).body).toEqual(created.body);
  });

  it('stay unchanged when they are created again, and are revised by another body or by PATCH', async () => {
    const txid = await newCob();
    expect((await psp.call('PUT', `/cob/${txid}`, COB)).body).toMatchObject({ revisao: 0 });
    const dearer = { ...COB, valor: { original: '120.50' } };
    expect((await psp.call('PUT', `/cob/${txid}`, dearer)).body).toMatchObject({ revisao: 1, ...dearer });
    const patched = await psp.call('PATCH', `/cob/${txid}`, { solicitacaoPagador: 'Mesa?' });
    expect(patched).toMatchObject({ status: 200, body: { revisao: 2, solicitacaoPagador: 'Mesa?', ...dearer } });
    expect((await psp.call('GET', `/cob/${txid}?revisao=0`)).body).toMatchObject({ revisao: 0, ...COB });
    expect(await psp.call('GET', `/cob/${txid}?revisao=3`)).toMatchObject({
      status: 400,
      body: { type: expect.stringMatching(/\/CobConsultaInvalida$/) },
    });
  });

  it('can be configured to refuse a txid that exists, as many PSPs do', async () => {
    const txid = await newCob();
    psp.simulator.change({ repeatedTxid: 'refuse' });
    const again = await psp.call('PUT', `/cob/${txid}`, COB);
    psp.simulator.change({ repeatedTxid: 'revise' });
    expect(again).toMatchObject({ status: 400, body: { type: expect.stringMatching(/\/CobOperacaoInvalida$/) } });
    expect(faulted(again.body)).toEqual(['cob.txid']);
  });

  it('are removed once, by a request that changes nothing else', async () => {
    const txid = await newCob();
    const removal = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' };
    expect((await psp.call('PATCH', `/cob/${txid}`, { ...removal, chave: KEY })).status).toBe(400);
    expect(await psp.call('PATCH', `/cob/${txid}`, removal)).toMatchObject({
      status: 200,
      body: { ...removal, revisao: 1 },
    });
    expect((await psp.call('PATCH', `/cob/${txid}`, removal)).status).toBe(400);
    expect((await psp.call('PUT', `/cob/${txid}`, { ...COB, valor: { original: '1.00' } })).status).toBe(400);
    expect(() => psp.simulator.pay({ txid })).toThrow(/REMOVIDA_PELO_USUARIO_RECEBEDOR/);
  });

  it.each<[string, object | string, string[]]>([
    ['nothing', {}, ['cob.calendario', 'cob.valor.original', 'cob.chave']],
    ['no JSON', '{"calendario":', []],
    ['an expiry of 0', { ...COB, calendario: { expiracao: 0 } }, ['cob.calendario.expiracao']],
    ['an amount of 0', { ...COB, valor: { original: '0.00' } }, ['cob.valor.original']],
    ['an amount as number', { ...COB, valor: { original: 110 } }, ['cob.valor.original']],
    ['a key of another', { ...COB, chave: OTHER.pixKeys[0] }, ['cob.chave']],
    ['two documents', { ...COB, devedor: { cpf: '12345678909', cnpj: '11222333000181', nome: 'J' } }, ['cob.devedor']],
    ['a wrong check digit', { ...COB, devedor: { cpf: '12345678900', nome: 'J' } }, ['cob.devedor']],
    ['a debtor without name', { ...COB, devedor: { cpf: '12345678909' } }, ['cob.devedor']],
    ['a location', { ...COB, loc: { id: 1 } }, ['cob.loc.id']],
    ['a long question', { ...COB, solicitacaoPagador: 'x'.repeat(141) }, ['cob.solicitacaoPagador']],
    ['a note without value', { ...COB, infoAdicionais: [{ nome: 'Loja' }] }, ['cob.infoAdicionais']],
  ])('are refused with %s', async (_name, body, properties) => {
    const answer = await psp.call('PUT', `/cob/${newTxid()}`, body);
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'application/problem+json' } });
    expect(faulted(answer.body)).toEqual(properties);
  });

  it('belong to one merchant: another may use the same txid and finds nothing of it', async () => {
    const txid = await newCob();
    expect(await other.call('GET', `/cob/${txid}`)).toMatchObject({
      status: 404,
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/CobNaoEncontrado' },
    });
    const own = { ...COB, chave: OTHER.pixKeys[1], valor: { original: '1.00' } };
    expect((await other.call('PUT', `/cob/${txid}`, own)).status).toBe(201);
    expect((await psp.call('GET', `/cob/${txid}`)).body).toMatchObject(COB);
    expect(() => psp.simulator.pay({ txid })).toThrow(/clientId/);
    expect(psp.simulator.pay({ txid, clientId: OTHER.clientId })).toMatchObject({ valor: '1.00' });
  });

  it.each(['/cob', '/cobv/x', '/cob/%E0%A4%A', '/', '/pix/x/devolucao'])('get a 404 for %s', async (path) => {
    const answer = await psp.call('GET', path);
    expect(answer).toMatchObject({ status: 404, body: { status: 404 } });
  });
});

describe('webhooks', () => {
  it('are registered, read, replaced and removed by key', async () => {
    const path = `/webhook/${KEY}`;
    expect((await psp.call('GET', path)).status).toBe(404);
    expect((await psp.call('PUT', path, { webhookUrl: 'http://127.0.0.1:9/one' })).status).toBe(200);
    expect((await psp.call('PUT', path, { webhookUrl: 'https://shop.example/two' })).status).toBe(200);
    expect(await psp.call('GET', path)).toMatchObject({
      status: 200,
      body: { webhookUrl: 'https://shop.example/two', chave: KEY, cnpj: '11222333000181' },
    });
    expect((await other.call('GET', path)).status).toBe(404);
    expect((await psp.call('DELETE', path)).status).toBe(204);
    expect(await psp.call('DELETE', path)).toMatchObject({
      status: 404,
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/WebhookNaoEncontrado' },
    });
  });

  it.each([
    ['a key of another', encodeURIComponent(OTHER.pixKeys[0] ?? ''), { webhookUrl: 'https://shop.example' }, 'chave'],
    ['no URL', KEY, { webhookUrl: 'shop.example' }, 'webhook.webhookUrl'],
    ['nothing', KEY, {}, 'webhook.webhookUrl'],
  ])('are refused with %s', async (_name, key, body, property) => {
    const answer = await psp.call('PUT', `/webhook/${key}`, body);
    expect(answer.body['type']).toBe('https://pix.bcb.gov.br/api/v2/error/WebhookOperacaoInvalida');
    expect(faulted(answer.body)).toEqual([property]);
  });
});
