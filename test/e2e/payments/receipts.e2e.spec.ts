import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/accounts/index.js';
import { CLI } from '../../../src/audit/index.js';
import { Database } from '../../../src/core/database/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { headerOf, Mailbox, type ReceivedMail } from '../../support/mailbox.js';
import { happens } from '../../support/med.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('the payer’s receipt', () => {
  let service: TestService;
  let merchant: Merchant;
  let mailbox: Mailbox;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    service = await TestService.start({
      env: { SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`, PUBLIC_BASE_URL: 'https://pay.example.com' },
    });
    merchant = await service.merchant();
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(async () => {
    await service.stop();
    await mailbox.stop();
  });

  const newAddress = (): string => `maria-${randomUUID()}@example.com`;
  const mailsTo = (address: string): ReceivedMail[] => mailbox.received.filter(({ to }) => to.includes(address));
  const bytesOf = (text: string): string =>
    text.replace(/(?:=[0-9A-F]{2})+/g, (codes) => Buffer.from(codes.replaceAll('=', ''), 'hex').toString('utf8'));
  const textOf = ({ raw }: ReceivedMail): string => bytesOf(raw.replaceAll('=\r\n', ''));
  const subjectOf = (mail: ReceivedMail): string =>
    bytesOf((headerOf(mail, 'Subject') ?? '').replace(/\?= =\?UTF-8\?Q\?/g, '')).replaceAll('_', ' ');
  const sale = async (
    email: string | null,
    key = merchant.testKey,
    more: Record<string, unknown> = {},
  ): Promise<ChargeAnswer> => {
    const customer = { name: 'Maria da Silva', ...(email === null ? {} : { email }) };
    return (await service.createCharge(key, { amount: 1990, customer, ...more })).body;
  };
  const pay = (charge: ChargeAnswer, key = merchant.testKey) => happens(service, key, charge.id, { event: 'pay' });
  const oneTo = async (address: string): Promise<ReceivedMail> => {
    await waitFor('the receipt', () => mailsTo(address).length > 0);
    const [mail] = mailsTo(address);
    if (!mail) throw new Error('no mail');
    return mail;
  };
  const receiptsLeft = async (): Promise<number> =>
    Number((await service.sql<{ count: string }>(`SELECT count(*) FROM work WHERE kind = 'receipt'`))[0]?.count);

  it('says once who was paid, how much, for what, when, and where to look it up', async () => {
    const address = newAddress();
    const charge = await sale(address, merchant.testKey, { description: 'Pedido 1042: 2 <pães> & café' });
    expect(mailsTo(address)).toEqual([]);
    await pay(charge);
    const mail = await oneTo(address);
    const text = textOf(mail);
    expect(subjectOf(mail)).toContain('TESTE: Recibo: R$ 19,90 para Padaria São João');
    const [row] = await service.sql<{ end_to_end_id: string }>('SELECT end_to_end_id FROM transactions WHERE id = $1', [
      charge.id.slice(3),
    ]);
    for (const words of [
      'TESTE: nenhum dinheiro foi pago.',
      'Maria da Silva',
      'Valor: R$ 19,90',
      'Referente a: Pedido 1042: 2 <pães> & café',
      'Pago em: ',
      'horário de Brasília',
      `https://pay.example.com/checkout/${charge.id.slice(3)}`,
      'Receipt of a payment',
      'Amount: R$ 19,90',
    ]) {
      expect(text).toContain(words);
    }
    expect(text).toContain(`Identificador da transação: ${row?.end_to_end_id}`);
    expect(text).not.toContain('<pães>\n</p>');
    expect(text).toContain('2 &lt;pães&gt; &amp; café');
    expect(text).toMatch(new RegExp(`Message-ID: <${charge.id.slice(3)}@pay\\.example\\.com>`));
    await waitFor('the work to end', async () => (await receiptsLeft()) === 0);
    // The address is stored with the sale alone.
    expect(await service.sql('SELECT 1 FROM emails WHERE recipient = $1', [address])).toEqual([]);
    expect(mailsTo(address)).toHaveLength(1);
  });

  it('is not sent without an address, before the payment, or when the account does not want it', async () => {
    const quiet = await service.merchant();
    await service.get(AccountsService).set(quiet.accountId, { payer_receipts: 'false' }, CLI);
    const [address, unpaid] = [newAddress(), newAddress()];
    const charges = [await sale(address, quiet.testKey), await sale(null, quiet.testKey)] as const;
    for (const charge of charges) await pay(charge, quiet.testKey);
    await pay(await sale(null));
    await sale(unpaid);
    expect(await receiptsLeft()).toBe(0);
    expect([...mailsTo(address), ...mailsTo(unpaid)]).toEqual([]);
  });

  it('is tried again while the mail server is away, and sent as one mail then', async () => {
    const address = newAddress();
    mailbox.refusal = { at: 'RCPT TO', code: 451 };
    const charge = await sale(address);
    await pay(charge);
    await waitFor('an attempt', async () => {
      const rows = await service.sql(`SELECT 1 FROM work WHERE kind = 'receipt' AND last_error IS NOT NULL`);
      return rows.length === 1;
    });
    const [row] = await service.sql<{ last_error: string }>(`SELECT last_error FROM work WHERE kind = 'receipt'`);
    expect(row?.last_error).not.toContain(address);
    mailbox.refusal = undefined;
    expect(await service.get(WorkService).runNow('receipt', charge.id.slice(3))).toBeNull();
    expect(mailsTo(address)).toHaveLength(1);
    await waitFor('the work to end', async () => (await receiptsLeft()) === 0);
  });

  it('is sent thirty times an hour in test mode, and further sales leave nothing waiting', async () => {
    const busy = await service.merchant();
    const addresses = Array.from({ length: 35 }, newAddress);
    let last = '';
    for (const address of addresses) {
      const charge = await sale(address, busy.testKey);
      await pay(charge, busy.testKey);
      last = charge.id.slice(3);
    }
    await waitFor('thirty receipts', () => addresses.filter((address) => mailsTo(address).length > 0).length === 30);
    await waitFor('the work to end', async () => (await receiptsLeft()) === 0);
    expect(addresses.flatMap(mailsTo)).toHaveLength(30);
    // A process that has sent none yet learns of the limit from the shared budget.
    await service.get(Database).transaction(async (tx) => {
      service.get(WorkService).add(tx, 'receipt', last, service.clock.now());
    });
    await waitFor('its work to end', async () => (await receiptsLeft()) === 0);
    expect(mailsTo(addresses[34] ?? '')).toEqual([]);
  });

  it('is sent in test mode although the mail server was away at first, and counts once', async () => {
    const patient = await service.merchant();
    const addresses = Array.from({ length: 30 }, newAddress);
    mailbox.refusal = { at: 'RCPT TO', code: 451 };
    const ids = [];
    for (const address of addresses) {
      const charge = await sale(address, patient.testKey);
      await pay(charge, patient.testKey);
      ids.push(charge.id.slice(3));
    }
    await waitFor('the attempts', async () => {
      const rows = await service.sql(`SELECT 1 FROM work WHERE kind = 'receipt' AND last_error IS NOT NULL`);
      return rows.length === 30;
    });
    mailbox.refusal = undefined;
    for (const id of ids) expect(await service.get(WorkService).runNow('receipt', id)).toBeNull();
    expect(addresses.flatMap(mailsTo)).toHaveLength(30);
    await waitFor('the work to end', async () => (await receiptsLeft()) === 0);
  });

  it('is sent ten times an hour per address over all accounts, and further ones later or never', async () => {
    const address = newAddress();
    const other = await service.merchant();
    const charges = [];
    for (let n = 0; n < 12; n++) {
      const key = n % 2 === 0 ? merchant.testKey : other.testKey;
      const spelling = [address, address.toUpperCase(), address.replace('@', `+${n}@`)][n % 3] ?? address;
      const charge = await sale(spelling, key);
      await pay(charge, key);
      charges.push(charge);
    }
    const sent = (): number =>
      mailbox.received.filter(({ to }) => to.some((one) => one.toLowerCase().replace(/\+\d+@/, '@') === address))
        .length;
    await waitFor('ten receipts', () => sent() === 10);
    await waitFor('the others to wait', async () => {
      const rows = await service.sql(
        `SELECT 1 FROM work WHERE kind = 'receipt' AND due_at > now() + interval '10 minutes'`,
      );
      return rows.length === 2;
    });
    expect(sent()).toBe(10);
    // Receipts that are a day old are not sent any more.
    service.clock.advance(25 * 3600);
    try {
      await waitFor('the rest to be given up', async () => (await receiptsLeft()) === 0);
      expect(sent()).toBe(10);
    } finally {
      service.clock.advance(-25 * 3600);
    }
  });
});
