import { textOn } from '../accounts/index.js';
import { saoPauloTime } from '../brazil/index.js';
import { type Html, markup, trusted } from '../core/http/index.js';
import type { PageStyle } from './checkout.csp.js';
import { FAVICON, type Icon, icon } from './checkout.icons.js';
import { SCRIPT } from './checkout.script.js';
import { STYLES } from './checkout.styles.js';
import { type Language, TEXTS, type Wording } from './checkout.texts.js';
import type { Brand } from './checkout.view.js';

/** Characters of an amount that fit one line of a 320-pixel screen in the large size (`R$ 9.999.999,99`). */
const LARGE_AMOUNT = 15;

export interface Page extends PageStyle {
  readonly html: string;
}

export interface PageParts {
  readonly title: string;
  /** Seconds after which a browser without JavaScript loads the page again, or goes to an address; null: never. */
  readonly refresh?: string | null;
  readonly main: Html;
  /** Address of the merchant's picture, from this page. */
  readonly logo?: string;
  /** Whether the page has the script. */
  readonly live: boolean;
}

/** The frame of every page that a payer opens: the merchant's logo and colour, the language switch, and `main`. */
export function page(language: Language, brand: Brand | null, parts: PageParts): Page {
  const words = TEXTS[language];
  const { code, other } = words;
  const { refresh = null } = parts;
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
${refresh === null ? null : markup`<noscript><meta http-equiv="refresh" content="${refresh}"></noscript>`}
<style>${trusted(STYLES)}</style>
${own === '' ? null : markup`<style>${trusted(own)}</style>`}
</head>
<body>
<header class="top">
${brand?.hasLogo === true && parts.logo !== undefined ? markup`<img class="logo" src="${parts.logo}" alt="">` : null}
${brand?.test === true ? markup`<p class="badge">${words.test}</p>` : null}
<a class="no-print" href="?lang=${other.language}" lang="${other.code}" hreflang="${other.code}">${other.name}</a>
</header>
${parts.main}
${parts.live ? LIVE : null}
</body>
</html>
`;
  return { html, ownStyle: own };
}

/** Outside <main>, which the script replaces: screen readers do not announce a live region that is replaced. */
const LIVE = markup`<div id="news" class="sr" role="status" aria-live="polite"></div>
<script>${trusted(SCRIPT)}</script>`;

/** The merchant's style for the buttons only: text keeps colours whose contrast is known. */
function ownStyle({ accent }: Brand): string {
  return accent === null ? '' : `:root{--button:${accent};--on-button:${textOn(accent)}}`;
}

/** A page that only says something. */
export function messagePage(
  language: Language,
  title: string,
  note: Html | string,
  brand: Brand | null = null,
  logo?: string,
): Page {
  return page(language, brand, {
    title,
    main: markup`<main class="result">
${mark('search', 'calm')}
<h1>${title}</h1>
<p class="note">${note}</p>
</main>`,
    ...(logo === undefined ? {} : { logo }),
    live: false,
  });
}

/** The page for an unknown address: mistyped, truncated or made up. */
export function notFoundPage(language: Language): Page {
  const { notFound, notFoundNote } = TEXTS[language];
  return messagePage(language, notFound, notFoundNote);
}

export function mark(name: Icon, tone: 'good' | 'warn' | 'bad' | 'calm'): Html {
  return markup`<div><span class="mark ${tone}">${icon(name, 34)}</span></div>`;
}

export function amount(text: string): Html {
  return markup`<span class="amount${text.length > LARGE_AMOUNT ? ' long' : ''}">${text}</span>`;
}

export function time(at: Date, { code, zone }: Wording): Html {
  const text = saoPauloTime(at, code === 'en' ? 'english' : 'portuguese');
  return markup`<time datetime="${at.toISOString()}">${text}</time> ${zone}`;
}

export function withMerchant(note: string, { merchant }: Brand): Html {
  const [before = '', after] = note.split('{merchant}');
  return after === undefined ? markup`${before}` : markup`${before}<bdi>${merchant}</bdi>${after}`;
}
