import { expect, it } from '@jest/globals';
import { directEndpoint } from './direct-endpoint.js';

const scope = { accountId: '019a4c1e-0000-7c3d-9d52-6f1b2a3c4d5e', mode: 'test' } as const;
const url = 'https://merchant.example/orders/1042';

it('the endpoint of a payment’s own URL is one row with a constant id for each account, mode and URL', () => {
  const endpoint = directEndpoint(scope, url);
  // Rows that exist are found by it: it may never come out differently.
  expect(endpoint).toStrictEqual({ ...scope, url, id: '04b7f00c-9c7b-8f8c-934a-ba0970b7eae2' });
  expect(directEndpoint({ ...scope }, url).id).toBe(endpoint.id);
  const others = [
    directEndpoint({ ...scope, mode: 'live' }, url),
    directEndpoint({ ...scope, accountId: '019a4c1e-0000-7c3d-9d52-6f1b2a3c4d5f' }, url),
    directEndpoint(scope, `${url}/`),
  ];
  const ids = [endpoint, ...others].map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
