import { describe, expect, it } from '@jest/globals';
import type { Acquirer } from './acquirer.port.js';
import { AcquirersService } from './acquirers.service.js';

const named = (name: string): Acquirer => ({ name }) as Acquirer;

describe('the acquirer of an account', () => {
  it('is the sandbox in test mode, even if the account has an acquirer, and its own acquirer in live mode', () => {
    const acquirers = new AcquirersService();
    acquirers.register(named('sandbox'), { servesTestMode: true });
    acquirers.register(named('bank'), { servesTestMode: false });
    expect(acquirers.for('test', { liveAcquirer: null }).name).toBe('sandbox');
    expect(acquirers.for('test', { liveAcquirer: 'bank' }).name).toBe('sandbox');
    expect(acquirers.for('live', { liveAcquirer: 'bank' }).name).toBe('bank');
    expect(() => acquirers.for('live', { liveAcquirer: null })).toThrow(
      expect.objectContaining({ status: 422, code: 'no_provider_configured' }),
    );
  });

  it('is created once for each name of a family, and used again', () => {
    const acquirers = new AcquirersService();
    const made: string[] = [];
    acquirers.registerFamily('pix-api', (name) => {
      made.push(name);
      return named(name);
    });
    const first = acquirers.for('live', { liveAcquirer: 'pix-api:1' });
    expect(acquirers.get('pix-api:1')).toBe(first);
    expect(acquirers.get('pix-api:2').name).toBe('pix-api:2');
    expect(made).toEqual(['pix-api:1', 'pix-api:2']);
  });

  it('cannot have a name that was never registered', () => {
    const acquirers = new AcquirersService();
    acquirers.registerFamily('pix-api', named);
    for (const name of ['bank', 'bank:1', 'pix-ap:1', '']) {
      expect(() => acquirers.get(name)).toThrow(`There is no acquirer adapter named "${name}"`);
    }
  });
});
