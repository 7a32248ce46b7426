import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { newTxid } from '../../src/brazil/index.js';
import { PspUnderTest } from '../support/psp-client.js';
import { WebhookReceiver } from '../support/receiver.js';
import { waitFor } from '../support/wait.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';

interface Told {
  readonly endToEndId: string;
  readonly devolucoes?: readonly { readonly status: string; readonly natureza: string }[];
}

let psp: PspUnderTest;
let receiver: WebhookReceiver;

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  psp = await PspUnderTest.start({ settings: { returnDelayMs: null, callbacks: { retryDelaysMs: [20, 20] } } });
  await psp.call('PUT', `/webhook/${KEY}`, { webhookUrl: receiver.url });
});

afterEach(async () => {
  await psp.stop();
  await receiver.stop();
});

function pay(): string {
  return psp.simulator.pay({ key: KEY, amount: 100, txid: newTxid() }).endToEndId;
}

/** The Pix that have arrived, callback by callback. */
function told(): Told[][] {
  return receiver.received.map(({ body }) => body['pix'] as Told[]);
}

const ids = (): string[] => told().flatMap((pix) => pix.map(({ endToEndId }) => endToEndId));

function arrived(count: number): Promise<boolean> {
  return waitFor(`${String(count)} callbacks`, () => receiver.received.length >= count);
}

function settled(): Promise<boolean> {
  return waitFor('the end of all callbacks', () => {
    const { callbacks } = psp.simulator.state();
    return callbacks.length > 0 && callbacks.every(({ outcome }) => outcome !== 'pending');
  });
}

describe('callbacks of the simulator', () => {
  it('report a Pix at the URL with /pix appended, in the form in which it is read', async () => {
    const endToEndId = pay();
    await settled();
    const [callback] = psp.simulator.state().callbacks;
    expect(callback).toMatchObject({ url: `${receiver.url}/pix`, outcome: 'delivered', attempts: [{ status: 200 }] });
    expect(told()).toEqual([[(await psp.call('GET', `/pix/${endToEndId}`)).body]]);
  });

  it('report each change of a devolution that no answer has reported', async () => {
    const endToEndId = pay();
    await arrived(1);
    await psp.call('PUT', `/pix/${endToEndId}/devolucao/a`, { valor: '0.10' });
    psp.simulator.settleReturn({ endToEndId, id: 'a' });
    await arrived(2);
    const { id } = psp.simulator.med({ endToEndId, amount: 10 });
    await arrived(3);
    psp.simulator.settleReturn({ endToEndId, id, status: 'NAO_REALIZADO' });
    await arrived(4);
    expect(
      told().map(([pix]) => (pix?.devolucoes ?? []).map(({ natureza, status }) => `${natureza} ${status}`)),
    ).toEqual([
      [],
      ['ORIGINAL DEVOLVIDO'],
      ['ORIGINAL DEVOLVIDO', 'MED_FRAUDE EM_PROCESSAMENTO'],
      ['ORIGINAL DEVOLVIDO', 'MED_FRAUDE NAO_REALIZADO'],
    ]);
  });

  it('leave out a Pix without txid unless configured, and a key without webhook', async () => {
    psp.simulator.pay({ key: KEY, amount: 100 });
    expect(psp.simulator.state().callbacks).toEqual([]);
    psp.simulator.change({ callbacks: { withoutTxid: true } });
    psp.simulator.pay({ key: KEY, amount: 100 });
    expect(psp.simulator.state().callbacks).toHaveLength(1);
    await settled();
    await psp.call('DELETE', `/webhook/${KEY}`);
    pay();
    expect(psp.simulator.state().callbacks).toHaveLength(1);
  });

  it('can be sent to the bare URL, as a bare array', async () => {
    psp.simulator.change({ callbacks: { suffix: false, shape: 'array' } });
    const endToEndId = pay();
    await arrived(1);
    expect(psp.simulator.state().callbacks[0]?.url).toBe(receiver.url);
    expect(receiver.received[0]?.body).toMatchObject([{ endToEndId }]);
  });

  it('can be sent in batches, when full or after a while', async () => {
    psp.simulator.change({ callbacks: { batch: 3, batchWaitMs: 50 } });
    const paid = [pay(), pay(), pay(), pay()];
    await arrived(2);
    expect(told().map((pix) => pix.length)).toEqual([3, 1]);
    expect(ids()).toEqual(paid);
  });

  it('are repeated until the receiver answers with a 2xx', async () => {
    receiver.answer = 500;
    pay();
    await arrived(2);
    receiver.answer = 204;
    await settled();
    const statuses = psp.simulator.state().callbacks.map(({ attempts }) => attempts.map(({ status }) => status));
    expect(statuses).toEqual([[500, 500, 204]]);
  });

  it('are given up after the last retry, also when nobody listens', async () => {
    await receiver.stop();
    pay();
    await settled();
    const attempts = [{ status: null }, { status: null }, { status: null }];
    expect(psp.simulator.state().callbacks).toMatchObject([{ outcome: 'givenUp', attempts }]);
  });

  it('stop waiting for a receiver after their time-out', async () => {
    psp.simulator.change({ callbacks: { timeoutMs: 50, retryDelaysMs: [] } });
    const release = receiver.hold();
    pay();
    await settled();
    expect(psp.simulator.state().callbacks).toMatchObject([{ outcome: 'givenUp', attempts: [{ status: null }] }]);
    release();
  });

  it('are sent as many times as requested', async () => {
    const endToEndId = pay();
    psp.simulator.announce({ endToEndId, times: 99 });
    await arrived(100);
    expect(new Set(ids())).toEqual(new Set([endToEndId]));
  });
});

describe('faults of callbacks', () => {
  it('duplicate sends a callback several times', async () => {
    psp.simulator.addFault({ operation: 'callback', fault: { kind: 'duplicate', times: 3 } });
    const twice = pay();
    await arrived(3);
    const once = pay();
    await arrived(4);
    expect(ids()).toEqual([twice, twice, twice, once]);
  });

  it('reorder sends the first callback after the second', async () => {
    psp.simulator.addFault({ operation: 'callback', fault: { kind: 'reorder' } });
    const [first, second] = [pay(), pay()];
    await arrived(2);
    expect(ids()).toEqual([second, first]);
  });

  it('reorder still sends a callback when no other follows', async () => {
    psp.simulator.addFault({ operation: 'callback', fault: { kind: 'reorder' } });
    const only = pay();
    await arrived(1);
    expect(ids()).toEqual([only]);
  });

  it('delay sends a callback later than the next one', async () => {
    psp.simulator.addFault({ operation: 'callback', fault: { kind: 'delay', ms: 150 } });
    const [late, early] = [pay(), pay()];
    await arrived(2);
    expect(ids()).toEqual([early, late]);
  });

  it('lose never sends a callback, although the Pix exists', async () => {
    psp.simulator.addFault({ operation: 'callback', fault: { kind: 'lose' } });
    const lost = pay();
    const told = pay();
    await settled();
    expect(ids()).toEqual([told]);
    expect(psp.simulator.state().callbacks).toMatchObject([{ outcome: 'lost' }, { outcome: 'delivered' }]);
    expect((await psp.call('GET', `/pix/${lost}`)).status).toBe(200);
    expect(psp.simulator.state().faults.made).toEqual({ 'callback lose': 1 });
  });
});
