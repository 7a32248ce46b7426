import { describe, expect, it } from '@jest/globals';
import { loggedPath } from './logged-path.js';

const UUID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

describe('loggedPath', () => {
  it.each([
    ['/v1/charges', {}, '/v1/charges'],
    ['/v1/charges/:id', { id: UUID }, `/v1/charges/${UUID}`],
    ['/v1/charges/:id', { id: `ch_${UUID}` }, `/v1/charges/ch_${UUID}`],
    [
      '/v1/cases/:id/evidence/:evidence_id',
      { id: `med_${UUID}`, evidence_id: UUID },
      `/v1/cases/med_${UUID}/evidence/${UUID}`,
    ],
  ])('logs %s with %j as %s', (route, params, path) => {
    expect(loggedPath(route, params)).toBe(path);
  });

  it.each([
    'ak_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '52998224725',
    'maria@example.com',
    `${UUID}x`,
    `x/${UUID}`,
    UUID.toUpperCase(),
    '',
  ])('leaves out a value that is not an id: %j', (id) => {
    expect(loggedPath('/v1/charges/:id', { id })).toBe('/v1/charges/:id');
  });

  it('leaves the placeholder for a parameter that the request lacks', () => {
    expect(loggedPath('/v1/x/:constructor/:id', {})).toBe('/v1/x/:constructor/:id');
  });
});
