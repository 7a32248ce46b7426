/** Small, because a payer's phone loads the logo with the checkout page. */
export const MAX_LOGO_BYTES = 16 * 1024;
/** Least contrast of a button against the page around it: WCAG 2.2, 1.4.11. */
const CONTRAST = 3;

/** Kinds of pictures by their first bytes. In a WebP file the length of the file precedes the name. */
const PICTURES = [
  { type: 'image/png', at: 0, bytes: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') },
  { type: 'image/jpeg', at: 0, bytes: Buffer.from([0xff, 0xd8, 0xff]) },
  { type: 'image/webp', at: 8, bytes: Buffer.from('WEBP', 'latin1') },
];

const DATA_URL = /^data:(?<type>image\/(?:png|jpeg|webp));base64,(?<base64>[A-Za-z0-9+/]+={0,2})$/;

export interface Picture {
  readonly type: string;
  readonly bytes: Buffer;
}

/** @returns null for what is no `data:` URL of a picture */
export function readPicture(url: string): Picture | null {
  const { type, base64 } = DATA_URL.exec(url)?.groups ?? {};
  return type === undefined || base64 === undefined ? null : { type, bytes: Buffer.from(base64, 'base64') };
}

/**
 * Returns whether the bytes of a `data:` URL are a picture of the type in the URL. SVG is refused, because it can hold
 * scripts.
 */
export function isPicture(url: string, maxBytes: number): boolean {
  if (url.length > maxBytes * 2) return false;
  const picture = readPicture(url);
  if (!picture || picture.bytes.length > maxBytes) return false;
  const { type, bytes } = picture;
  return PICTURES.some(
    (known) => known.type === type && bytes.subarray(known.at, known.at + known.bytes.length).equals(known.bytes),
  );
}

/** WCAG 2.2, "relative luminance". @param colour as `#0b6b60` */
function luminance(colour: string): number {
  const channels = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const [red = 0, green = 0, blue = 0] = channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function isAccent(colour: string): boolean {
  return /^#[0-9a-f]{6}$/i.test(colour) && 1.05 / (luminance(colour) + 0.05) >= CONTRAST;
}

/** Returns black or white, whichever is easier to read on the colour. The contrast is at least 4.5:1. */
export function textOn(colour: string): '#000' | '#fff' {
  const light = luminance(colour);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? '#fff' : '#000';
}
