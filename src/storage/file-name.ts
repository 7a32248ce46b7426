import { withoutEnd } from '../core/text.js';

/** Path separators, characters with a meaning for shells and file systems, and characters that turn text around. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}"*/:<>?\\|%]/gu;
const MAX_LENGTH = 100;
/** Names that Windows keeps for devices, with any extension and with blanks before it. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)\d)\s*(?:\.|$)/i;

/**
 * Turns a user's file name into one that can be saved: no path, no device, no invisible characters, no leading dots. A
 * long name is cut before its extension. `download` when nothing is left.
 */
export function safeFileName(name: string): string {
  const started = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^[\s._]+/, '');
  const ended = withoutEnd(started, (character) => character === '.' || character.trim() === '');
  // Windows treats superscript digits and wide letters as the plain ones.
  const safe = DEVICE.test(ended.normalize('NFKC')) ? `_${ended}` : ended;
  const characters = [...safe];
  if (characters.length <= MAX_LENGTH) return safe === '' ? 'download' : safe;
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(safe)?.[0] ?? '';
  return characters.slice(0, MAX_LENGTH - extension.length).join('') + extension;
}

/**
 * A user's file name with the one extension of its proven type: `receipt.hta.png` of a PDF becomes
 * `receipt_hta_png.pdf`.
 * @param extensions of the type; the first one is added if the name has none of them
 */
export function fileNameOfType(name: string, extensions: readonly [string, ...string[]]): string {
  const safe = safeFileName(name);
  const own = extensions.find((extension) => safe.toLowerCase().endsWith(`.${extension}`));
  const stem = (own === undefined ? safe : safe.slice(0, -own.length - 1)).replaceAll('.', '_');
  const extension = own ?? extensions[0];
  const start = [...stem].slice(0, MAX_LENGTH - extension.length - 1).join('');
  return safeFileName(`${start.trimEnd()}.${extension}`);
}

/** `Content-Disposition` of a download (RFC 6266): plain ASCII for old clients, the name itself for the others. */
export function attachment(fileName: string): string {
  const safe = safeFileName(fileName);
  const ascii = safe.replace(/[^\x20-\x7e]/g, '_');
  const encoded = encodeURIComponent(safe).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
