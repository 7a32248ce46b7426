import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/accounts/index.js';
import { ApiKeysService } from '../../../src/api-keys/index.js';
import { SYSTEM } from '../../../src/audit/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aFundedMerchant,
  aPayout,
  CPF,
  liveMoney,
  payoutOf,
  readPayout,
  requestPayout,
  simulatePayout,
} from '../../support/payouts.js';
import { aPaidCharge } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Sent {
  recipient: string;
  subject: string;
  text: string;
}

describe('mails about payouts', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;

  beforeEach(async () => {
    merchant = await aFundedMerchant(service);
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  const mails = (accountId = merchant.accountId): Promise<Sent[]> =>
    service.sql<Sent>(
      `SELECT recipient, subject, text_body AS text FROM emails
       WHERE account_id = $1 AND subject ~ 'Saque|saques' ORDER BY id`,
      [accountId],
    );
  const subjects = async (): Promise<string[]> => (await mails()).map(({ subject }) => subject);
  const last = async (): Promise<Sent> => {
    const mail = (await mails()).at(-1);
    if (!mail) throw new Error('There is no mail');
    return mail;
  };
  const live = async (settings: Record<string, string> = {}): Promise<void> => {
    merchant = await service.merchant({ tax_id: CPF, ...settings });
    await liveMoney(service, merchant.accountId, 10_000);
    await service.sql(`UPDATE accounts SET live_acquirer = 'sandbox' WHERE id = $1`, [merchant.accountId]);
  };

  it('ask every OWNER and ADMIN for approval, and report who approved or refused', async () => {
    merchant = await aFundedMerchant(service, { payout_approval_above: 0 });
    const second = await service.member(merchant.accountId, 'OWNER');
    const admin = await service.member(merchant.accountId, 'ADMIN');
    const decide = (id: string, what: string): Promise<unknown> =>
      service.call('POST', `/v1/dashboard/test/payouts/${id}/${what}`, { token: admin.token, body: {} });

    const approved = await aPayout(service, merchant.testKey, { amount: 2_000 });
    const asked = await mails();
    const [first] = asked;
    expect(asked.map(({ recipient }) => recipient).sort()).toEqual(
      [merchant.ownerEmail, second.email, admin.email].sort(),
    );
    expect(first?.subject).toBe('TESTE: Saque aguarda aprovação: R$ 20,00 / Payout waits for approval: R$ 20,00');
    expect(first?.text).toContain('TESTE: isto aconteceu no modo de teste');
    expect(first?.text).toContain('Foi pedido um saque de R$ 20,00 para chave Pix ***.982.247-**.');
    expect(first?.text).toContain('A payout of R$ 20,00 to Pix key ***.982.247-** was requested.');
    expect(first?.text).toContain(`https://pay.example.com/dashboard/test/payouts/${approved.id}`);

    await decide(approved.id, 'approve');
    await decide(approved.id, 'approve');
    expect(await mails()).toHaveLength(5);
    expect((await last()).subject).toBe('TESTE: Saque aprovado: R$ 20,00 / Payout approved: R$ 20,00');
    expect((await last()).text).toContain(`Uma segunda pessoa (${admin.email}) aprovou o saque de R$ 20,00`);

    const refused = await aPayout(service, merchant.testKey, { amount: 2_001 });
    await decide(refused.id, 'refuse');
    await decide(refused.id, 'refuse');
    expect(await mails()).toHaveLength(10);
    expect((await last()).subject).toBe('TESTE: Saque recusado: R$ 20,01 / Payout refused: R$ 20,01');
    expect((await last()).text).toContain('O valor voltou ao saldo disponível.');
  });

  it('are not written about a refused request, a paid payout or one that was cancelled', async () => {
    expect((await requestPayout(service, merchant.testKey, { amount: 10_001 })).status).toBe(422);
    const paid = await aPayout(service, merchant.testKey);
    await payoutOf(service, merchant.testKey, paid.id, 'paid');
    merchant = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
    const { id } = await aPayout(service, merchant.testKey);
    await service.call('POST', `/v1/payouts/${id}/cancel`, { key: merchant.testKey });
    expect(await mails()).toEqual([]);
  });

  it('say why a payout failed', async () => {
    merchant = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
    const { id } = await aPayout(service, merchant.testKey);
    await simulatePayout(service, merchant.testKey, id, { event: 'fail' });
    service.clock.advance(3_601);
    await payoutOf(service, merchant.testKey, id, 'failed');
    expect(await subjects()).toEqual(['TESTE: Saque não realizado: R$ 5,00 / Payout failed: R$ 5,00']);
    expect((await last()).text).toContain('O banco de destino recusou o valor.');
    expect((await last()).text).toContain('The bank of the destination refused the money.');
  });

  it('report each part that came back, and a bank that takes its word back', async () => {
    const { id } = await aPayout(service, merchant.testKey);
    await payoutOf(service, merchant.testKey, id, 'paid');
    await simulatePayout(service, merchant.testKey, id, { event: 'return', amount: 200 });
    await waitFor('the part', async () => (await readPayout(service, merchant.testKey, id)).amount_returned === 200);
    expect(await subjects()).toEqual(['TESTE: Saque devolvido: R$ 2,00 / Payout came back: R$ 2,00']);
    expect((await last()).text).toContain('Voltaram R$ 2,00 do saque de R$ 5,00 para chave Pix ***.982.247-**');
    await simulatePayout(service, merchant.testKey, id, { event: 'return' });
    await payoutOf(service, merchant.testKey, id, 'refunded');
    expect((await last()).subject).toBe('TESTE: Saque devolvido: R$ 3,00 / Payout came back: R$ 3,00');

    await aPaidCharge(service, merchant.testKey, 600);
    const other = await aPayout(service, merchant.testKey, { amount: 600 });
    await payoutOf(service, merchant.testKey, other.id, 'paid');
    await simulatePayout(service, merchant.testKey, other.id, { event: 'fail' });
    await payoutOf(service, merchant.testKey, other.id, 'failed');
    expect(await mails()).toHaveLength(3);
    expect((await last()).text).toContain('O banco tinha confirmado o pagamento e voltou atrás.');
  });

  it('warn of a live payout to a new destination, and say what to do', async () => {
    await live({ payouts_to: 'anyone' });
    const body = { amount: 1_000, destination: { type: 'pix_key', key: 'ana@example.com', tax_id: CPF } };
    const payout = await aPayout(service, merchant.liveKey, body);
    expect(await subjects()).toEqual(['Saque para um destino novo: R$ 10,00 / Payout to a new destination: R$ 10,00']);
    const { text, recipient } = await last();
    expect(recipient).toBe(merchant.ownerEmail);
    expect(text).toContain('Foi pedido um saque de R$ 10,00 para chave Pix a***@example.com.');
    expect(text).toContain('O destino é novo: nenhum saque desta conta chegou lá antes.');
    expect(text).toMatch(/O dinheiro não sai antes de \d+ de \S+ de \d{4} às\s\d\d:\d\d \(horário de Brasília\)/);
    expect(text).toContain('Se ninguém da sua equipe fez isso, revogue as chaves de API que não conhece');
    expect(text).toContain(`https://pay.example.com/dashboard/live/payouts/${payout.id}`);
    service.clock.advance(86_401);
    await payoutOf(service, merchant.liveKey, payout.id, 'paid');
    await aPayout(service, merchant.liveKey, { ...body, amount: 500 });
    expect(await subjects()).toHaveLength(1);
  });

  it('warn once of a live payout that waits for approval and goes to a new destination', async () => {
    await live({ payout_approval_above: '0' });
    await aPayout(service, merchant.liveKey, { amount: 1_000 });
    expect(await subjects()).toEqual(['Saque aguarda aprovação: R$ 10,00 / Payout waits for approval: R$ 10,00']);
    expect((await last()).text).toContain('O destino é novo');
  });

  it('report a new live destination once, and none of test mode', async () => {
    const save = (key: string): Promise<unknown> =>
      service.call('POST', '/v1/payout-destinations', {
        key,
        body: {
          ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '123456-7', account_type: 'checking' },
          ...{ name: 'Ana Souza', tax_id: CPF },
        },
      });
    await save(merchant.testKey);
    expect(await mails()).toEqual([]);
    await save(merchant.liveKey);
    await save(merchant.liveKey);
    expect(await subjects()).toEqual(['Novo destino de saques / New payout destination']);
    const { text } = await last();
    expect(text).toContain('banco 00000000, agência 0001, conta ***67');
    for (const secret of [CPF, '1234567', 'Ana Souza']) expect(text).not.toContain(secret);
  });

  it('go to the contact of the account while nobody has accepted to be an OWNER', async () => {
    const { accountId } = await service
      .get(AccountsService)
      .create(
        { name: 'Padaria', email: 'invited@example.com', values: { contact_email: 'caixa@example.com' } },
        SYSTEM,
      );
    const { apiKey } = await service.get(ApiKeysService).issue(accountId, { mode: 'live', label: null }, SYSTEM);
    await service.call('POST', '/v1/payout-destinations', { key: apiKey, body: { type: 'pix_key', key: CPF } });
    expect((await mails(accountId)).map(({ recipient }) => recipient)).toEqual(['caixa@example.com']);
  });
});
