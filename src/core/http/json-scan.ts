import type { Violation } from '../errors/index.js';

const MAX_DEPTH = 20;

/**
 * What no body of ours may contain, whatever its fields: text that PostgreSQL cannot keep (NUL, lone surrogates),
 * keys that JavaScript gives a meaning to, nesting that is an attack. The first violation of each kind of place is
 * enough to refuse, but all are listed.
 */
export function scanJson(value: unknown): Violation[] {
  const violations: Violation[] = [];
  visit(value, '', 0, violations);
  return violations;
}

function visit(value: unknown, path: string, depth: number, violations: Violation[]): void {
  if (violations.length >= 50) return;
  if (typeof value === 'string') {
    if (!isStorable(value)) {
      violations.push({ param: path, code: 'invalid_characters', message: 'has NUL or broken Unicode characters' });
    }
    return;
  }
  if (value === null || typeof value !== 'object') return;
  if (depth >= MAX_DEPTH) {
    violations.push({ param: path, code: 'too_deep', message: `is nested deeper than ${MAX_DEPTH} levels` });
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? printable(key) : `${path}.${printable(key)}`;
    if (key === '__proto__' || !isStorable(key)) {
      violations.push({ param: at, code: 'invalid_key', message: 'is not an acceptable key' });
    } else {
      visit(inner, at, depth + 1, violations);
    }
  }
}

/** A copy whose text can be asked about: of a broken one some rules, such as that of e-mail addresses, throw. */
export function mended(value: object): object {
  return mend(value, 0) as object;
}

function mend(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\u0000', '\ufffd');
  if (value === null || typeof value !== 'object' || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((inner) => mend(inner, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mend(inner, depth + 1)]));
}

function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Keys are echoed in errors: cut, and without what would break a log or a terminal. */
function printable(key: string): string {
  return key
    .toWellFormed()
    .replace(/\p{Cc}/gu, '?')
    .slice(0, 64);
}
