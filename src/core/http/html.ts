/** Text that is markup already. Only `markup` and `trusted` make one, so that nothing reaches a page unescaped. */
export class Html {
  constructor(readonly text: string) {}
}

export type HtmlValue = Html | string | number | null | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Safe as text and inside a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/**
 * A template whose values are escaped unless they are markup themselves: forgetting to escape cannot happen, only
 * `trusted` opts out. Not called `html`, or Prettier would move whitespace that inline text and its CSP hash depend on.
 * null is nothing, so that `condition ? markup`…` : null` leaves no word behind.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.map((literal, index) => literal + render(values[index] ?? null)).join(''));
}

/** Marks this module's own constants (stylesheet, script, icons) as HTML; never a value from outside. */
export function trusted(text: string): Html {
  return new Html(text);
}

function render(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return value.map((item) => item.text).join('');
}
