import { describe, expect, it } from '@jest/globals';
import {
  type Acquirer,
  AcquirersService,
  type PayoutDesk,
  type PayoutDeskCapabilities,
  type ReturnFailure,
  type ReturnRequest,
  type ReturnState,
} from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { createLogger } from '../../core/log/index.js';
import { type EarlierCalls, RETURN_BACKOFF, ReturnCalls } from './return-calls.service.js';

const REQUEST: ReturnRequest = {
  accountId: '019aa0f0-0000-7000-8000-000000000001',
  cause: 'refund',
  way: 'cashout',
  reference: 'E1',
  returnId: 'r1',
  amount: 1,
  currency: 'BRL',
  destination: '52998224725',
};

const RETURNED: ReturnState = { kind: 'returned', bankReference: 'E2', fee: 0 };
const REFUSED: ReturnState = { kind: 'failed', reason: 'refused' };
const ABSENT: ReturnState = { kind: 'not_found' };
const UNDER_WAY: ReturnState = { kind: 'in_progress' };
const SILENCE = new Error('time-out');

/** Builds an acquirer that gives these answers and no other; `ask` and `send` are the calls in their order. */
function calls(
  answers: Record<'ask' | 'send', (ReturnState | Error)[]>,
  desk?: Pick<PayoutDeskCapabilities, 'isNotFoundFinal' | 'quietMs'>,
): { calls: ReturnCalls; made: string[] } {
  const made: string[] = [];
  const next = async (what: 'ask' | 'send'): Promise<ReturnState> => {
    made.push(what);
    const answer = answers[what].shift();
    if (answer === undefined) throw new Error(`One ${what} too many`);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const acquirers = new AcquirersService();
  const bank: Partial<Acquirer> = {
    name: 'bank',
    getReturn: (name) => (expect(name).toBe(REQUEST), next('ask')),
    requestReturn: (request) => (expect(request).toBe(REQUEST), next('send')),
    ...(desk && { payouts: { capabilities: desk } as PayoutDesk }),
  };
  acquirers.register(bank as Acquirer, { servesTestMode: false });
  return { calls: new ReturnCalls(acquirers, new Clock(), createLogger('silent')), made };
}

/** Always keeps the lease; test/e2e/live/overtaken-runs.e2e.spec.ts tests a lost one. */
const prolong = async (): Promise<void> => undefined;

const earlier = (attempts: number, minutes: number): EarlierCalls => ({
  attempts,
  since: new Date(Date.now() - minutes * 60_000),
});

describe('money that goes back', () => {
  it.each<[ReturnState | Error, ReturnState]>([
    [UNDER_WAY, UNDER_WAY],
    [RETURNED, RETURNED],
    [REFUSED, REFUSED],
    [SILENCE, UNDER_WAY],
  ])('is sent at once when no earlier call can have arrived: %j → %j', async (answer, state) => {
    const bank = calls({ ask: [], send: [answer] });
    expect(await bank.calls.advance('bank', REQUEST, null, prolong)).toEqual(state);
    expect(bank.made).toEqual(['send']);
  });

  it.each<[(ReturnState | Error)[], (ReturnState | Error)[], ReturnState, string[]]>([
    [[UNDER_WAY], [], UNDER_WAY, ['ask']],
    [[RETURNED], [], RETURNED, ['ask']],
    [[REFUSED], [], REFUSED, ['ask']],
    [[SILENCE], [], UNDER_WAY, ['ask']],
    // The earlier call never arrived.
    [[ABSENT], [UNDER_WAY], UNDER_WAY, ['ask', 'send']],
    [[ABSENT], [SILENCE], UNDER_WAY, ['ask', 'send']],
    // The second call is refused: the first one has arrived after all, or may still arrive.
    [[ABSENT, RETURNED], [REFUSED], RETURNED, ['ask', 'send', 'ask']],
    [[ABSENT, UNDER_WAY], [REFUSED], UNDER_WAY, ['ask', 'send', 'ask']],
    [[ABSENT, SILENCE], [REFUSED], UNDER_WAY, ['ask', 'send', 'ask']],
    [[ABSENT, ABSENT], [REFUSED], UNDER_WAY, ['ask', 'send', 'ask']],
  ])('is looked up first when an earlier call may have arrived: %j, %j → %j', async (ask, send, state, made) => {
    const bank = calls({ ask: [...ask], send: [...send] });
    expect(await bank.calls.advance('bank', REQUEST, earlier(9, 60), prolong)).toEqual(state);
    expect(bank.made).toEqual(made);
  });

  it('is refused when the acquirer repeats its refusal after ten attempts', async () => {
    const bank = calls({ ask: [ABSENT, ABSENT], send: [REFUSED] });
    expect(await bank.calls.advance('bank', REQUEST, earlier(10, 9), prolong)).toEqual(REFUSED);
  });

  it('is not refused while its first call may still arrive, after any number of attempts', async () => {
    const bank = calls({ ask: [ABSENT, ABSENT], send: [REFUSED] });
    expect(await bank.calls.advance('bank', REQUEST, earlier(30, 7), prolong)).toEqual(UNDER_WAY);
  });

  describe('by a desk that examines sends for 90 minutes', () => {
    const quietMs = 90 * 60_000;

    const refused = (reason: ReturnFailure): ReturnState => ({ kind: 'failed', reason });
    it.each<[ReturnFailure, number, boolean, ReturnState]>([
      // A call that was lost meanwhile may have used the balance, however old the first call is.
      ['insufficient_funds', 91, true, UNDER_WAY],
      ['insufficient_funds', 6_000, true, UNDER_WAY],
      ['refused', 6_000, true, UNDER_WAY],
      ['refused', 6_000, false, UNDER_WAY],
      ['amount_exceeded', 6_000, true, UNDER_WAY],
      // Every call has the same receiver.
      ['destination_invalid', 89, true, UNDER_WAY],
      ['destination_invalid', 91, true, refused('destination_invalid')],
      ['destination_invalid', 91, false, refused('destination_invalid')],
    ])('is refused for %s after %i minutes, if "not found" is final: %s → %j', async (...row) => {
      const [reason, minutes, isNotFoundFinal, state] = row;
      const bank = calls({ ask: [ABSENT, ABSENT], send: [refused(reason)] }, { isNotFoundFinal, quietMs });
      expect(await bank.calls.advance('bank', REQUEST, earlier(30, minutes), prolong)).toEqual(state);
    });

    it('is refused by the first call, which no other call can have preceded', async () => {
      const bank = calls({ ask: [], send: [refused('insufficient_funds')] }, { isNotFoundFinal: false, quietMs });
      expect(await bank.calls.advance('bank', REQUEST, null, prolong)).toEqual(refused('insufficient_funds'));
    });

    it.each([
      [89, true, UNDER_WAY],
      [91, true, { kind: 'failed', reason: 'amount_exceeded' }],
      [91, false, UNDER_WAY],
    ])('has failed when it is not wanted any more, after %i minutes, if "not found" is final: %s', async (...row) => {
      const [minutes, isNotFoundFinal, state] = row;
      const bank = calls({ ask: [ABSENT], send: [] }, { isNotFoundFinal, quietMs });
      expect(await bank.calls.ask('bank', REQUEST, earlier(30, minutes))).toEqual(state);
    });
  });

  it('stays under way when there is no such acquirer', async () => {
    expect(await calls({ ask: [], send: [] }).calls.advance('nobody', REQUEST, null, prolong)).toEqual(UNDER_WAY);
  });

  it('is tried again after growing pauses, up to an hour', () => {
    expect(RETURN_BACKOFF.map((ms) => ms / 1000)).toEqual([
      0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600,
    ]);
  });
});
