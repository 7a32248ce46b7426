import { saoPauloTime } from '../brazil/index.js';
import type { PublicStatus } from '../charges/index.js';
import type { Amount } from '../core/money/index.js';
import { formatBrl } from './checkout.format.js';
import { type Html, markup, trusted } from '../core/http/index.js';
import { FAVICON, type Icon, icon } from './checkout.icons.js';
import { SCRIPT } from './checkout.script.js';
import { STYLES } from './checkout.styles.js';
import type { CheckoutView } from './checkout.view.js';

/** Characters of an amount that fit one line of a 320-pixel screen in the large size (`R$ 9.999.999,99`). */
const LARGE_AMOUNT = 15;

const TITLES: Readonly<Record<PublicStatus, string>> = {
  pending: 'Pague com Pix',
  processing: 'Pagamento em análise',
  paid: 'Pagamento confirmado',
  failed: 'Cobrança não concluída',
  expired: 'Cobrança expirada',
  cancelled: 'Cobrança cancelada',
  refunded: 'Pagamento devolvido',
  disputed: 'Pagamento contestado',
};

/** Everything but `pending`, which is the page one pays on. */
type Outcome = Exclude<PublicStatus, 'pending'>;

const MARKS: Readonly<Record<Outcome, { icon: Icon; tone: 'good' | 'warn' | 'bad' | 'calm' }>> = {
  processing: { icon: 'search', tone: 'calm' },
  paid: { icon: 'check', tone: 'good' },
  failed: { icon: 'cross', tone: 'bad' },
  expired: { icon: 'clock', tone: 'warn' },
  cancelled: { icon: 'cross', tone: 'bad' },
  refunded: { icon: 'back', tone: 'calm' },
  disputed: { icon: 'alert', tone: 'warn' },
};

/** The whole page for the charge as it is now. Under 20 KB with its stylesheet and script. */
export function checkoutPage(view: CheckoutView): string {
  return page({
    title: `${TITLES[view.status]} · ${view.merchant}`,
    refresh: view.status === 'pending' || view.status === 'processing',
    main: view.status === 'pending' ? pending(view) : outcome(view, view.status),
    live: true,
  });
}

/** For an address nobody has: mistyped, cut off or made up. */
export function notFoundPage(): string {
  return page({
    title: 'Cobrança não encontrada',
    refresh: false,
    main: markup`<main class="result">
  <div><span class="mark calm">${icon('search', 34)}</span></div>
  <h1>Cobrança não encontrada</h1>
  <p class="note">Confira se o endereço está completo ou peça um novo link a quem enviou a cobrança.</p>
</main>`,
    live: false,
  });
}

function page(parts: { title: string; refresh: boolean; main: Html; live: boolean }): string {
  return markup`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<meta name="format-detection" content="telephone=no">
<title>${parts.title}</title>
<link rel="icon" href="${FAVICON}">
${parts.refresh ? markup`<noscript><meta http-equiv="refresh" content="15"></noscript>` : null}
<style>${trusted(STYLES)}</style>
</head>
<body>
${parts.main}
${parts.live ? LIVE : null}
</body>
</html>
`.text;
}

/** Outside <main>, which the script replaces: a live region that is itself replaced is not read out. */
const LIVE = markup`<div id="news" class="sr" role="status" aria-live="polite"></div>
<script>${trusted(SCRIPT)}</script>`;

function pending(view: CheckoutView): Html {
  if (view.brCode === null) return preparing(view);
  return markup`<main class="wide" ${data(view, 'pending')}>
<header>
  ${testBadge(view)}
  <h1><span class="to">Pagamento para <bdi>${view.merchant}</bdi></span> ${amount(view.amount)}</h1>
  ${view.expiresAt === null ? null : markup`<p class="due">Pague até ${time(view.expiresAt)}</p>`}
  <p class="live js-only"><i class="dot"></i><span data-live="Aguardando pagamento">Aguardando pagamento</span>${
    view.expiresAt === null ? null : COUNTDOWN
  }</p>
</header>
<div class="pay">
  <section class="code">
    <label for="br-code">Pix Copia e Cola</label>
    <div class="field"><textarea id="br-code" rows="4" readonly spellcheck="false" autocomplete="off" translate="no">${view.brCode}</textarea></div>
    <button type="button" class="js-only" data-copy>${icon('copy', 20)}<span data-label="Copiar código Pix">Copiar código Pix</span></button>
    <p class="hint no-js">Selecione e copie o código acima. Esta página se atualiza sozinha a cada 15 segundos.</p>
  </section>
  <section class="qr">
    <h2>Ou escaneie o QR Code</h2>
    <p>com a câmera do aplicativo do seu banco</p>
    <div class="tile">${qrImage(view)}</div>
  </section>
  <ol>
    <li>Abra o aplicativo do seu banco e entre na área Pix.</li>
    <li>Cole o código em Pix Copia e Cola ou escaneie o QR Code.</li>
    <li>Confira o valor e o recebedor e confirme. O resultado aparece aqui em segundos.</li>
  </ol>
</div>
</main>`;
}

const COUNTDOWN = markup`<b role="timer"><span class="sr">Tempo restante: </span><span data-countdown></span></b>`;

/**
 * Relative, so that it holds behind a proxy that serves the checkout under another path. The PNG has 8 pixels per
 * module; said to be a 2x picture it is shown at 4, whole pixels on every screen, so its edges stay sharp.
 */
function qrImage(view: CheckoutView): Html {
  const source = `${view.id}/qr.png`;
  return markup`<img src="${source}" srcset="${source} 2x" alt="QR Code do Pix de ${formatBrl(view.amount)} para ${view.merchant}">`;
}

/** The acquirer has not answered yet; seldom seen. */
function preparing(view: CheckoutView): Html {
  return markup`<main class="result" ${data(view, 'preparing')}>
${testBadge(view)}
<div><span class="mark calm">${icon('clock', 34)}</span></div>
<h1 tabindex="-1">Preparando o código Pix</h1>
${amount(view.amount)}
<p class="to">para <bdi>${view.merchant}</bdi></p>
<p class="note">O código aparece aqui em instantes.</p>
</main>`;
}

function outcome(view: CheckoutView, status: Outcome): Html {
  const mark = MARKS[status];
  return markup`<main class="result" ${data(view, status)}>
${testBadge(view)}
<div><span class="mark ${mark.tone}">${icon(mark.icon, 34)}</span></div>
<h1 tabindex="-1">${TITLES[status]}</h1>
${amount(view.amount)}
<p class="to">para <bdi>${view.merchant}</bdi></p>
${explanation(view, status)}
</main>`;
}

/** What it means for the payer and what to do next. */
function explanation(view: CheckoutView, status: Outcome): Html {
  const merchant = markup`<bdi>${view.merchant}</bdi>`;
  switch (status) {
    case 'paid':
      return markup`${view.paidAt === null ? null : markup`<p class="note">Pago em ${time(view.paidAt)}</p>`}
<p class="note">Tudo certo. Você já pode fechar esta página.</p>`;
    case 'processing':
      return markup`<p class="note">O Pix foi recebido e está sendo conferido. Não pague de novo: o resultado aparece nesta página.</p>`;
    case 'expired':
      return markup`<p class="note">O prazo terminou${view.expiresAt === null ? null : markup` em ${time(view.expiresAt)}`}.</p>
<p class="note">Peça uma nova cobrança a ${merchant}. Um Pix feito depois do prazo é devolvido automaticamente.</p>`;
    case 'cancelled':
      return markup`<p class="note">Ela não deve mais ser paga: um Pix feito agora é devolvido automaticamente.</p>
<p class="note">Em caso de dúvida, fale com ${merchant}.</p>`;
    case 'failed':
      return markup`<p class="note">Esta cobrança não pode ser paga. Peça uma nova a ${merchant}.</p>`;
    case 'refunded':
      return markup`<p class="note">O valor foi devolvido a quem pagou. Em caso de dúvida, fale com ${merchant}.</p>`;
    case 'disputed':
      return markup`<p class="note">Este pagamento foi contestado e está em análise. Para acompanhar, fale com ${merchant} ou com o seu banco.</p>`;
  }
}

function amount(value: Amount): Html {
  const text = formatBrl(value);
  return markup`<span class="amount${text.length > LARGE_AMOUNT ? ' long' : ''}">${text}</span>`;
}

function time(at: Date): Html {
  return markup`<time datetime="${at.toISOString()}">${saoPauloTime(at)}</time> (horário\u00a0de\u00a0Brasília)`;
}

function testBadge(view: CheckoutView): Html | null {
  return view.test ? markup`<p class="badge">Ambiente de teste</p>` : null;
}

/** What the script reads. `view` differs from the status while the code is missing. Times in epoch milliseconds. */
function data(view: CheckoutView, name: PublicStatus | 'preparing'): Html {
  const expires = view.expiresAt === null ? null : markup` data-expires="${view.expiresAt.getTime()}"`;
  return markup`data-status="${view.status}" data-view="${name}" data-now="${view.now.getTime()}"${expires}`;
}
