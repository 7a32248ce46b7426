import { MAX_DETAILS, type Violation } from '../errors/index.js';
import { numberEnd, startsNumber, stringEnd } from '../json-text.js';

const MAX_DEPTH = 20;
/** Largest number of objects, lists, texts, numbers and so on. Each costs the service more than its bytes do. */
const MAX_VALUES = 5_000;

/** Number of mistakes at which the scan ends: finding more would cost more than the rest of the request. */
const MAX_FOUND = 1_000;

const SEVERAL = { code: 'duplicate_key', message: 'is given more than once in its object' };
/** Advice on an inexact number. For fields that are numbers, `readDraft` uses the field's own rule instead. */
export const INEXACT = { code: 'inexact_number', message: 'has more digits than a number keeps; send it as a text' };
const UNSTORABLE = { code: 'invalid_characters', message: 'has NUL or broken Unicode characters' };
const FORBIDDEN = { code: 'invalid_key', message: 'is not an acceptable key' };
const TOO_DEEP = { code: 'too_deep', message: `is nested deeper than ${MAX_DEPTH} levels` };
const TOO_MANY = { code: 'too_many_values', message: `is more than the ${MAX_VALUES} values that a body may have` };

/** Faults found in a request: as many as one answer lists, and the number of the others. */
export class Found {
  readonly named: Violation[] = [];
  unnamed = 0;
  /** True if a key was found that must not be put on any object. */
  hasForbiddenKey = false;

  /** @param param makes the path, which only a listed violation needs */
  add(param: () => string, what: Omit<Violation, 'param'>): void {
    this.hasForbiddenKey ||= what.code === FORBIDDEN.code;
    if (this.named.length < MAX_DETAILS) this.named.push({ param: param().slice(0, 200), ...what });
    else this.unnamed++;
  }
}

export interface JsonScan {
  readonly found: Found;
  /**
   * True for too much depth, too many values or mistakes: the rest of the text was not scanned, and it must not be
   * parsed.
   */
  readonly isExcessive: boolean;
  /** Number of texts, numbers, literals, objects and lists found. */
  readonly values: number;
}

/**
 * Finds content that no body may have, whatever its fields: text that PostgreSQL cannot store (NUL, lone surrogates),
 * and keys with a meaning in JavaScript. Finds parts that parsers silently drop, such as a key's earlier values or
 * digits of a number. Finds more depth or values than any valid body has.
 *
 * Reads each character of the text once, without recursion; a parsed body would have lost some of the faults. Only the
 * parser decides whether the text is JSON at all.
 */
export function scanJson(text: string): JsonScan {
  return new Scanner(text).run();
}

interface Level {
  /** The keys of an object so far; null in a list. */
  readonly keys: Set<string> | null;
  /** The last key of an object, or the number of commas in a list. */
  at: string | number;
  isKeyNext: boolean;
}

class Scanner {
  readonly #found = new Found();
  readonly #levels: Level[] = [];
  #values = 0;

  constructor(readonly text: string) {}

  run(): JsonScan {
    const { text } = this;
    let at = 0;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      const level = this.#levels.at(-1);
      if (code === 0x22) {
        const end = stringEnd(text, at);
        if (level?.isKeyNext === true) this.#key(level, text.slice(at + 1, end - 1));
        else {
          this.#values++;
          this.#text(text.slice(at, end));
        }
        at = end;
      } else if (startsNumber(code)) {
        const end = numberEnd(text, at);
        this.#values++;
        if (!isExact(text.slice(at, end))) this.#add(INEXACT);
        at = end;
      } else {
        if (code === 0x7b || code === 0x5b) {
          this.#values++;
          if (this.#levels.length === MAX_DEPTH) return this.#stop(TOO_DEEP);
          const isObject = code === 0x7b;
          this.#levels.push({ keys: isObject ? new Set() : null, at: isObject ? '' : 0, isKeyNext: isObject });
        } else if (code === 0x7d || code === 0x5d) {
          this.#levels.pop();
        } else if (code === 0x2c && level) {
          if (level.keys) level.isKeyNext = true;
          else level.at = Number(level.at) + 1;
        } else if (code === 0x74 || code === 0x66 || code === 0x6e) {
          this.#values++; // true, false, null: none of them has one of these letters twice
        }
        at++;
      }
      if (this.#values > MAX_VALUES) return this.#stop(TOO_MANY);
      if (this.#found.unnamed > MAX_FOUND) return { found: this.#found, isExcessive: true, values: this.#values };
    }
    return { found: this.#found, isExcessive: false, values: this.#values };
  }

  #key(level: Level, raw: string): void {
    const isEscaped = raw.includes('\\');
    const key = isEscaped ? unescaped(`"${raw}"`) : raw;
    level.isKeyNext = false;
    level.at = key;
    if ((key === '__proto__' && !this.#isOfMetadata()) || (isEscaped && !isStorable(key))) this.#add(FORBIDDEN);
    if (level.keys?.has(key)) this.#add(SEVERAL);
    else level.keys?.add(key);
  }

  /** Returns whether the key belongs to "metadata" itself, where `parseBody` drops a `__proto__`. */
  #isOfMetadata(): boolean {
    return this.#levels.length === 2 && this.#levels[0]?.at === 'metadata';
  }

  /** Checks escapes only: nothing else can bring NUL or half a pair into a text that was UTF-8. */
  #text(token: string): void {
    if (token.includes('\\u') && !isStorable(unescaped(token))) this.#add(UNSTORABLE);
  }

  #add(what: Omit<Violation, 'param'>): void {
    this.#found.add(() => this.#levels.map((level) => printable(String(level.at))).join('.'), what);
  }

  /** Ends the scan with this violation alone: earlier ones are in a body that is not read. */
  #stop(what: Omit<Violation, 'param'>): JsonScan {
    const found = new Found();
    found.add(() => this.#levels.map((level) => printable(String(level.at))).join('.'), what);
    return { found, isExcessive: true, values: this.#values };
  }
}

/**
 * Scans a query, whose values are texts, lists of texts or objects of both. The length of an address bounds its size.
 */
export function scanQuery(query: object, found = new Found()): Found {
  for (const [key, value] of Object.entries(query) as [string, unknown][]) {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) scanQuery(value, found);
    if (key === '__proto__' || !isStorable(key)) found.add(() => printable(key), FORBIDDEN);
    else if (![value].flat().every((text) => isStorable(String(text)))) found.add(() => printable(key), UNSTORABLE);
  }
  return found;
}

/** Returns a copy without broken characters, on which some rules, such as that of e-mail addresses, would throw. */
export function mended(value: object): object {
  return mend(value) as object;
}

function mend(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\u0000', '\ufffd');
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(mend);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mend(inner)]));
}

function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Returns the text that a token means; for invalid JSON, which the parser refuses, the token itself. */
function unescaped(token: string): string {
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}

/**
 * Returns whether a number survives parsing: always up to 15 digits, longer ones only if they are written back alike.
 */
function isExact(token: string): boolean {
  const hasExponent = token.includes('e') || token.includes('E');
  if (token.length <= 15 && !hasExponent) return true;
  const value = Number(token);
  if (String(value) === token) return true;
  return Number.isFinite(value) && decimal(token) === decimal(String(value));
}

/** Normalises a number: 15, 1.5E1 and 015.000 all become `15e2`, the significant digits and the place of the point. */
function decimal(token: string): string {
  const first = token.startsWith('-') ? 1 : 0;
  const e = Math.max(token.indexOf('e'), token.indexOf('E'));
  const last = e < 0 ? token.length : e;
  const dot = token.indexOf('.');
  const point = dot < 0 ? last : dot;
  const digits = dot < 0 ? token.slice(first, last) : token.slice(first, dot) + token.slice(dot + 1, last);
  let start = 0;
  let end = digits.length;
  while (digits.charCodeAt(start) === 0x30) start++;
  while (end > start && digits.charCodeAt(end - 1) === 0x30) end--;
  if (start === end) return '0';
  return `${digits.slice(start, end)}e${point - first - start + (e < 0 ? 0 : Number(token.slice(e + 1)))}`;
}

/** Shortens keys that are echoed in errors, and removes characters that would break a log or a terminal. */
function printable(key: string): string {
  return key
    .slice(0, 64)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '?');
}
