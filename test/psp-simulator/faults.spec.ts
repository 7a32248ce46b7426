import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FaultRule, Faults, faultRule } from '../../tools/psp-simulator/faults.js';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { newTxid } from '../../src/brazil/index.js';
import { PspUnderTest } from '../support/psp-client.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const COB = { calendario: { expiracao: 3_600 }, valor: { original: '110.00' }, chave: KEY };

let psp: PspUnderTest;

beforeEach(async () => {
  psp = await PspUnderTest.start();
});

afterEach(() => psp.stop());

function putCob(txid = newTxid()): ReturnType<PspUnderTest['call']> {
  return psp.call('PUT', `/cob/${txid}`, COB);
}

const isBooked = (txid: string): boolean => psp.simulator.state().cobs.some((cob) => cob.txid === txid);

describe('faults of requests', () => {
  it.each([
    [true, 'reset'],
    [true, 'silence'],
    [false, 'reset'],
    [false, 'silence'],
  ] as const)('end a request without an answer, with effect: %s, by %s', async (effect, ending) => {
    psp.simulator.addFault({ operation: 'cob.put', fault: { kind: 'timeout', effect, ending } });
    const txid = newTxid();
    await psp.token();
    await expect(putCob(txid)).rejects.toMatchObject({
      code: ending === 'reset' ? 'UND_ERR_SOCKET' : 'UND_ERR_HEADERS_TIMEOUT',
    });
    expect(isBooked(txid)).toBe(effect);
    expect(await putCob(txid)).toMatchObject({ status: 201, body: { revisao: 0 } });
  });

  it.each([true, false])('answer 500, with effect: %s', async (effect) => {
    psp.simulator.addFault({ operation: 'cob.put', fault: { kind: 'error', effect } });
    const txid = newTxid();
    expect(await putCob(txid)).toMatchObject({
      status: 500,
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/ErroInternoDoServidor' },
    });
    expect(isBooked(txid)).toBe(effect);
    expect(await putCob(txid)).toMatchObject({ status: 201, body: { revisao: 0 } });
  });

  it('answer 429 with the time to wait or 503, without effect', async () => {
    psp.simulator.addFault({ operation: 'cob.put', fault: { kind: 'throttle', retryAfterSeconds: 7 } });
    psp.simulator.addFault({ operation: 'cob.put', fault: { kind: 'unavailable' } });
    expect(await putCob()).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
    expect(await putCob()).toMatchObject({
      status: 503,
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/ServicoIndisponivel' },
    });
    expect(psp.simulator.state().cobs).toEqual([]);
  });

  it('end a token before its time', async () => {
    expect((await putCob()).status).toBe(201);
    psp.simulator.addFault({ operation: 'cob.put', fault: { kind: 'tokenExpiry' } });
    expect((await putCob()).status).toBe(401);
    psp.forgetToken();
    expect((await putCob()).status).toBe(201);
  });

  it('follow the configured life of a token', async () => {
    let now = Date.parse('2026-11-21T12:00:00Z');
    const timed = await PspUnderTest.start({ now: () => new Date(now), settings: { tokenSeconds: 60 } });
    expect((await timed.token()).body['expires_in']).toBe(60);
    const status = async () => (await timed.call('GET', `/cob/${newTxid()}`)).status;
    expect(await status()).toBe(404);
    now += 59_999;
    expect(await status()).toBe(404);
    now += 1;
    expect(await status()).toBe(401);
    await timed.stop();
  });

  it('delay one request, or all of them', async () => {
    await putCob();
    const measured = async (): Promise<number> => {
      const started = performance.now();
      expect((await putCob()).status).toBe(201);
      return performance.now() - started;
    };
    psp.simulator.addFault({ operation: '*', fault: { kind: 'latency', ms: 200 } });
    expect(await measured()).toBeGreaterThanOrEqual(195);
    psp.simulator.change({ latencyMs: 100 });
    expect(await measured()).toBeGreaterThanOrEqual(95);
  });

  it('apply to the token endpoint too', async () => {
    psp.simulator.addFault({ operation: 'token', fault: { kind: 'unavailable' }, times: 2 });
    expect([(await psp.token()).status, (await psp.token()).status, (await psp.token()).status]).toEqual([
      503, 503, 200,
    ]);
  });

  it('have a queue for each operation, and "*" for the next request of any', async () => {
    psp.simulator.addFault({ operation: 'cob.get', fault: { kind: 'unavailable' } });
    const txid = newTxid();
    expect((await putCob(txid)).status).toBe(201);
    expect((await psp.call('GET', `/cob/${txid}`)).status).toBe(503);
    psp.simulator.addFault({ operation: '*', fault: { kind: 'unavailable' }, times: 2 });
    psp.simulator.addFault({ operation: 'cob.get', fault: { kind: 'error', effect: false }, rate: 1 });
    expect((await psp.call('GET', `/cob/${txid}`)).status).toBe(503);
    expect((await putCob(txid)).status).toBe(503);
    expect((await psp.call('GET', `/cob/${txid}`)).status).toBe(500);
    psp.simulator.clearFaults();
    expect((await psp.call('GET', `/cob/${txid}`)).status).toBe(200);
    expect(psp.simulator.state().faults.made).toEqual({
      'cob.get unavailable': 2,
      'cob.put unavailable': 1,
      'cob.get error before effect': 1,
    });
  });

  it('the simulator counts requests and connections, and reuses connections', async () => {
    for (let time = 0; time < 5; time += 1) await putCob();
    const { connections, requests } = psp.simulator.state().traffic;
    expect(requests).toEqual({ token: 1, 'cob.put': 5 });
    expect(connections).toBeLessThanOrEqual(2);
  });
});

describe('faults by rate', () => {
  const rules: FaultRule[] = [
    { operation: '*', fault: { kind: 'unavailable' }, rate: 0.1 },
    { operation: 'cob.put', fault: { kind: 'timeout', effect: true }, rate: 0.1 },
  ];
  const run = (seed: number): string => {
    const faults = new Faults(seed);
    for (const rule of rules) faults.add(faultRule.parse(rule));
    return Array.from({ length: 2_000 }, () => faults.ofRequest('cob.put')?.kind.charAt(0) ?? '-').join('');
  };

  it('are the same for the same seed, and different for another seed', () => {
    expect(run(7)).toBe(run(7));
    expect(run(7)).not.toBe(run(8));
  });

  it('come as often as configured', () => {
    const share = (letter: string): number => run(7).split(letter).length / 2_000;
    expect(share('u')).toBeCloseTo(0.1, 1);
    expect(share('t')).toBeCloseTo(0.09, 1);
    expect(run(7)).toContain('-');
  });

  it('cannot be combined with a number of times', () => {
    expect(() => faultRule.parse({ operation: '*', fault: { kind: 'unavailable' }, rate: 0.1, times: 1 })).toThrow();
  });
});
