import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AccountsService } from '../accounts/index.js';
import { Clock } from '../core/clock.js';
import { notFound } from '../core/errors/index.js';
import { Drain } from '../core/drain.js';
import { readConfig } from '../core/config/index.js';
import { ErrorFilter, HttpAdapter } from '../core/http/index.js';
import { createLogger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { type Transaction, TransactionsService } from '../transactions/index.js';
import { CheckoutController } from './checkout.controller.js';
import { contentSecurityPolicy } from './checkout.csp.js';
import { ACCOUNT, aTransaction, ID, NOW } from './checkout.fixture.js';
import { CheckoutService } from './checkout.service.js';
import type { CheckoutAccount } from './checkout.view.js';

let app: NestExpressApplication;
let url: string;
let stored: Transaction | null;
let account: CheckoutAccount;

beforeAll(async () => {
  const module = await Test.createTestingModule({
    controllers: [CheckoutController],
    providers: [
      CheckoutService,
      {
        provide: TransactionsService,
        useValue: {
          getPublic: async (id: string) => {
            if (stored?.id !== id) throw notFound('charge');
            return stored;
          },
        },
      },
      { provide: AccountsService, useValue: { details: async () => account } },
      { provide: Clock, useValue: { now: () => NOW } },
    ],
  }).compile();
  const logger = createLogger('silent');
  const adapter = new HttpAdapter(readConfig({}), logger, new Metrics(), new Drain());
  app = module.createNestApplication<NestExpressApplication>(adapter, { logger: false, bodyParser: false });
  app.useGlobalFilters(new ErrorFilter(logger));
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
});

afterAll(() => app.close());

beforeEach(() => {
  stored = aTransaction();
  account = ACCOUNT;
});

interface Got {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
  readonly body: string;
}

async function get(path: string, language = ''): Promise<Got> {
  const response = await fetch(`${url}${path}`, { headers: { 'accept-language': language } });
  const bytes = Buffer.from(await response.arrayBuffer());
  const headers = Object.fromEntries(response.headers);
  return { statusCode: response.status, headers, bytes, body: bytes.toString('utf8') };
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy({ ownStyle: '' }),
  vary: 'Accept-Language',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': 'no-store',
};

describe('GET /checkout/:id', () => {
  it.each([ID, `ch_${ID}`])('returns the page, for %s, with its headers', async (id) => {
    const answer = await get(`/checkout/${id}`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject(PAGE_HEADERS);
    expect(answer.body).toContain('R$ 1.234,56');
    expect(answer.body).toContain(`src="${ID}/qr.png"`);
  });

  it.each([
    ['unknown', '0199a0c4-0000-7000-8000-000000000000'],
    ['malformed', 'abc'],
    ['hostile', '%3Cscript%3Ealert(1)%3C%2Fscript%3E'],
  ])('returns a friendly page with status 404 for an %s id', async (_kind, id) => {
    const answer = await get(`/checkout/${id}`);
    expect(answer.statusCode).toBe(404);
    expect(answer.headers).toMatchObject(PAGE_HEADERS);
    expect(answer.body).toContain('Cobrança não encontrada');
    expect(answer.body).not.toContain('alert(1)');
  });

  it('returns the page of a payment without Pix, which has no QR code', async () => {
    const boleto = { barcode: '0'.repeat(44), line: '1'.repeat(47), pdfUrl: 'https://psp.example/boleto.pdf' };
    stored = aTransaction({ paymentMethods: ['BOLETO'], brCode: null, artefacts: { BOLETO: boleto } });
    const answer = await get(`/checkout/${ID}`);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('Copiar linha do boleto');
    expect(answer.body).not.toContain('qr.png');
    expect((await get(`/checkout/${ID}/qr.png`)).statusCode).toBe(404);
  });
});

describe('the language of the pages', () => {
  it.each([
    ['', '', 'pt-BR'],
    ['pt-BR,pt;q=0.9,en;q=0.8', '', 'pt-BR'],
    ['en-US,en;q=0.9,pt;q=0.8', '', 'en'],
    ['de', '', 'pt-BR'],
    ['en', '?lang=pt', 'pt-BR'],
    ['pt', '?lang=en', 'en'],
    ['en', '?lang=xx', 'en'],
  ])('serves a browser that wants "%s" with the query "%s" in %s', async (language, query, expected) => {
    for (const path of [ID, 'nobody', `${ID}/receipt`]) {
      expect((await get(`/checkout/${path}${query}`, language)).body).toContain(`<html lang="${expected}">`);
    }
  });
});

describe('GET /checkout/:id/receipt', () => {
  const paidAt = new Date(NOW.getTime() - 1_000);

  it('returns a page for 30 days after the payment, by any method', async () => {
    stored = aTransaction({ status: 'PAID', paidAt, paidWith: 'BOLETO', paymentMethods: ['BOLETO'] });
    const answer = await get(`/checkout/${ID}/receipt`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject(PAGE_HEADERS);
    for (const text of ['Recibo de pagamento', 'R$ 1.234,56', 'Two loaves of bread', 'owner@mail.example', 'Boleto']) {
      expect(answer.body).toContain(text);
    }
    for (const secret of ['Private Name', '52998224725', 'private']) expect(answer.body).not.toContain(secret);
  });

  it.each([
    ['is not paid', {}],
    ['was paid 31 days ago', { status: 'PAID', paidAt: new Date(NOW.getTime() - 31 * 86_400_000) } as const],
  ])('returns a friendly 404 for a payment that %s', async (_what, changes) => {
    stored = aTransaction(changes);
    const answer = await get(`/checkout/${ID}/receipt`);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('Recibo não disponível');
  });
});

describe('the merchant’s brand', () => {
  it('appears on the page as a stylesheet that the policy allows, and as a picture', async () => {
    account = {
      ...ACCOUNT,
      accent: '#7a1fa2',
      logo: `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`,
    };
    const page = await get(`/checkout/${ID}`);
    expect(page.body).toContain('<style>:root{--button:#7a1fa2;--on-button:#fff}</style>');
    expect(page.headers['content-security-policy']).toBe(
      contentSecurityPolicy({ ownStyle: ':root{--button:#7a1fa2;--on-button:#fff}' }),
    );
    expect(page.body).toContain(`src="${ID}/logo"`);
    const logo = await get(`/checkout/${ID}/logo`);
    expect([logo.statusCode, logo.headers['content-type']]).toEqual([200, 'image/png']);
    expect(logo.bytes).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
  });

  it('leaves the page without brand when the merchant has none', async () => {
    expect((await get(`/checkout/${ID}/logo`)).statusCode).toBe(404);
    expect((await get(`/checkout/${ID}`)).body).not.toContain('class="logo"');
  });
});

describe('GET /checkout/:id/status', () => {
  it('returns JSON that nobody caches', async () => {
    stored = aTransaction({ status: 'PAID', paidAt: new Date('2026-03-10T02:12:00.123Z') });
    const answer = await get(`/checkout/${ID}/status`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(JSON.parse(answer.body)).toEqual({
      status: 'paid',
      paid_at: '2026-03-10T02:12:00.123Z',
      expires_at: '2026-03-10T02:30:00.000Z',
    });
  });
});

describe('GET /checkout/:id/qr.png', () => {
  it('returns a PNG that may be cached for a day', async () => {
    const answer = await get(`/checkout/${ID}/qr.png`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=86400, immutable',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  });

  it('returns the picture after the charge is over', async () => {
    stored = aTransaction({ status: 'EXPIRED' });
    expect((await get(`/checkout/${ID}/qr.png`)).statusCode).toBe(200);
  });

  it.each([
    ['there is no code', { brCode: null }],
    ['the charge was cancelled', { status: 'CANCELLED' }],
  ] as const)('returns an error envelope that nobody caches when %s', async (_, changes) => {
    stored = aTransaction(changes);
    const answer = await get(`/checkout/${ID}/qr.png`);
    expect(answer.statusCode).toBe(404);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'not_found_error', code: 'not_found' } });
    expect(answer.headers['cache-control'] ?? '').not.toContain('immutable');
  });
});
