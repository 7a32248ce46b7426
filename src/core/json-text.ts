/**
 * Functions that find the ends of tokens in a JSON text. Callers send these texts, so regular expressions are too
 * risky: here each character is read once, whatever the text contains. In invalid JSON they find some end, which is
 * enough.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** @param start index of the opening quote @returns the index behind the closing quote; the text's end without one */
export function stringEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return json.length;
}

/** Whether a number begins with this character. */
export function startsNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

export function numberEnd(json: string, start: number): number {
  let at = start + 1;
  // Digits, `+`, `-`, `.`, `e` and `E`.
  for (; at < json.length; at++) {
    const code = json.charCodeAt(at);
    const belongs = startsNumber(code) || code === 0x2b || code === 0x2e || code === 0x45 || code === 0x65;
    if (!belongs) break;
  }
  return at;
}

export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

export function blanksEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && isBlank(json.charCodeAt(at))) at++;
  return at;
}
