import { formatBoletoLine } from '../brazil/index.js';
import { moneyText } from '../core/money/index.js';
import type { PublicStatus } from '../charges/index.js';
import { type Html, markup } from '../core/http/index.js';
import { type Icon, icon } from './checkout.icons.js';
import { amount, mark, messagePage, page, type Page, time, withMerchant } from './checkout.layout.js';
import { type Language, TEXTS, type Wording } from './checkout.texts.js';
import type { CheckoutView, ReceiptView } from './checkout.view.js';

/** How long the page shows that the payment has arrived. */
const BACK_AFTER_S = 5;

/** Characters of a description beyond which it stands below the payment: code and QR code stay in sight on a phone. */
const SHORT_DESCRIPTION = 80;

/** Keeps a masked tax id on one line. */
const NO_BREAK_HYPHEN = '\u2011';

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

/** The whole page for the charge's current state. Under 30 KB with its stylesheet and script. */
export function checkoutPage(view: CheckoutView, language: Language): Page {
  const words = TEXTS[language];
  return page(language, view, {
    title: `${words.titles[view.status]} · ${view.merchant}`,
    refresh: refreshOf(view),
    main: view.status === 'pending' ? pending(view, words) : outcome(view, view.status, words),
    logo: `${view.id}/logo`,
    live: true,
  });
}

/** Without JavaScript the page reloads by itself, and leads back once it is paid. */
function refreshOf({ status, isJustPaid, returnUrl }: CheckoutView): string | null {
  if (status === 'pending' || status === 'processing') return '15';
  return isJustPaid && returnUrl !== null ? `${BACK_AFTER_S}; url=${returnUrl.href}` : null;
}

/** The page instead of a receipt when a charge is unpaid or was paid too long ago. */
export function noReceiptPage(language: Language): Page {
  const { receiptGone, receiptGoneNote } = TEXTS[language];
  return messagePage(language, receiptGone, receiptGoneNote);
}

/** The receipt, to share and to print. */
export function receiptPage(view: ReceiptView, language: Language): Page {
  const words = TEXTS[language];
  const { icon: name, tone } = MARKS[view.status];
  const line = (label: string, value: Html | string | null, isCode = false): Html | null =>
    value === null ? null : markup`<div><dt>${label}</dt><dd${isCode ? markup` class="id"` : null}>${value}</dd></div>`;
  return page(language, view, {
    title: `${words.receiptTitle} · ${view.merchant}`,
    main: markup`<main class="receipt">
<p class="state ${tone}">${icon(name, 18)} ${words.titles[view.status]}</p>
<h1>${words.receiptTitle}</h1>
<p>${amount(moneyText(view.amount, view.currency))}</p>
<p class="note">${time(view.paidAt, words)}</p>
<dl>
${line(words.returned, view.refunded === 0 ? null : moneyText(view.refunded, view.currency))}
${line(words.receiver, markup`<bdi>${view.merchant}</bdi>`)}
${line(words.taxId, view.taxId)}
${line(words.contact, view.contact)}
${line(words.forWhat, view.description === null ? null : markup`<bdi>${view.description}</bdi>`)}
${line(words.method, view.method === null ? null : words.methods[view.method])}
${line(words.reference, view.reference, true)}
${line(words.chargeId, view.id, true)}
</dl>
<p class="act js-only no-print"><button type="button" data-share="page" data-done="${words.linkCopied}" data-failed="${words.linkNotCopied}">${icon('share', 20)}<span data-label="${words.share}">${words.share}</span></button><button type="button" class="second" data-print>${icon('print', 20)}${words.print}</button></p>
<p class="hint no-print">${words.receiptUntil} ${time(view.availableUntil, words)}.</p>
</main>`,
    logo: 'logo',
    live: true,
  });
}

function pending(view: CheckoutView, words: Wording): Html {
  const ways = otherWays(view, words);
  const isShort = view.description === null || view.description.length <= SHORT_DESCRIPTION;
  if (view.brCode === null && ways.length === 0) return preparing(view, words);
  return markup`<main class="wide" ${data(view, 'pending')}>
<div class="sum">
  <h1><span class="to">${words.paymentTo} <bdi>${view.merchant}</bdi></span> ${amount(moneyText(view.amount, view.currency))}</h1>
  ${isShort ? description(view) : null}
  ${view.expiresAt === null ? null : markup`<p class="due">${words.payUntil} ${time(view.expiresAt, words)}</p>`}
  ${view.lockedTo === null ? null : markup`<p class="lock">${words.lock(view.lockedTo.replace('-', NO_BREAK_HYPHEN))}</p>`}
  <p class="live js-only no-print"><i class="dot"></i><span data-live="${words.waiting}" data-lost="${words.lost}">${words.waiting}</span>${
    view.expiresAt === null ? null : countdown(words)
  }</p>
</div>
<div class="pay">
  ${view.brCode === null ? null : pix(view, view.brCode, words)}
  ${
    ways.length === 0
      ? null
      : markup`<section class="ways">
    <h2>${view.brCode === null ? words.ways : words.otherWays}</h2>
    ${ways}
  </section>`
  }
</div>
<div class="rest">
  ${isShort ? null : markup`<section><h2>${words.forWhat}</h2>${description(view)}</section>`}
  ${view.brCode === null ? null : markup`<ol>${words.steps.map((step) => markup`<li>${step}</li>`)}</ol>`}
  ${wayBack(view, words, 'plain')}
</div>
</main>`;
}

function pix(view: CheckoutView, brCode: string, words: Wording): Html {
  return markup`<div class="copy js-only no-print">
    <p class="act">${copyButton('br-code', words.copy, words)}<button type="button" class="second" data-share="code" aria-label="${words.shareCode}" hidden>${icon('share', 22)}</button></p>
    <p class="hint">${words.paste}</p>
  </div>
  <section class="qr">
    <h2>${words.scan}</h2>
    <p>${words.scanWith}</p>
    <div class="tile">${qrImage(view, words)}</div>
    <p class="tools no-print"><a href="${view.id}/qr.png" download="pix.png">${words.save}</a></p>
  </section>
  <section class="code">
    <label for="br-code">${words.code_label}</label>
    <div class="field"><textarea id="br-code" rows="4" readonly spellcheck="false" autocomplete="off" translate="no">${brCode}</textarea></div>
    <p class="hint no-js no-print">${words.noScript}</p>
  </section>`;
}

function copyButton(target: string, label: string, words: Wording): Html {
  return markup`<button type="button" class="js-only no-print" data-copy="${target}" data-done="${words.copied}" data-failed="${words.notCopied}">${icon('copy', 20)}<span data-label="${label}">${label}</span></button>`;
}

/** The methods beside Pix. A single way to pay is open, otherwise the payer opens one. */
function otherWays({ otherWays: ways, brCode, amount: sum, currency }: CheckoutView, words: Wording): Html[] {
  const { CREDIT_CARD: card, BOLETO: boleto, MULTIBANCO: multibanco, CRYPTO: crypto, MBWAY: mbway } = ways;
  const isOnly = brCode === null && Object.keys(ways).length === 1;
  const way = (name: Icon, method: keyof typeof ways, body: Html): Html =>
    markup`<details class="way" name="way"${isOnly ? markup` open` : null}><summary>${icon(name, 22)}<span>${words.methods[method]}</span></summary>
    ${body}</details>`;
  return [
    card === undefined
      ? null
      : way(
          'card',
          'CREDIT_CARD',
          markup`<a class="button no-print" href="${card.redirectUrl}" rel="noreferrer">${words.card}</a>`,
        ),
    boleto === undefined
      ? null
      : way(
          'barcode',
          'BOLETO',
          markup`${toCopy('boleto', words.boletoLine, formatBoletoLine(boleto.line), words.boletoCopy, words)}
    <p class="tools no-print"><a href="${boleto.pdfUrl}" rel="noreferrer">${words.boletoPdf}</a></p>`,
        ),
    multibanco === undefined
      ? null
      : way(
          'barcode',
          'MULTIBANCO',
          markup`<dl><div><dt>${words.entity}</dt><dd>${multibanco.entity}</dd></div><div><dt>${words.paymentReference}</dt><dd>${multibanco.reference}</dd></div><div><dt>${words.amount}</dt><dd>${moneyText(sum, currency)}</dd></div></dl>`,
        ),
    mbway === undefined ? null : way('phone', 'MBWAY', markup`<p>${words.mbway}</p>`),
    crypto === undefined
      ? null
      : way(
          'coin',
          'CRYPTO',
          markup`<p>${words.crypto(`${crypto.amount} ${crypto.currency}`, crypto.network)}</p>
    ${toCopy('crypto', words.cryptoAddress, crypto.address, words.cryptoCopy, words)}`,
        ),
  ].filter((one) => one !== null);
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

function description(view: CheckoutView): Html | null {
  return view.description === null ? null : markup`<p class="what"><bdi>${view.description}</bdi></p>`;
}

/** Shown while the acquirer has not answered yet; rare. */
function preparing(view: CheckoutView, words: Wording): Html {
  return markup`<main class="result" ${data(view, 'preparing')}>
${mark('clock', 'calm')}
<h1 tabindex="-1">${words.preparing}</h1>
${amount(moneyText(view.amount, view.currency))}
<p class="to">${words.to} <bdi>${view.merchant}</bdi></p>
${description(view)}
<p class="note">${words.preparingNote}</p>
</main>`;
}

function outcome(view: CheckoutView, status: Outcome, words: Wording): Html {
  const { icon: name, tone } = MARKS[status];
  const pixNotes: Partial<Record<Outcome, string>> = view.takesPix ? words.pixNotes : {};
  const pixNote = pixNotes[status];
  const isLeaving = view.isJustPaid && view.returnUrl !== null;
  return markup`<main class="result" ${data(view, status)}>
${mark(name, tone)}
<h1 tabindex="-1">${words.titles[status]}</h1>
${amount(moneyText(view.amount, view.currency))}
<p class="to">${words.to} <bdi>${view.merchant}</bdi></p>
${description(view)}
${when(view, status, words)}
${words.notes[status].map((note) => markup`<p class="note">${withMerchant(note, view)}</p>`)}
${pixNote === undefined ? null : markup`<p class="note">${pixNote}</p>`}
${returned(view, words)}
${isLeaving ? wayBack(view, words, 'button') : null}
${isLeaving ? markup`<p class="hint no-print" data-back="${BACK_AFTER_S}">${words.backSoon}</p>` : null}
${view.hasReceipt ? markup`<p class="actions no-print"><a class="button${isLeaving ? ' second' : ''}" href="${view.id}/receipt?lang=${words.language}">${words.receipt}</a></p>` : null}
${isLeaving ? null : wayBack(view, words, view.hasReceipt ? 'plain' : 'button')}
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

/** Returned money and its reason: the payer looks for it in the bank's statement. */
function returned({ returns, refunded, currency }: CheckoutView, words: Wording): Html | null {
  if (returns.length === 0 && refunded === 0) return null;
  return markup`<section class="back"><h2>${words.returned}</h2><ul>
${refunded === 0 ? null : markup`<li>${words.partlyRefunded(moneyText(refunded, currency))}</li>`}
${returns.map(
  ({ amount: sum, reason, endToEndId, at }) =>
    markup`<li><b>${moneyText(sum, currency)}</b> · ${words.reasons[reason]} · ${time(at, words)}<br><small class="id">${endToEndId}</small></li>`,
)}
</ul></section>`;
}

function wayBack({ returnUrl }: CheckoutView, words: Wording, look: 'button' | 'plain'): Html | null {
  if (returnUrl === null) return null;
  return markup`<p class="actions no-print"><a class="${look}" data-return href="${returnUrl.href}" rel="noopener noreferrer">${words.backTo(returnUrl.host)}</a></p>`;
}

/**
 * Makes the data attributes for the script, with times in epoch milliseconds.
 * @param name the shown state: `preparing` while the charge has no code yet, otherwise its status
 */
function data(view: CheckoutView, name: PublicStatus | 'preparing'): Html {
  const expires = view.expiresAt === null ? null : markup` data-expires="${view.expiresAt.getTime()}"`;
  return markup`data-status="${view.status}" data-view="${name}" data-now="${view.now.getTime()}"${expires}`;
}
