/**
 * The text without what it ends with, as far as `isDropped` goes. A regular expression such as /\/+$/ is tried again at
 * every character: in a long run of slashes that is followed by anything else, its time grows with the square.
 */
export function withoutEnd(text: string, isDropped: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isDropped(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** No letter or emoji has more UTF-16 units; a longer run of marks is none. */
const MAX_GRAPHEME = 64;
const GRAPHEMES = new Intl.Segmenter('pt-BR', { granularity: 'grapheme' });

/** The text, cut between two characters so that it has at most `max` UTF-16 units; without halves of characters. */
export function cutText(text: string, max: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= max) return whole;
  const { index = max } = GRAPHEMES.segment(whole.slice(0, max + MAX_GRAPHEME)).containing(max) ?? {};
  return whole.slice(0, index).toWellFormed();
}

export function withoutTrailingSlashes(url: string): string {
  return withoutEnd(url, (character) => character === '/');
}

/**
 * A code point that shows nothing: blanks, controls, marks of direction and width, fillers, the empty braille cell.
 * Unassigned ones do not count: a later Unicode may make them emoji.
 */
const INVISIBLE = /^[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]$/u;

/** Controls, line breaks among them, and marks that turn the direction of what follows: `gpj.exe` would be read as `exe.jpg`. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/u;

/** Whether a text that stands in headers, mails and lists has characters that change how the rest is read. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

/** The text on one line, read in one direction: where others' words stand among ours, they cannot pose as a line of ours. */
export function withoutControls(text: string): string {
  return text.split(CONTROL).join(' ');
}

/** Addresses, of which mail programs make links. */
const LINK = /(?:[a-z]{2,10}:\/\/|www\.)\S*/giu;

/** So is a domain with a path, here from its last dot on. Not in LINK: each of the two alone takes linear time. */
const PATH = /\.\p{L}[\p{L}\d-]{1,23}(?::\d{1,5})?\/\S*/gu;

/** Others' words as they stand among ours in a mail: on one line, read in one direction, and leading nowhere. */
export function plainWords(text: string): string {
  return withoutControls(text).replaceAll(LINK, '…').replaceAll(PATH, '…');
}

const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The text without marks that turn the direction of what follows. */
export function withoutTurns(text: string): string {
  return text.replaceAll(TURNS, '');
}

/** How many characters there are from the first to the last that can be seen; an emoji is one. */
export function visibleLength(text: string): number {
  const characters = [...text];
  const isVisible = (character: string): boolean => !INVISIBLE.test(character);
  const first = characters.findIndex(isVisible);
  return first < 0 ? 0 : characters.findLastIndex(isVisible) - first + 1;
}
