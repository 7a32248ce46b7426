import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeWith } from '../../support/needs.js';
import { openBrowser } from '../../support/browser.js';
import { complete, type EvidenceAnswer, png, reach, requestUpload } from '../../support/evidence.js';
import { aDisputedCharge } from '../../support/med.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const DASHBOARD = 'https://dashboard.example.com';
const OTHER = 'http://localhost:5173';
const CORS = /^(?:access-control-|vary$)/;

function corsHeaders(answer: Answer<unknown>): Record<string, string> {
  return Object.fromEntries([...answer.headers].filter(([name]) => CORS.test(name)));
}

function preflight(service: TestService, path: string, origin: string, method = 'PATCH'): Promise<Answer> {
  return service.call('OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    },
  });
}

/** An empty page on an origin of its own. */
async function servePage(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Dashboard</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

describe('a dashboard on an origin of its own', () => {
  const service = TestService.forSpec({ env: { DASHBOARD_ORIGIN: `${DASHBOARD}, ${OTHER}` } });
  let merchant: Merchant;
  let token: string;

  beforeAll(async () => {
    merchant = await service.merchant();
    token = await service.login(merchant.ownerEmail);
  });

  it.each([DASHBOARD, OTHER])('is allowed by the preflight: %s', async (origin) => {
    const answer = await preflight(service, '/v1/api-keys', origin);
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect(corsHeaders(answer)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
      'access-control-expose-headers':
        'X-Request-Id, X-Api-Version, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
  });

  it('may read answers, including refusals of the guards', async () => {
    const headers = { origin: DASHBOARD };
    for (const answer of [
      await service.call('GET', '/v1/api-keys', { token, headers }),
      await service.call('GET', '/v1/api-keys', { headers }),
      await service.call('GET', '/v1/operations/reviews', { token, headers }),
      await service.call('POST', '/v1/auth/login', { body: {}, headers }),
      await service.call('GET', '/v1/no-such-route', { token, headers }),
    ]) {
      expect(corsHeaders(answer)).toMatchObject({ 'access-control-allow-origin': DASHBOARD, vary: 'Origin' });
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it.each([
    'https://evil.example.com',
    'https://dashboard.example.com.evil.com',
    'https://dashboard.example.com:8443',
    'http://dashboard.example.com',
    'null',
    '',
  ])('must match exactly: %j is refused', async (origin) => {
    const asked = await preflight(service, '/v1/api-keys', origin);
    expect({ status: asked.status, ...corsHeaders(asked) }).toEqual({ status: 404, vary: 'Origin' });
    const answer = await service.call('GET', '/v1/api-keys', { token, headers: { origin } });
    expect(answer.status).toBe(200);
    expect(corsHeaders(answer)).toEqual({ vary: 'Origin' });
  });

  it('may not send keys, and gets nothing outside of the API', async () => {
    const asked = await preflight(service, '/v1/charges', DASHBOARD, 'POST');
    expect(asked.headers.get('access-control-allow-headers')).not.toMatch(/apikey|\*/i);
    for (const path of ['/docs', '/metrics', '/openapi.json', '/checkout/x', '/v1x', '/storagex']) {
      expect(corsHeaders(await preflight(service, path, DASHBOARD, 'GET'))).toEqual({ vary: 'Origin' });
    }
  });

  it('may send files to the URLs of the storage and read them, without a token or key', async () => {
    const { medCase } = await aDisputedCharge(service, merchant.testKey);
    const { body: ticket } = await requestUpload(service, merchant.testKey, medCase.id);
    const path = ticket.upload_url.slice('https://pay.example.com'.length);
    const asked = await preflight(service, path, DASHBOARD, 'PUT');
    expect({ status: asked.status, ...corsHeaders(asked) }).toEqual({
      status: 204,
      'access-control-allow-origin': DASHBOARD,
      'access-control-allow-methods': 'GET, HEAD, PUT',
      'access-control-allow-headers': 'Content-Type',
      'access-control-expose-headers': 'X-Request-Id, Content-Disposition',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    const stranger = await preflight(service, path, 'https://evil.example.com', 'PUT');
    expect({ status: stranger.status, ...corsHeaders(stranger) }).toEqual({ status: 404, vary: 'Origin' });
    // The page can read every answer, refusals included.
    const expected = { 'access-control-allow-origin': DASHBOARD, vary: 'Origin' };
    const refused = await service.call('PUT', path, { rawBody: 'x', headers: { origin: DASHBOARD } });
    expect(refused.status).toBe(400);
    expect(corsHeaders(refused)).toMatchObject(expected);
    const found = await service.call('GET', '/storage/objects/a/b', { headers: { origin: DASHBOARD } });
    expect(found.status).toBe(404);
    expect(corsHeaders(found)).toMatchObject(expected);
  });

  it('changes nothing for a request without an Origin', async () => {
    const answer = await service.call('GET', '/v1/wallets', { key: merchant.testKey });
    expect(answer.status).toBe(200);
    expect(corsHeaders(answer)).toEqual({ vary: 'Origin' });
    expect((await service.call('OPTIONS', '/v1/wallets')).status).toBe(404);
  });
});

describe('without DASHBOARD_ORIGIN', () => {
  const service = TestService.forSpec();

  it('a page of another origin can read nothing', async () => {
    const asked = await preflight(service, '/v1/api-keys', DASHBOARD);
    expect({ status: asked.status, ...corsHeaders(asked) }).toEqual({ status: 404 });
    expect(corsHeaders(await service.call('GET', '/v1/api-keys', { headers: { origin: DASHBOARD } }))).toEqual({});
  });

  it.each(['/v1/charges', '/v1/webhooks/event-catalog', '/no-such-route', '/health/live', '/openapi.json'])(
    'an answer that is no page forbids browsers everything: %s',
    async (path) => {
      const { headers } = await service.call('GET', path);
      expect(headers.get('content-security-policy')).toBe("default-src 'none';base-uri 'none';frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('permissions-policy')).toContain('camera=()');
      if (path.startsWith('/v1/')) expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      // PUBLIC_BASE_URL is https here.
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    },
  );

  it('the QR code may be shown on merchants’ own pages', async () => {
    const { testKey } = await service.merchant();
    const { body } = await service.createCharge(testKey);
    const { headers } = await service.call('GET', `/checkout/${body.id.slice(3)}/qr.png`);
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });
});

describeWith('browser')('pages in a real browser', () => {
  let service: TestService;
  let browser: Browser;
  let dashboard: Server;
  let stranger: Server;
  beforeAll(async () => {
    dashboard = await servePage();
    stranger = await servePage();
    service = await TestService.start({
      env: { PUBLIC_BASE_URL: 'http://localhost:3000', DASHBOARD_ORIGIN: originOf(dashboard) },
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
    for (const server of [dashboard, stranger]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  /** A page with every error on it; the console reports what the policy blocks */
  async function open(path: string): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('requestfailed', (request) => problems.push(`${request.url()} failed`));
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${String(response.status())} ${response.url()}`);
    });
    await page.goto(`${service.url}${path}`, { waitUntil: 'networkidle' });
    return { page, problems };
  }

  it('show the documentation with styles, pictures and a form that can be opened', async () => {
    const { page, problems } = await open('/docs');
    const operation = page.locator('.opblock-summary-path', { hasText: '/v1/webhooks/verify' });
    // Swagger UI draws only what is in sight, so the last part appears after scrolling.
    await waitFor(
      'the last operations',
      async () => {
        await page.mouse.wheel(0, 10_000);
        return operation.isVisible();
      },
      30_000,
    );
    await operation.click();
    await page.locator('button', { hasText: 'Try it out' }).click();
    await page.locator('button.execute').waitFor();
    const font = await page.evaluate('getComputedStyle(document.querySelector(".opblock-summary-path")).fontFamily');
    expect(font).toMatch(/monospace/);
    expect(problems).toEqual([]);
  });

  it('show the whole checkout, which follows its charge', async () => {
    const { testKey } = await service.merchant();
    const { body: charge } = await service.createCharge(testKey);
    const { page, problems } = await open(`/checkout/${charge.id.slice(3)}`);
    await service.simulate(testKey, charge.id, { event: 'pay' });
    await page.locator('main[data-status="paid"]').waitFor();
    expect(problems).toEqual([]);
  });

  it('a page of the dashboard’s origin can log in and list keys; one of another origin cannot', async () => {
    const { ownerEmail } = await service.merchant();
    const visit = async (server: Server): Promise<unknown> => {
      const page = await browser.newPage();
      await page.goto(originOf(server));
      const login = { url: service.url, email: ownerEmail, password: 'correct horse battery' };
      return page.evaluate(async ({ url, email, password }) => {
        try {
          const login = await fetch(`${url}/v1/auth/login`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ email, password }),
          });
          const { access_token: token } = (await login.json()) as { access_token: string };
          const keys = await fetch(`${url}/v1/api-keys`, { headers: { authorization: `Bearer ${token}` } });
          return { status: keys.status, id: keys.headers.get('x-request-id') !== null };
        } catch (error) {
          return String(error);
        }
      }, login);
    };
    expect(await visit(dashboard)).toEqual({ status: 200, id: true });
    expect(await visit(stranger)).toMatch(/Failed to fetch/);
  });

  it('a page of the dashboard’s origin can upload evidence and look at it; one of another origin cannot', async () => {
    const { testKey } = await service.merchant();
    const { medCase } = await aDisputedCharge(service, testKey);
    const visit = async (server: Server): Promise<unknown> => {
      const { body: ticket } = await requestUpload(service, testKey, medCase.id);
      const page = await browser.newPage();
      await page.goto(originOf(server));
      const file = { url: reach(service, ticket.upload_url), type: 'image/png', bytes: [...png()] };
      const put = await page.evaluate(async ({ url, type, bytes }) => {
        try {
          const body = new Blob([new Uint8Array(bytes)], { type });
          return (await fetch(url, { method: 'PUT', body })).status;
        } catch (error) {
          return String(error);
        }
      }, file);
      if (put !== 200) return put;
      const done = await complete<EvidenceAnswer>(service, testKey, medCase.id, ticket.id);
      return page.evaluate(
        async (url) => (await (await fetch(url)).arrayBuffer()).byteLength,
        reach(service, done.body.view_url),
      );
    };
    expect(await visit(dashboard)).toBe(1000);
    expect(await visit(stranger)).toMatch(/Failed to fetch/);
  });
});
