import { canonicalJson } from '../../core/crypto/index.js';
import { blanksEnd, isBlank, numberEnd, startsNumber, stringEnd } from '../../core/json-text.js';

/**
 * Differences between the received and the sent body. All but the last two come from parsers, frameworks and editors.
 */
export const BODY_DIFFERENCES = [
  'byte_order_mark',
  'trailing_newline',
  'whitespace',
  'key_order',
  'unicode_escapes',
  'slash_escapes',
  'number_format',
  'charset',
  'truncated',
  'content',
] as const;

export type BodyDifference = (typeof BODY_DIFFERENCES)[number];

/** Whether two texts are the same JSON, whatever its spelling and the order of its keys. */
export function isSameJson(a: string, b: string): boolean {
  const left = written(a, canonicalJson);
  return left !== null && left === written(b, canonicalJson);
}

/** JSON as this service writes it: no white space, no needless escapes. Null when the text is not JSON. */
export function compactJson(text: string): string | null {
  return written(text, JSON.stringify);
}

/** The UTF-8 of a text whose bytes were read as Latin-1, as in `JoÃ£o`. */
export function readAsUtf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

/** @param sent as this service wrote it, which is compact JSON */
export function bodyDifferences(sent: string, given: string): BodyDifference[] {
  if (given === sent) return [];
  if (!isSameJson(sent, given)) {
    if (readAsUtf8(given) === sent) return ['charset'];
    if (given.length < sent.length && sent.startsWith(given)) return ['truncated'];
    return ['content'];
  }
  const body = withoutMark(given);
  const tokens = tokensOf(body.trimEnd());
  const tail = body.slice(body.trimEnd().length);
  const texts = tokens.filter((token) => token.startsWith('"') && token !== JSON.stringify(JSON.parse(token)));
  const found: Record<BodyDifference, boolean> = {
    byte_order_mark: body !== given,
    trailing_newline: /[\r\n]/.test(tail),
    whitespace: tokens.some((token) => /^\s/.test(token)) || /[ \t]$/.test(tail),
    key_order: compactJson(given) !== sent,
    unicode_escapes: texts.some((token) => /\\u[0-9a-fA-F]{4}/.test(token)),
    slash_escapes: texts.some((token) => token.includes('\\/')),
    number_format: tokens.some((token) => /^[-\d]/.test(token) && token !== JSON.stringify(JSON.parse(token))),
    charset: false,
    truncated: false,
    content: false,
  };
  const names = BODY_DIFFERENCES.filter((name) => found[name]);
  return names.length > 0 ? names : ['content'];
}

function written(text: string, write: (value: unknown) => string): string | null {
  try {
    return write(JSON.parse(withoutMark(text)));
  } catch {
    return null; // no JSON, or nested so deep that the stack ends
  }
}

/** Strings, numbers and white space of a text that is JSON. */
function tokensOf(json: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    const endOf = code === 0x22 ? stringEnd : startsNumber(code) ? numberEnd : isBlank(code) ? blanksEnd : null;
    const end = endOf === null ? at + 1 : endOf(json, at);
    if (endOf !== null) tokens.push(json.slice(at, end));
    at = end;
  }
  return tokens;
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
