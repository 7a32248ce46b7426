/**
 * Returns the text without its trailing characters that `isDropped` accepts. A regular expression such as /\/+$/ is
 * tried again at every character: in a long run of slashes followed by anything else, its time grows with the square.
 */
export function withoutEnd(text: string, isDropped: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isDropped(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Limit above the UTF-16 units of any letter or emoji; a longer run of marks is none. */
const MAX_GRAPHEME = 64;
const GRAPHEMES = new Intl.Segmenter('pt-BR', { granularity: 'grapheme' });

/** Cuts the text between two characters, to at most `max` UTF-16 units; never leaves half a character. */
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
 * Matches an invisible code point: blanks, controls, marks of direction and width, fillers, the empty braille cell.
 * Unassigned code points do not count: a later Unicode may make them emoji.
 */
const INVISIBLE = /^[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]$/u;

/**
 * Controls, including line breaks, and marks that turn the direction of the following text: `gpj.exe` would be read as
 * `exe.jpg`.
 */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/u;

/** Returns whether a text has characters that change how the text around it is read, in headers, mails and lists. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

/** Puts the text on one line, read in one direction: a stranger's words cannot pose as a line of ours. */
export function withoutControls(text: string): string {
  return text.split(CONTROL).join(' ');
}

/** Addresses that mail programs turn into links. */
const LINK = /(?:[a-z]{2,10}:\/\/|www\.)\S*/giu;

/**
 * A domain with a path, from its last dot on, becomes a link too. Separate from LINK: each of the two alone takes
 * linear time.
 */
const PATH = /\.\p{L}[\p{L}\d-]{1,23}(?::\d{1,5})?\/\S*/gu;

/** Makes a stranger's words safe in a mail: on one line, read in one direction, without links. */
export function plainWords(text: string): string {
  return withoutControls(text).replaceAll(LINK, '…').replaceAll(PATH, '…');
}

const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Removes marks that turn the direction of the following text. */
export function withoutTurns(text: string): string {
  return text.replaceAll(TURNS, '');
}

/** Counts the characters from the first to the last visible one; an emoji is one. */
export function visibleLength(text: string): number {
  const characters = [...text];
  const isVisible = (character: string): boolean => !INVISIBLE.test(character);
  const first = characters.findIndex(isVisible);
  return first < 0 ? 0 : characters.findLastIndex(isVisible) - first + 1;
}
