import { describe, expect, it } from '@jest/globals';
import { ACCOUNT, aReceipt, aTransaction, aView, BR_CODE, ID, NOW } from './checkout.fixture.js';
import { notFoundPage } from './checkout.layout.js';
import { checkoutPage, receiptPage } from './checkout.page.js';
import { qrPng } from '../brazil/index.js';
import { type CheckoutView, toCheckoutView } from './checkout.view.js';

const STATUSES: readonly CheckoutView['status'][] = [
  'pending',
  'processing',
  'paid',
  'failed',
  'expired',
  'cancelled',
  'refunded',
  'disputed',
];

/** Visible text of <main>, which the script replaces after a change of state; one line per element. */
function words(page: string): string[] {
  const main = /<main[^>]*>(.*)<\/main>/s.exec(page)?.[1] ?? '';
  return main
    .replace(/<\/?(?:b|bdi|time|i|span)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
}

function view(status: CheckoutView['status'], changes: Partial<CheckoutView> = {}): CheckoutView {
  return aView({ status, ...(status === 'pending' ? {} : { brCode: null }), ...changes });
}

/** Every optional part of a page, with the longest values. */
const FULL: Partial<CheckoutView> = {
  merchant: '&'.repeat(120),
  accent: '#7a1fa2',
  hasLogo: true,
  test: true,
  description: '<'.repeat(200),
  lockedTo: '***.982.247-**',
  otherWays: {
    CREDIT_CARD: { redirectUrl: 'https://psp.example/card/1' },
    BOLETO: { barcode: '0'.repeat(44), line: '0'.repeat(54), pdfUrl: 'https://psp.example/boleto.pdf' },
    MULTIBANCO: { entity: '99999', reference: '123456742' },
    MBWAY: {},
    CRYPTO: { address: 'T'.repeat(90), amount: '3.62', network: 'TRON_TESTNET', currency: 'USDT' },
  },
  refunded: 999_999_999_999,
  returns: [
    { amount: 123_456, reason: 'late', endToEndId: 'E00000000202603100210000000002', at: NOW },
    { amount: 999_999_999_999, reason: 'duplicate', endToEndId: 'E00000000202603100210000000003', at: NOW },
  ],
  returnUrl: new URL('https://shop.example/thanks?order=1&x=%22'),
  hasReceipt: true,
};

describe('checkoutPage', () => {
  it('shows exactly the expected text while it waits for the payment', () => {
    expect(words(checkoutPage(view('pending', { test: true }), 'pt').html)).toEqual([
      'Pagamento para Padaria Nova Aurora R$ 1.234,56',
      'Pague até 9 de março de 2026 às 23:30 (horário de Brasília)',
      'Aguardando pagamentoTempo restante:',
      'Copiar código Pix',
      'Cole no app do seu banco, em Pix Copia e Cola.',
      'Escaneie o QR Code',
      'com o app do seu banco',
      'Salvar imagem',
      'Pix Copia e Cola',
      BR_CODE,
      'Selecione e copie o código acima. Esta página se atualiza sozinha a cada 15 segundos.',
      'Abra o app do seu banco e entre na área Pix.',
      'Cole o código em Pix Copia e Cola ou escaneie o QR Code.',
      'Confira o valor e o recebedor e confirme. O resultado aparece aqui em segundos.',
    ]);
  });

  it('shows exactly the expected text once it is paid', () => {
    expect(words(checkoutPage(view('paid', { paidAt: new Date('2026-03-10T03:05:00Z') }), 'pt').html)).toEqual([
      'Pagamento confirmado',
      'R$ 1.234,56',
      'para Padaria Nova Aurora',
      'Pago em 10 de março de 2026 às 00:05 (horário de Brasília)',
      'Tudo certo. Você já pode fechar esta página.',
    ]);
  });

  it('shows no future end for a charge that its acquirer has ended', () => {
    expect(words(checkoutPage(view('expired'), 'pt').html)).toContain('O prazo terminou.');
  });

  it.each([
    ['processing', 'Pagamento em análise', 'Não pague de novo'],
    ['failed', 'Cobrança não concluída', 'Peça uma nova a Padaria Nova Aurora.'],
    ['expired', 'Cobrança expirada', 'O prazo terminou em 9 de março de 2026 às 23:30 (horário de Brasília).'],
    ['cancelled', 'Cobrança cancelada', 'Ela não deve mais ser paga'],
    ['refunded', 'Pagamento devolvido', 'O valor foi devolvido a quem pagou.'],
    ['disputed', 'Pagamento contestado', 'Este pagamento foi contestado'],
  ] as const)('explains the meaning of %s', (status, title, text) => {
    const page = checkoutPage(view(status, { now: new Date('2026-03-10T03:10:30.000Z') }), 'pt').html;
    expect(words(page)[0]).toBe(title);
    expect(words(page).join('\n')).toContain(text);
    expect(page).toContain(`<title>${title} · Padaria Nova Aurora</title>`);
    expect(page).toContain(`data-status="${status}" data-view="${status}"`);
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<textarea');
  });

  it('leads back to the shop after five seconds when the payment has just arrived', () => {
    const returnUrl = new URL('https://shop.example/thanks?order=1&charge_id=ch_1&status=paid');
    const html = checkoutPage(view('paid', { returnUrl, isJustPaid: true }), 'pt').html;
    const href = 'https://shop.example/thanks?order=1&amp;charge_id=ch_1&amp;status=paid';
    expect(html).toContain(`<noscript><meta http-equiv="refresh" content="5; url=${href}"></noscript>`);
    expect(html).toContain('data-back="5"');
    expect(html).toContain(`<a class="button" data-return href="${href}"`);
    for (const changes of [{ returnUrl }, { returnUrl: null, isJustPaid: true }]) {
      const other = checkoutPage(view('paid', changes), 'pt').html;
      expect(other).not.toContain('data-back="5"');
      expect(other).not.toContain('http-equiv="refresh"');
    }
  });

  it('shows no broken QR code while the Pix code is missing', () => {
    const page = checkoutPage(view('pending', { brCode: null }), 'pt').html;
    expect(words(page)[0]).toBe('Preparando o pagamento');
    expect(page).toContain('data-status="pending" data-view="preparing"');
    expect(page).not.toContain('<img');
  });

  it('shows a payment without Pix by its own methods, and the only one is open', () => {
    const boleto = { barcode: '0'.repeat(44), line: '1'.repeat(47), pdfUrl: 'https://psp.example/boleto.pdf' };
    const withoutPix = { takesPix: false, brCode: null };
    const only = checkoutPage(view('pending', { ...withoutPix, otherWays: { BOLETO: boleto } }), 'pt').html;
    expect(words(only)).toEqual([
      'Pagamento para Padaria Nova Aurora R$ 1.234,56',
      'Pague até 9 de março de 2026 às 23:30 (horário de Brasília)',
      'Aguardando pagamentoTempo restante:',
      ...['Formas de pagar', 'Boleto', 'Linha digitável', '11111.11111 11111.111111 11111.111111 1 11111111111111'],
      ...['Copiar linha do boleto', 'Abrir boleto (PDF)'],
    ]);
    expect(only).toContain('<details class="way" name="way" open>');
    const two = { BOLETO: boleto, MULTIBANCO: { entity: '99999', reference: '123456742' } };
    const both = checkoutPage(view('pending', { ...withoutPix, otherWays: two }), 'en').html;
    expect(words(both)).toEqual(expect.arrayContaining(['Entity', '99999', 'Reference', '123456742', 'Amount']));
    expect(both).not.toContain('<details class="way" name="way" open>');
    const over = words(checkoutPage(view('expired', withoutPix), 'pt').html);
    expect(over).toContain('Peça uma nova cobrança a Padaria Nova Aurora.');
    expect(over.join(' ')).not.toContain('Pix');
  });

  it('has no countdown for a charge that does not expire', () => {
    const page = checkoutPage(view('pending', { expiresAt: null }), 'pt').html;
    expect(page).not.toContain('Pague até');
    expect(page).not.toContain('<span data-countdown>');
    expect(page).not.toContain('data-expires=');
  });

  it('reloads by itself without JavaScript only while the outcome is open', () => {
    const refresh = '<noscript><meta http-equiv="refresh" content="15"></noscript>';
    expect(STATUSES.filter((status) => checkoutPage(view(status), 'pt').html.includes(refresh))).toEqual([
      'pending',
      'processing',
    ]);
  });

  it('shows the sandbox badge in every state of a sandbox charge and in none of a live one', () => {
    const badge = '<p class="badge">Ambiente de teste</p>';
    for (const status of STATUSES) {
      expect(checkoutPage(view(status, { test: true }), 'pt').html).toContain(badge);
      expect(checkoutPage(view(status, { test: false }), 'pt').html).not.toContain(badge);
    }
  });

  it.each(['WAITING_PAYMENT', 'PAID', 'EXPIRED', 'REFUSED', 'PROCESSING'] as const)(
    'reveals nothing private about a charge in %s',
    (status) => {
      const transaction = aTransaction({ status });
      const page = checkoutPage(toCheckoutView(transaction, ACCOUNT, NOW), 'pt').html;
      const secrets = [
        transaction.accountId,
        transaction.customerName,
        transaction.customerDocument,
        transaction.customerEmail,
        transaction.customerPhone,
        transaction.expectedPayerTaxId,
        transaction.acquirer,
        transaction.txid,
        transaction.endToEndId,
        '7000',
        '700,0',
        'private',
        'Private',
        transaction.createdAt.toISOString(),
        String(transaction.createdAt.getTime()),
      ];
      expect(secrets.filter((secret) => secret === null || page.includes(secret))).toEqual([]);
    },
  );

  it.each(STATUSES)('leaves a merchant called <script> harmless in %s', (status) => {
    const hostile = `"><script>alert('1')</script><img src=x onerror=alert(1)>&`;
    const page = checkoutPage(view(status, { merchant: hostile }), 'pt').html;
    expect(page).not.toContain(hostile);
    expect(page).not.toContain("<script>alert('1')");
    expect(page).not.toContain('<img src=x');
    expect(page).toContain(
      '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;',
    );
    expect(page.match(/<script/g)).toHaveLength(1);
  });

  it('escapes the Pix code', () => {
    const page = checkoutPage(view('pending', { brCode: '0002</textarea><script>1</script>' }), 'pt').html;
    expect(page).toContain('>0002&lt;/textarea&gt;&lt;script&gt;1&lt;/script&gt;</textarea>');
  });

  it('requests nothing from other origins', () => {
    for (const page of [...STATUSES.map((status) => checkoutPage(view(status), 'pt').html), notFoundPage('pt').html]) {
      expect(page).not.toMatch(/https?:|\/\/[a-z0-9]/i);
      const sources = [...page.matchAll(/\b(?:src|srcset|href|action|url)\s*[=(]\s*"?([^"\s)>]*)/g)].map((m) => m[1]);
      for (const source of sources)
        expect(source).toMatch(new RegExp(`^(?:${ID}/qr\\.png|\\?lang=en|data:image/svg\\+xml,.*)$`));
    }
  });

  it('weighs under 30 KB with its QR code', async () => {
    expect(BR_CODE.length).toBeGreaterThanOrEqual(150);
    const png = qrPng(BR_CODE);
    const heaviest = Math.max(
      ...STATUSES.map((status) => Buffer.byteLength(checkoutPage(view(status, FULL), 'pt').html)),
    );
    expect(heaviest + png.length).toBeLessThan(30_720);
  });

  it('is Brazilian Portuguese, labelled, and announces changes', () => {
    const page = checkoutPage(view('pending'), 'pt').html;
    expect(page).toMatch(/^<!doctype html>\n<html lang="pt-BR">/);
    expect(page).toContain('<label for="br-code">');
    expect(page).toContain('<textarea id="br-code" rows="4" readonly');
    expect(page).toContain('alt="QR Code do Pix de R$ 1.234,56 para Padaria Nova Aurora"');
    expect(page.indexOf('aria-live="polite"')).toBeGreaterThan(page.indexOf('</main>'));
    expect(page.match(/<h1/g)).toHaveLength(1);
  });
});

describe('notFoundPage', () => {
  it('is friendly, in Portuguese, and runs no script', () => {
    expect(words(notFoundPage('pt').html)).toEqual([
      'Cobrança não encontrada',
      'Confira se o endereço está completo ou peça um novo link a quem enviou a cobrança.',
    ]);
    expect(notFoundPage('pt').html).not.toContain('<script');
  });
});

describe('details of the page', () => {
  it('shows the description, the person who must pay, other ways and the way back while it waits', () => {
    const text = words(
      checkoutPage(view('pending', { ...FULL, description: 'Two loaves', merchant: 'Padaria' }), 'pt').html,
    );
    for (const line of [
      'Two loaves',
      'Só o titular ***.982.247\u2011** pode pagar: Pix de outra pessoa é devolvido.',
      'Outras formas de pagar',
      'Pagar com cartão',
      'Copiar linha do boleto',
      'Abrir boleto (PDF)',
      'Voltar para shop.example',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('puts a long description below the payment', () => {
    const text = words(checkoutPage(view('pending', { description: 'x'.repeat(81) }), 'pt').html);
    expect(text.slice(-5, -3)).toEqual(['Referente a', 'x'.repeat(81)]);
    expect(words(checkoutPage(view('pending', { description: 'x'.repeat(80) }), 'pt').html)[1]).toBe('x'.repeat(80));
  });

  it.each(['paid', 'expired', 'failed', 'cancelled', 'refunded', 'disputed'] as const)(
    'shows returns with their reason, the receipt and the way back when %s',
    (status) => {
      const page = checkoutPage(view(status, FULL), 'en').html;
      const text = words(page);
      expect(text).toContain('Sent back');
      expect(text).toContain('Refunded by the receiver, or on its way: R$ 9.999.999.999,99');
      expect(text).toContain('R$ 1.234,56 · Pix after the deadline · 9 March 2026 at 23:10 (Brasília time)');
      expect(text).toContain('E00000000202603100210000000002');
      expect(page).toContain(`href="${ID}/receipt?lang=en"`);
      expect(page).toContain('href="https://shop.example/thanks?order=1&amp;x=%22" rel="noopener noreferrer"');
    },
  );

  it('is entirely in English on request', () => {
    for (const status of STATUSES) {
      const text = words(checkoutPage(view(status, FULL), 'en').html).join(' ');
      expect(text).not.toMatch(/[ãçõéê]|\b(?:Pague|Pagar|para)\b/i);
    }
  });
});

describe('receiptPage', () => {
  it('shows receiver, amount, time and method, and nothing about the payer', () => {
    const receipt = aReceipt({ description: 'Two loaves', refunded: 1_000, taxId: '12.345.678/0001-95' });
    expect(words(receiptPage(receipt, 'pt').html)).toEqual([
      ...['Pagamento confirmado', 'Recibo de pagamento', 'R$ 1.234,56'],
      '10 de março de 2026 às 00:05 (horário de Brasília)',
      ...['Valores devolvidos', 'R$ 10,00'],
      ...['Recebedor', 'Padaria Nova Aurora', 'CPF/CNPJ', '12.345.678/0001-95', 'Contato', 'owner@mail.example'],
      ...['Referente a', 'Two loaves', 'Forma de pagamento', 'Pix'],
      ...['Identificador da transação', 'E00000000202603100210000000001', 'Cobrança', ID],
      ...['Compartilhar', 'Imprimir'],
      'Esta página fica disponível até 9 de abril de 2026 às 00:05 (horário de Brasília).',
    ]);
  });

  it.each([
    ['refunded', 'Pagamento devolvido'],
    ['disputed', 'Pagamento contestado'],
  ] as const)('says that the payment is %s', (status, title) => {
    expect(words(receiptPage(aReceipt({ status }), 'pt').html)[0]).toBe(title);
  });

  it('escapes any name of the merchant', () => {
    const hostile = '"><script>alert(1)</script>';
    const page = receiptPage(aReceipt({ merchant: hostile, description: hostile, contact: hostile }), 'en').html;
    expect(page).not.toContain('<script>alert');
  });
});
