import { describe, expect, it } from '@jest/globals';
import { Clock } from '../../../core/clock.js';
import { createLogger } from '../../../core/log/index.js';
import { Metrics } from '../../../core/metrics/index.js';
import type { PayoutOrder } from '../../payout-desk.port.js';
import { Answers } from '../answers.js';
import type { DeskCall, PixApiClient, PspAnswer } from '../pix-api.client.js';
import { PixApiError } from '../pix-api.errors.js';
import { findProfile } from '../profiles.js';
import { ConnectionDesk } from './desk.js';
import { example } from './example/index.fixture.js';
import { DESKS } from './index.js';

const ORDER: PayoutOrder = {
  accountId: 'a1',
  sendId: 's1',
  amount: 1990,
  target: { type: 'pix_key', key: 'm@example.com', taxId: null },
  ownTaxId: null,
  description: null,
};
const NOW = new Date('2026-09-09T20:30:00Z');

class StoppedClock extends Clock {
  override now(): Date {
    return NOW;
  }
}

function deskThat(answers: PspAnswer | Error): { desk: ConnectionDesk; made: DeskCall[] } {
  const made: DeskCall[] = [];
  const client = {
    pixKey: 'shop@example.com',
    profile: findProfile('standard'),
    fees: [],
    callDesk: async (call: DeskCall) => {
      made.push(call);
      if (answers instanceof Error) throw answers;
      return answers;
    },
  } as unknown as PixApiClient;
  const logger = createLogger('silent');
  const reader = new Answers('pix-api:c1', logger, new Metrics());
  return {
    desk: new ConnectionDesk('pix-api:c1', example, async () => client, reader, new StoppedClock(), logger),
    made,
  };
}
const transferred = (status: string, own: object = {}): PspAnswer => ({
  kind: 'ok',
  body: { id: 's1', value: '19.90', status, ...own },
});
const problem = { code: 'no_money', properties: [], words: '' };

describe('the example of a desk', () => {
  it('sends under our id', async () => {
    const { desk, made } = deskThat(transferred('SENT'));
    expect(await desk.send(ORDER)).toEqual({ kind: 'accepted', endToEndId: null });
    expect(made).toMatchObject([
      { path: '/transfers', headers: { 'idempotency-key': 's1' }, body: { value: '19.90' } },
    ]);
  });

  it.each<[string, PspAnswer | Error, unknown]>([
    ['a refusal', { kind: 'refused', status: 422, problem }, { kind: 'refused', reason: 'insufficient_funds' }],
    ['another amount', transferred('SENT', { value: '19.91' }), { kind: 'unknown' }],
    ['another status', transferred('WAITS'), { kind: 'unknown' }],
    ['a lost answer', new PixApiError('unknown', 'timeout', 'payout.send'), { kind: 'unknown' }],
    [
      'a call that was not sent',
      new PixApiError('unavailable', 'ECONNREFUSED', 'x'),
      { kind: 'not_now', retryAfterMs: 5_000 },
    ],
    ['a pause', new PixApiError('unavailable', 'http_429', 'x', 7_000), { kind: 'not_now', retryAfterMs: 7_000 }],
    ['a defect of its own', new TypeError('x is not a function'), { kind: 'unknown' }],
  ])('never throws, and reads %s', async (_, answer, expected) => {
    expect(await deskThat(answer).desk.send(ORDER)).toEqual(expected);
  });

  it.each<[string, PspAnswer | Error, unknown]>([
    ['a paid one', transferred('DONE'), { kind: 'paid', endToEndId: null, at: NOW, fee: 0, returns: [] }],
    ['a failed one', transferred('BACK'), { kind: 'failed', reason: 'refused' }],
    ['an unknown one', { kind: 'not_found', problem: { ...problem, code: 'no_transfer' } }, { kind: 'not_found' }],
    ['a 404 of a gateway', { kind: 'not_found' }, { kind: 'unknown' }],
    ['a defect of its own', new TypeError('x is not a function'), { kind: 'unknown' }],
  ])('looks up %s', async (_, answer, expected) => {
    expect(await deskThat(answer).desk.lookUp(ORDER)).toEqual(expected);
  });

  it.each<[object, unknown]>([
    [{ transfer: 's1', status: 'done' }, [{ kind: 'payout', reference: 's1/DONE' }]],
    [{ transfer: '../s1', status: 'done' }, null],
    [{ endToEndId: 'E1' }, null],
  ])('reads the entry %j of a callback, which anybody may have sent', (entry, hints) => {
    expect(example.hintsOf(entry)).toEqual(hints);
  });

  it('has neither list nor balance if its PSP has none', () => {
    const { desk } = deskThat(transferred('SENT'));
    expect([desk.list, desk.balance]).toEqual([null, null]);
  });
});

describe('the list of desks', () => {
  it.each(Object.entries(DESKS))('has %s under the name of a profile, with its source', (name, desk) => {
    expect(findProfile(name)?.payouts).toEqual({ value: name, source: desk.source });
    expect(desk.source).toMatch(/^https:\/\//);
  });
});
