import { describe, expect, it } from '@jest/globals';
import { aTransaction, aView, BR_CODE, ID, NOW } from './checkout.fixture.js';
import { checkoutPage, notFoundPage } from './checkout.page.js';
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

/** A page as it is after a change of state: what the payer can read, one line per element. */
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

describe('checkoutPage', () => {
  it('shows exactly this while it waits for the payment', () => {
    expect(words(checkoutPage(view('pending', { test: true })))).toEqual([
      'Ambiente de teste',
      'Pagamento para Padaria Nova Aurora R$ 1.234,56',
      'Pague até 9 de março de 2026 às 23:30 (horário de Brasília)',
      'Aguardando pagamentoTempo restante:',
      'Pix Copia e Cola',
      BR_CODE,
      'Copiar código Pix',
      'Selecione e copie o código acima. Esta página se atualiza sozinha a cada 15 segundos.',
      'Ou escaneie o QR Code',
      'com a câmera do aplicativo do seu banco',
      'Abra o aplicativo do seu banco e entre na área Pix.',
      'Cole o código em Pix Copia e Cola ou escaneie o QR Code.',
      'Confira o valor e o recebedor e confirme. O resultado aparece aqui em segundos.',
    ]);
  });

  it('shows exactly this once it is paid', () => {
    expect(words(checkoutPage(view('paid', { paidAt: new Date('2026-03-10T03:05:00Z') })))).toEqual([
      'Pagamento confirmado',
      'R$ 1.234,56',
      'para Padaria Nova Aurora',
      'Pago em 10 de março de 2026 às 00:05 (horário de Brasília)',
      'Tudo certo. Você já pode fechar esta página.',
    ]);
  });

  it.each([
    ['processing', 'Pagamento em análise', 'Não pague de novo'],
    ['failed', 'Cobrança não concluída', 'Peça uma nova a Padaria Nova Aurora.'],
    ['expired', 'Cobrança expirada', 'O prazo terminou em 9 de março de 2026 às 23:30 (horário de Brasília).'],
    ['cancelled', 'Cobrança cancelada', 'Ela não deve mais ser paga'],
    ['refunded', 'Pagamento devolvido', 'O valor foi devolvido a quem pagou.'],
    ['disputed', 'Pagamento contestado', 'Este pagamento foi contestado'],
  ] as const)('says what %s means', (status, title, text) => {
    const page = checkoutPage(view(status));
    expect(words(page)[0]).toBe(title);
    expect(words(page).join('\n')).toContain(text);
    expect(page).toContain(`<title>${title} · Padaria Nova Aurora</title>`);
    expect(page).toContain(`data-status="${status}" data-view="${status}"`);
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<textarea');
  });

  it('waits for a code that is not there yet and takes no QR code that would be missing', () => {
    const page = checkoutPage(view('pending', { brCode: null }));
    expect(words(page)[0]).toBe('Preparando o código Pix');
    expect(page).toContain('data-status="pending" data-view="preparing"');
    expect(page).not.toContain('<img');
  });

  it('has no countdown for a charge that does not expire', () => {
    const page = checkoutPage(view('pending', { expiresAt: null }));
    expect(page).not.toContain('Pague até');
    expect(page).not.toContain('<span data-countdown>');
    expect(page).not.toContain('data-expires=');
  });

  it('reloads by itself without JavaScript only while the outcome is open', () => {
    const refresh = '<noscript><meta http-equiv="refresh" content="15"></noscript>';
    expect(STATUSES.filter((status) => checkoutPage(view(status)).includes(refresh))).toEqual([
      'pending',
      'processing',
    ]);
  });

  it('shows the sandbox badge in every state of a sandbox charge and in none of a live one', () => {
    const badge = '<p class="badge">Ambiente de teste</p>';
    for (const status of STATUSES) {
      expect(checkoutPage(view(status, { test: true }))).toContain(badge);
      expect(checkoutPage(view(status, { test: false }))).not.toContain(badge);
    }
  });

  it.each(['WAITING_PAYMENT', 'PAID', 'EXPIRED', 'REFUSED', 'PROCESSING'] as const)(
    'keeps everything private about a charge in %s',
    (status) => {
      const transaction = aTransaction({ status });
      const page = checkoutPage(toCheckoutView(transaction, { name: 'Padaria Nova Aurora' }, NOW));
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
    const page = checkoutPage(view(status, { merchant: hostile }));
    expect(page).not.toContain(hostile);
    expect(page).not.toContain("<script>alert('1')");
    expect(page).not.toContain('<img src=x');
    expect(page).toContain(
      '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;',
    );
    expect(page.match(/<script/g)).toHaveLength(1);
  });

  it('escapes a code too', () => {
    const page = checkoutPage(view('pending', { brCode: '0002</textarea><script>1</script>' }));
    expect(page).toContain('>0002&lt;/textarea&gt;&lt;script&gt;1&lt;/script&gt;</textarea>');
  });

  it('asks nobody else for anything', () => {
    for (const page of [...STATUSES.map((status) => checkoutPage(view(status))), notFoundPage()]) {
      expect(page).not.toMatch(/https?:|\/\/[a-z0-9]/i);
      const sources = [...page.matchAll(/\b(?:src|srcset|href|action|url)\s*[=(]\s*"?([^"\s)>]*)/g)].map((m) => m[1]);
      for (const source of sources) expect(source).toMatch(new RegExp(`^(?:${ID}/qr\\.png|data:image/svg\\+xml,.*)$`));
    }
  });

  it('weighs under 30 KB with its QR code', async () => {
    expect(BR_CODE.length).toBeGreaterThanOrEqual(150);
    const png = qrPng(BR_CODE);
    const heaviest = Math.max(
      ...STATUSES.map((status) => Buffer.byteLength(checkoutPage(view(status, { merchant: '&'.repeat(120) })))),
    );
    expect(heaviest).toBeLessThan(20 * 1024);
    expect(heaviest + png.length).toBeLessThan(30_720);
  });

  it('is Brazilian Portuguese, labelled, and announces changes', () => {
    const page = checkoutPage(view('pending'));
    expect(page).toMatch(/^<!doctype html>\n<html lang="pt-BR">/);
    expect(page).toContain('<label for="br-code">');
    expect(page).toContain('<textarea id="br-code" rows="4" readonly');
    expect(page).toContain('alt="QR Code do Pix de R$ 1.234,56 para Padaria Nova Aurora"');
    expect(page.indexOf('aria-live="polite"')).toBeGreaterThan(page.indexOf('</main>'));
    expect(page.match(/<h1/g)).toHaveLength(1);
  });
});

describe('notFoundPage', () => {
  it('is friendly, in Portuguese, and runs nothing', () => {
    expect(words(notFoundPage())).toEqual([
      'Cobrança não encontrada',
      'Confira se o endereço está completo ou peça um novo link a quem enviou a cobrança.',
    ]);
    expect(notFoundPage()).not.toContain('<script');
  });
});
