import { withoutEnd } from '../core/text.js';

/** Path separators, what shells and file systems read in their own way, and characters that turn text around. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}"*/:<>?\\|%]/gu;
const MAX_LENGTH = 100;

/**
 * A user's name for a file as one that can be saved: no path, no control or invisible characters, no leading dots;
 * the extension stays when a long name is cut. `download` when nothing is left.
 */
export function safeFileName(name: string): string {
  const started = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^[\s._]+/, '');
  const safe = withoutEnd(started, (character) => character === '.' || character.trim() === '');
  const characters = [...safe];
  if (characters.length <= MAX_LENGTH) return safe === '' ? 'download' : safe;
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(safe)?.[0] ?? '';
  return characters.slice(0, MAX_LENGTH - extension.length).join('') + extension;
}

/** `Content-Disposition` of a download (RFC 6266): plain ASCII for old readers, the name itself for the others. */
export function attachment(fileName: string): string {
  const safe = safeFileName(fileName);
  const ascii = safe.replace(/[^\x20-\x7e]/g, '_');
  const encoded = encodeURIComponent(safe).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
