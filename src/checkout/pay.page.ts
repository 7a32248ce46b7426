import { type Html, markup } from '../core/http/index.js';
import { moneyText } from '../core/money/index.js';
import type { ClosedReason, PaymentLink, VisitedLink } from '../payment-links/index.js';
import { amount, messagePage, page, type Page, withMerchant } from './checkout.layout.js';
import { type Language, TEXTS } from './checkout.texts.js';
import type { Brand } from './checkout.view.js';
import { fieldsOf, type PayField, type PayForm } from './pay.form.js';
import { PAY_TEXTS, type PayWording } from './pay.texts.js';

const CURRENCY = 'BRL';

/** Attributes that bring up the right keyboard and fill in what the browser knows. */
const INPUTS: Readonly<Record<PayField, Html>> = {
  amount: markup`inputmode="decimal" maxlength="20" autocomplete="off"`,
  name: markup`maxlength="200" autocomplete="name"`,
  tax_id: markup`inputmode="numeric" maxlength="40" autocomplete="off"`,
  email: markup`type="email" maxlength="254" autocomplete="email"`,
  phone: markup`type="tel" maxlength="32" autocomplete="tel-national"`,
  answer: markup`maxlength="500" autocomplete="off"`,
};

function brandOf({ link, account }: VisitedLink): Brand {
  const { name, accent, logo: picture } = account;
  return { merchant: name, accent, hasLogo: picture !== null, test: link.mode === 'test' };
}

/** Returns the address of the merchant's logo, from the link's page. */
function logoOf({ shortId }: PaymentLink): string {
  return `${shortId}/logo`;
}

/** @param visit id of the visit, under which its charge is made @param isFailed whether to ask the payer to try again */
export function payPage(
  visited: VisitedLink,
  visit: string,
  form: PayForm,
  language: Language,
  isFailed = false,
): Page {
  const { link } = visited;
  const words = PAY_TEXTS[language];
  const brand = brandOf(visited);
  const alert = isFailed ? words.tryAgain : form.wrong.length > 0 ? words.wrong : null;
  const fields = fieldsOf(link);
  const made = page(language, brand, {
    title: `${link.name} · ${brand.merchant}`,
    main: markup`<main${fields.length > 0 ? markup` class="wide"` : null}>
<div class="sum">
<h1><span class="to">${words.payTo} <bdi>${brand.merchant}</bdi></span> <span class="sold"><bdi>${link.name}</bdi></span></h1>
${link.amount === null ? null : markup`<p>${amount(moneyText(link.amount, CURRENCY))}</p>`}
${link.pictureType === null ? null : markup`<p class="picture"><img src="${link.shortId}/picture" alt=""></p>`}
${link.description === null ? null : markup`<p class="what lines"><bdi>${link.description}</bdi></p>`}
</div>
<div class="pay">
${alert === null ? null : markup`<p class="lock" role="alert">${alert}</p>`}
<form method="post" action="?lang=${language}" novalidate>
<input type="hidden" name="visit" value="${visit}">
${fields.map((field) => input(link, field, form, words))}
<button type="submit">${words.submit}</button>
<p class="hint">${words.next}</p>
</form>
</div>
</main>`,
    logo: logoOf(link),
    live: false,
  });
  return { ...made, forms: 'self' };
}

function input(link: PaymentLink, field: PayField, { values, wrong }: PayForm, words: PayWording): Html {
  const label = field === 'answer' ? (link.question ?? '') : words.fields[field];
  const bounds = field === 'amount' ? boundsText(link, words) : null;
  const isWrong = wrong.includes(field);
  const described = [...(bounds === null ? [] : [`${field}-hint`]), ...(isWrong ? [`${field}-error`] : [])].join(' ');
  return markup`<div><label for="${field}"><bdi>${label}</bdi></label>
<div class="field"><input id="${field}" name="${field}" value="${values[field] ?? ''}" required ${INPUTS[field]}${
    described === '' ? null : markup` aria-describedby="${described}"`
  }${isWrong ? markup` aria-invalid="true"` : null}></div>
${bounds === null ? null : markup`<p class="hint" id="${field}-hint">${bounds}</p>`}
${isWrong ? markup`<p class="error" id="${field}-error">${words.errors[field]}</p>` : null}</div>`;
}

function boundsText({ amountMin, amountMax }: PaymentLink, words: PayWording): string | null {
  const least = amountMin === null ? null : moneyText(amountMin, CURRENCY);
  const most = amountMax === null ? null : moneyText(amountMax, CURRENCY);
  if (least !== null && most !== null) return words.between(least, most);
  if (least !== null) return words.atLeast(least);
  return most === null ? null : words.atMost(most);
}

/** A page to print: name, amount and a QR code that opens the link. */
export function posterPage(visited: VisitedLink, language: Language): Page {
  const { link } = visited;
  const words = PAY_TEXTS[language];
  const brand = brandOf(visited);
  return page(language, brand, {
    title: `${link.name} · ${brand.merchant}`,
    main: markup`<main class="result poster">
<h1><bdi>${link.name}</bdi></h1>
<p class="to"><bdi>${brand.merchant}</bdi></p>
${link.amount === null ? null : markup`<p>${amount(moneyText(link.amount, CURRENCY))}</p>`}
<div class="tile"><img src="qr.svg" width="256" height="256" alt="${words.qrOf(link.name)}"></div>
<p class="note">${words.pointCamera}</p>
<p class="actions no-print"><button type="button" class="js-only" data-print>${TEXTS[language].print}</button></p>
</main>`,
    logo: 'logo',
    live: true,
  });
}

export function linkNotFoundPage(language: Language): Page {
  const { notFound, notFoundNote } = PAY_TEXTS[language];
  return messagePage(language, notFound, notFoundNote);
}

export function closedPage(visited: VisitedLink, reason: ClosedReason, language: Language): Page {
  const [title = '', note = ''] = PAY_TEXTS[language].closed[reason];
  const brand = brandOf(visited);
  return messagePage(language, title, withMerchant(note, brand), brand, logoOf(visited.link));
}

/** Shown where the charge is refused: a suspended account, a rule against fraud, no connection to a bank. */
export function refusedPage(visited: VisitedLink, language: Language): Page {
  const { refused, refusedNote } = PAY_TEXTS[language];
  const brand = brandOf(visited);
  return messagePage(language, refused, withMerchant(refusedNote, brand), brand, logoOf(visited.link));
}

/** Shown for a form that another site's page has sent. */
export function foreignPage(language: Language): Page {
  const { foreign, foreignNote } = PAY_TEXTS[language];
  return messagePage(language, foreign, foreignNote);
}
