import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { callbackUrl } from '../../../src/acquirers/index.js';
import { newTxid } from '../../../src/brazil/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { DEFAULT_MERCHANT } from '../../../tools/psp-simulator/simulator.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { goLive } from '../../support/live-acquirer.js';
import { aPayout, CPF, liveMoney, payoutOf, wallet } from '../../support/payouts.js';
import { PspUnderTest } from '../../support/psp-client.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const SHOP = { clientId: 'shop', clientSecret: 'another secret', pixKeys: ['loja@example.com'] };

describe('a payout to a dynamic code of another PSP’s client, by Efí', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let psp: PspUnderTest;
  let money: number;

  beforeAll(async () => {
    psp = await PspUnderTest.start({
      now: () => service.clock.now(),
      merchants: [{ ...DEFAULT_MERCHANT, openingBalance: 1_000_000 }, SHOP],
      settings: { sends: { delayMs: 0 }, callbacks: { retryDelaysMs: [] } },
    });
    const settings = { tax_id: CPF, payouts_to: 'anyone', payout_new_destination_hours: '0' };
    merchant = await service.merchant({ ...settings, payout_night_max: '1000000' });
    const { id } = await goLive(service, psp.simulator, merchant.accountId, {
      psp: 'efi',
      baseUrl: psp.simulator.efiUrl,
    });
    const webhookUrl = callbackUrl(service.url, service.get(SecretBox), id);
    expect((await psp.call('PUT', `/webhook/${KEY}`, { webhookUrl })).status).toBe(200);
  });
  beforeEach(async () => {
    psp.simulator.change({ sends: { form: 'documented' } });
    await liveMoney(service, merchant.accountId, 10_000);
    money = await available();
  });
  afterEach(async () => {
    psp.simulator.clearFaults();
    await expectLedgerCoherent(service.database.url);
  });
  afterAll(() => psp.stop());

  async function aCharge(): Promise<{ txid: string; br_code: string }> {
    const txid = newTxid();
    const cob = { calendario: { expiracao: 3_600 }, valor: { original: '45.00' }, chave: SHOP.pixKeys[0] };
    const { body } = await psp.as(SHOP).call('PUT', `/cob/${txid}`, cob);
    return { txid, br_code: String(body['pixCopiaECola']) };
  }
  const pay = (br_code: string, amount = 4_500): ReturnType<typeof aPayout> =>
    aPayout(service, merchant.liveKey, { amount, destination: { type: 'br_code', br_code } });
  const sendsOf = ({ id }: { id: string }): { status: string; valor: string }[] =>
    psp.simulator.state().sends.filter(({ idEnvio }) => idEnvio === id.slice(3).replaceAll('-', ''));
  const chargeStatus = async (txid: string): Promise<unknown> =>
    (await psp.as(SHOP).call('GET', `/cob/${txid}`)).body['status'];
  const available = async (): Promise<number> => (await wallet(service, merchant.accountId, 'live'))['available'] ?? 0;

  it.each(['documented', 'sdk'] as const)('pays the charge, in the %s form of answers', async (form) => {
    psp.simulator.change({ sends: { form } });
    const { txid, br_code } = await aCharge();
    const payout = await pay(br_code);
    await payoutOf(service, merchant.liveKey, payout.id, 'paid');
    expect(sendsOf(payout)).toMatchObject([{ status: 'REALIZADO', valor: '45.00' }]);
    expect(await chargeStatus(txid)).toBe('CONCLUIDA');
    expect(await available()).toBe(money - 4_500);
  });

  it.each<[string, (txid: string) => unknown, number]>([
    ['asks for another amount', () => undefined, 4_501],
    [
      'asks for a new amount',
      (txid) => psp.as(SHOP).call('PATCH', `/cob/${txid}`, { valor: { original: '46.00' } }),
      4_500,
    ],
    ['was paid', (txid) => psp.simulator.pay({ txid, clientId: SHOP.clientId }), 4_500],
    ['was removed', (txid) => psp.simulator.expire({ txid, removed: true }), 4_500],
  ])('fails before it is sent if the charge %s', async (_, change, amount) => {
    const { txid, br_code } = await aCharge();
    await change(txid);
    const payout = await pay(br_code, amount);
    const failed = await payoutOf(service, merchant.liveKey, payout.id, 'failed');
    expect(failed.failure).toMatchObject({ reason: 'destination_invalid' });
    expect(sendsOf(payout)).toEqual([]);
    expect(await available()).toBe(money);
  });

  it('fails when the bank rejects it, if the charge has expired', async () => {
    const { txid, br_code } = await aCharge();
    psp.simulator.expire({ txid });
    const payout = await pay(br_code);
    await payoutOf(service, merchant.liveKey, payout.id, 'failed');
    expect(sendsOf(payout)).toMatchObject([{ status: 'NAO_REALIZADO' }]);
    expect(await available()).toBe(money);
  });

  it('waits and is paid once after the description of the code fails', async () => {
    psp.simulator.addFault({ operation: 'qrcode.detail', fault: { kind: 'timeout', effect: true } });
    psp.simulator.addFault({ operation: 'qrcode.detail', fault: { kind: 'throttle', retryAfterSeconds: 1 } });
    const { br_code } = await aCharge();
    const payout = await pay(br_code);
    await waitFor(
      'the first pause',
      () => psp.simulator.state().faults.made['qrcode.detail timeout after effect'] === 1,
    );
    service.clock.advance(6);
    await waitFor('the second pause', () => psp.simulator.state().faults.made['qrcode.detail throttle'] === 1);
    service.clock.advance(6);
    await payoutOf(service, merchant.liveKey, payout.id, 'paid');
    expect(sendsOf(payout)).toHaveLength(1);
  });

  // The code is paid by the first call. So the description of a second call says that the code cannot be paid.
  it('is paid when the answer is lost and the bank does not show the send at once', async () => {
    const notFound = { type: 'https://pix.bcb.gov.br/api/v2/error/PixEnviadoNaoEncontrado', title: 'x', detail: 'x' };
    psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'timeout', effect: true } });
    const hidden = { kind: 'answer', status: 404, fields: { ...notFound, status: 404 } } as const;
    psp.simulator.addFault({ operation: 'send.get', fault: hidden, times: 2 });
    const { txid, br_code } = await aCharge();
    const payout = await pay(br_code);
    await waitFor('two hidden look-ups', () => {
      service.clock.advance(1);
      return psp.simulator.state().faults.made['send.get answer'] === 2;
    });
    await payoutOf(service, merchant.liveKey, payout.id, 'paid');
    expect(sendsOf(payout)).toMatchObject([{ status: 'REALIZADO' }]);
    expect(await chargeStatus(txid)).toBe('CONCLUIDA');
    expect(await available()).toBe(money - 4_500);
  });
});
