import type { Page } from 'playwright-core';

/** English words that no Portuguese sentence has. */
export const ENGLISH =
  /\b(?:the|of|and|is|are|was|were|with|your|you|this|that|not|from|have|has|will|can|when|which|by|to|all|charge|charges|payment|payments|refund|refunds|payout|payouts|settings|delete|edit|amount|wallet|dispute|balance|fee|fees|key|keys|order|customer|expired|paid|failed|pending)\b/i;
/** A name of the code: `snake_case` or `camelCase`. Words of the trade with a capital inside are none. */
export const IDENTIFIER = /\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z][a-zA-Z]*\b/;

/** Names that programs exchange: of a key, an event, or a path of the API. */
const OF_THE_API = /\bak_[\w-]+|\b[a-z_]+\.[a-z_]+\b|\/v1\/\S+/g;

const WORDS_ON_TWO_LINES = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.checkVisibility({ visibilityProperty: true }) || parent.closest('pre, .hidden')) continue;
    for (const { 0: word, index } of node.textContent.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = [...range.getClientRects()].filter(({ width }) => width > 1).map(({ bottom }) => bottom);
      if (Math.max(...lines) - Math.min(...lines) > 4) found.push(word + " in " + node.textContent.trim());
    }
  }
  return found;
})()`;

/** Texts outside `code` and `pre`, which have data of programs. */
const SHOWN_TEXTS = `(() => {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest('code, pre, script, style')) texts.push(node.textContent);
  }
  for (const one of document.querySelectorAll('[aria-label], [placeholder], [title]')) {
    texts.push(one.ariaLabel ?? '', one.getAttribute('placeholder') ?? '', one.title);
  }
  return texts;
})()`;

/** Lists words that the end of a line cuts in two on the current page. @param about place of the page */
export async function brokenWords(page: Page, about: string): Promise<string[]> {
  const words = await page.evaluate<string[]>(WORDS_ON_TWO_LINES);
  return words.map((word) => `${about}: ${word}`);
}

/** Lists texts of the current page with a name of the code or an English word. @param about place of the page */
export async function strayWords(page: Page, about: string): Promise<string[]> {
  const texts = await page.evaluate<string[]>(SHOWN_TEXTS);
  return texts
    .map((text) => text.replace(OF_THE_API, ''))
    .filter((text) => ENGLISH.test(text) || IDENTIFIER.test(text))
    .map((text) => `${about}: ${text.trim()}`);
}
