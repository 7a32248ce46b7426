/**
 * The text without what it ends with, as far as `isDropped` goes. A regular expression such as /\/+$/ is tried again at
 * every character: in a long run of slashes that is followed by anything else, its time grows with the square.
 */
export function withoutEnd(text: string, isDropped: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isDropped(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

export function withoutTrailingSlashes(url: string): string {
  return withoutEnd(url, (character) => character === '/');
}
