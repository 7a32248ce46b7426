import { textOn } from '../accounts/index.js';
import { moneyText } from '../core/money/index.js';
import { saoPauloTime } from '../brazil/index.js';
import type { PublicStatus } from '../charges/index.js';
import { type Html, markup, trusted } from '../core/http/index.js';
import type { PageStyle } from './checkout.csp.js';
import { FAVICON, type Icon, icon } from './checkout.icons.js';
import { SCRIPT } from './checkout.script.js';
import { STYLES } from './checkout.styles.js';
import { type Language, TEXTS, type Wording } from './checkout.texts.js';
import type { Brand, CheckoutView, ReceiptView } from './checkout.view.js';

/** Characters of an amount that fit one line of a 320-pixel screen in the large size (`R$ 9.999.999,99`). */
const LARGE_AMOUNT = 15;

/** How long the page shows that the payment has arrived. */
const BACK_AFTER_S = 5;

/** All statuses but `pending`, whose page takes the payment. */
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

export interface Page extends PageStyle {
  readonly html: string;
}

/** The merchant's style for the buttons only: text keeps colours whose contrast is known. */
function ownStyle({ accent }: Brand): string {
  return accent === null ? '' : `:root{--button:${accent};--on-button:${textOn(accent)}}`;
}

/** The whole page for the charge's current state. Under 30 KB with its stylesheet and script. */
export function checkoutPage(view: CheckoutView, language: Language): Page {
  const words = TEXTS[language];
  return page(language, view, {
    title: `${words.titles[view.status]} · ${view.merchant}`,
    refresh: refreshOf(view),
    main: view.status === 'pending' ? pending(view, words) : outcome(view, view.status, words),
    live: true,
  });
}

/** Without JavaScript the page reloads by itself, and leads back once it is paid. */
function refreshOf({ status, isJustPaid, returnUrl }: CheckoutView): string | null {
  if (status === 'pending' || status === 'processing') return '15';
  return isJustPaid && returnUrl !== null ? `${BACK_AFTER_S}; url=${returnUrl.href}` : null;
}

/** The page for an unknown address: mistyped, truncated or made up. */
export function notFoundPage(language: Language): Page {
  const { notFound, notFoundNote } = TEXTS[language];
  return messagePage(language, notFound, notFoundNote);
}

/** The page instead of a receipt when a charge is unpaid or was paid too long ago. */
export function noReceiptPage(language: Language): Page {
  const { receiptGone, receiptGoneNote } = TEXTS[language];
  return messagePage(language, receiptGone, receiptGoneNote);
}

export function messagePage(language: Language, title: string, note: Html | string, brand: Brand | null = null): Page {
  return page(language, brand, {
    title,
    refresh: null,
    main: markup`<main class="result">
  <div><span class="mark calm">${icon('search', 34)}</span></div>
  <h1>${title}</h1>
  <p class="note">${note}</p>
</main>`,
    live: false,
  });
}

export function receiptPage(view: ReceiptView, language: Language): Page {
  const words = TEXTS[language];
  const methods: Readonly<Record<string, string>> = words.methods;
  const line = (name: string, value: Html | string | null): Html | null =>
    value === null ? null : markup`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  return page(language, view, {
    title: `${words.receiptTitle} · ${view.merchant}`,
    refresh: null,
    main: markup`<main class="receipt">
${logo(view, '')}
${testBadge(view, words)}
<h1>${words.receiptTitle}</h1>
<p>${amount(moneyText(view.amount, view.currency))}</p>
<dl>
${line(words.receiver, markup`<bdi>${view.merchant}</bdi>`)}
${line(words.contact, view.contact)}
${line(words.forWhat, view.description === null ? null : markup`<bdi>${view.description}</bdi>`)}
${line(words.when, time(view.paidAt, words))}
${line(words.method, view.method === null ? null : (methods[view.method] ?? view.method))}
${line(words.reference, view.reference)}
${line(words.chargeId, view.id)}
</dl>
${view.refunded === 0 ? null : markup`<p class="note">${words.partlyRefunded(moneyText(view.refunded, view.currency))}</p>`}
<p class="actions no-print"><button type="button" class="js-only" data-print>${words.print}</button></p>
</main>`,
    live: true,
  });
}

export function page(
  language: Language,
  brand: Brand | null,
  parts: { title: string; refresh: string | null; main: Html; live: boolean },
): Page {
  const { code, other } = TEXTS[language];
  const own = brand ? ownStyle(brand) : '';
  const { text: html } = markup`<!doctype html>
<html lang="${code}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<meta name="format-detection" content="telephone=no">
<title>${parts.title}</title>
<link rel="icon" href="${FAVICON}">
${parts.refresh === null ? null : markup`<noscript><meta http-equiv="refresh" content="${parts.refresh}"></noscript>`}
<style>${trusted(STYLES)}</style>
${own === '' ? null : markup`<style>${trusted(own)}</style>`}
</head>
<body>
${parts.main}
<footer class="no-print"><a href="?lang=${other.language}" lang="${other.code}" hreflang="${other.code}">${other.name}</a></footer>
${parts.live ? LIVE : null}
</body>
</html>
`;
  return { html, ownStyle: own };
}

/** Outside <main>, which the script replaces: screen readers do not announce a live region that is replaced. */
const LIVE = markup`<div id="news" class="sr" role="status" aria-live="polite"></div>
<script>${trusted(SCRIPT)}</script>`;

function pending(view: CheckoutView, words: Wording): Html {
  if (view.brCode === null) return preparing(view, words);
  return markup`<main class="wide" ${data(view, 'pending')}>
<header>
  ${logo(view, `${view.id}/`)}
  ${testBadge(view, words)}
  <h1><span class="to">${words.paymentTo} <bdi>${view.merchant}</bdi></span> ${amount(moneyText(view.amount, view.currency))}</h1>
  ${description(view)}
  ${view.expiresAt === null ? null : markup`<p class="due">${words.payUntil} ${time(view.expiresAt, words)}</p>`}
  ${view.lockedTo === null ? null : markup`<p class="lock">${words.lock(view.lockedTo)}</p>`}
  <p class="live js-only no-print"><i class="dot"></i><span data-live="${words.waiting}" data-lost="${words.lost}">${words.waiting}</span>${
    view.expiresAt === null ? null : countdown(words)
  }</p>
</header>
<div class="pay">
  <section class="code">
    <label for="br-code">${words.code_label}</label>
    <div class="field"><textarea id="br-code" rows="4" readonly spellcheck="false" autocomplete="off" translate="no">${view.brCode}</textarea></div>
    ${copyButton('br-code', words.copy, words)}
    <p class="hint no-js no-print">${words.noScript}</p>
  </section>
  <section class="qr">
    <h2>${words.scan}</h2>
    <p>${words.scanWith}</p>
    <div class="tile">${qrImage(view, words)}</div>
    <p class="tools no-print"><a href="${view.id}/qr.png" download="pix.png">${words.save}</a><button type="button" class="plain js-only" data-share hidden>${words.share}</button></p>
  </section>
  <div class="rest">
  <ol>
    ${words.steps.map((step) => markup`<li>${step}</li>`)}
  </ol>
  ${otherWays(view, words)}
  ${wayBack(view, words, 'plain')}
  </div>
</div>
</main>`;
}

function copyButton(target: string, label: string, words: Wording): Html {
  return markup`<button type="button" class="js-only no-print" data-copy="${target}" data-done="${words.copied}" data-failed="${words.notCopied}">${icon('copy', 20)}<span data-label="${label}">${label}</span></button>`;
}

function otherWays({ otherWays: ways }: CheckoutView, words: Wording): Html | null {
  const { CREDIT_CARD: card, BOLETO: boleto, MULTIBANCO: multibanco, CRYPTO: crypto, MBWAY: mbway } = ways;
  if (Object.keys(ways).length === 0) return null;
  return markup`<section class="ways">
    <h2>${words.otherWays}</h2>
    ${card === undefined ? null : markup`<a class="button second no-print" href="${card.redirectUrl}" rel="noreferrer">${words.card}</a>`}
    ${
      boleto === undefined
        ? null
        : markup`${toCopy('boleto', words.boleto, boleto.line, words.boletoCopy, words)}
    <p class="tools no-print"><a href="${boleto.pdfUrl}" rel="noreferrer">${words.boletoPdf}</a></p>`
    }
    ${multibanco === undefined ? null : markup`<p><b>Multibanco</b><br>${words.multibanco(multibanco.entity, multibanco.reference)}</p>`}
    ${mbway === undefined ? null : markup`<p><b>MB WAY</b><br>${words.mbway}</p>`}
    ${
      crypto === undefined
        ? null
        : markup`${toCopy('crypto', words.methods.CRYPTO, crypto.address, words.cryptoCopy, words)}
    <p>${words.crypto(`${crypto.amount} ${crypto.currency}`, crypto.network)}</p>`
    }
  </section>`;
}

function toCopy(id: string, label: string, text: string, copy: string, words: Wording): Html {
  return markup`<label for="${id}">${label}</label>
    <div class="field"><textarea id="${id}" rows="2" readonly spellcheck="false" autocomplete="off" translate="no">${text}</textarea></div>
    ${copyButton(id, copy, words)}`;
}

function countdown(words: Wording): Html {
  return markup`<b role="timer"><span class="sr">${words.timeLeft}</span><span data-countdown></span></b>`;
}

/** A relative URL also works behind a proxy that serves the checkout under another path. */
function qrImage(view: CheckoutView, words: Wording): Html {
  return markup`<img src="${view.id}/qr.png" width="256" height="256" alt="${words.qrOf(moneyText(view.amount, view.currency), view.merchant)}">`;
}

/** @param base base of the page's own address */
export function logo({ hasLogo }: Brand, base: string): Html | null {
  return hasLogo ? markup`<p class="brand"><img src="${base}logo" alt=""></p>` : null;
}

function description(view: CheckoutView): Html | null {
  return view.description === null ? null : markup`<p class="what"><bdi>${view.description}</bdi></p>`;
}

/** Shown while the acquirer has not answered yet; rare. */
function preparing(view: CheckoutView, words: Wording): Html {
  return markup`<main class="result" ${data(view, 'preparing')}>
${logo(view, `${view.id}/`)}
${testBadge(view, words)}
<div><span class="mark calm">${icon('clock', 34)}</span></div>
<h1 tabindex="-1">${words.preparing}</h1>
${amount(moneyText(view.amount, view.currency))}
<p class="to">${words.to} <bdi>${view.merchant}</bdi></p>
${description(view)}
<p class="note">${words.preparingNote}</p>
</main>`;
}

function outcome(view: CheckoutView, status: Outcome, words: Wording): Html {
  const mark = MARKS[status];
  return markup`<main class="result" ${data(view, status)}>
${logo(view, `${view.id}/`)}
${testBadge(view, words)}
<div><span class="mark ${mark.tone}">${icon(mark.icon, 34)}</span></div>
<h1 tabindex="-1">${words.titles[status]}</h1>
${amount(moneyText(view.amount, view.currency))}
<p class="to">${words.to} <bdi>${view.merchant}</bdi></p>
${description(view)}
${when(view, status, words)}
${words.notes[status].map((note) => markup`<p class="note">${withMerchant(note, view)}</p>`)}
${returned(view, words)}
${view.hasReceipt ? markup`<p class="actions no-print"><a class="button" href="${view.id}/receipt?lang=${words.language}">${words.receipt}</a></p>` : null}
${wayBack(view, words, view.hasReceipt && !view.isJustPaid ? 'plain' : 'button')}
${view.isJustPaid && view.returnUrl !== null ? markup`<p class="note no-print" data-back="${BACK_AFTER_S}">${words.backSoon(view.returnUrl.host)}</p>` : null}
</main>`;
}

function when(view: CheckoutView, status: Outcome, words: Wording): Html | null {
  if (status === 'paid' && view.paidAt) return markup`<p class="note">${words.paidAt} ${time(view.paidAt, words)}</p>`;
  if (status !== 'expired') return null;
  // An acquirer may end a charge early.
  return view.expiresAt === null || view.expiresAt > view.now
    ? markup`<p class="note">${words.deadlineOver}</p>`
    : markup`<p class="note">${words.deadlineWas} ${time(view.expiresAt, words)}.</p>`;
}

export function withMerchant(note: string, { merchant }: Brand): Html {
  const [before = '', after] = note.split('{merchant}');
  return after === undefined ? markup`${before}` : markup`${before}<bdi>${merchant}</bdi>${after}`;
}

/** Returned money and its reason: the payer looks for it in the bank's statement. */
function returned({ returns, refunded, currency }: CheckoutView, words: Wording): Html | null {
  if (returns.length === 0 && refunded === 0) return null;
  return markup`<section class="back"><h2>${words.returned}</h2><ul>
${refunded === 0 ? null : markup`<li>${words.partlyRefunded(moneyText(refunded, currency))}</li>`}
${returns.map(
  ({ amount: sum, reason, endToEndId, at }) =>
    markup`<li><b>${moneyText(sum, currency)}</b> · ${words.reasons[reason]} · ${time(at, words)}<br><small>${endToEndId}</small></li>`,
)}
</ul></section>`;
}

function wayBack({ returnUrl }: CheckoutView, words: Wording, look: 'button' | 'plain'): Html | null {
  if (returnUrl === null) return null;
  return markup`<p class="actions no-print"><a class="${look}" data-return href="${returnUrl.href}" rel="noopener noreferrer">${words.backTo(returnUrl.host)}</a></p>`;
}

export function amount(text: string): Html {
  return markup`<span class="amount${text.length > LARGE_AMOUNT ? ' long' : ''}">${text}</span>`;
}

function time(at: Date, { code, zone }: Wording): Html {
  const text = saoPauloTime(at, code === 'en' ? 'english' : 'portuguese');
  return markup`<time datetime="${at.toISOString()}">${text}</time> ${zone}`;
}

export function testBadge({ test }: Brand, words: Wording): Html | null {
  return test ? markup`<p class="badge">${words.test}</p>` : null;
}

/**
 * Makes the data attributes for the script, with times in epoch milliseconds.
 * @param name the shown state: `preparing` while the charge has no Pix code yet, otherwise its status
 */
function data(view: CheckoutView, name: PublicStatus | 'preparing'): Html {
  const expires = view.expiresAt === null ? null : markup` data-expires="${view.expiresAt.getTime()}"`;
  return markup`data-status="${view.status}" data-view="${name}" data-now="${view.now.getTime()}"${expires}`;
}
