const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** More levels than any message of API Pix has. */
const MAX_DEPTH = 20;

/** Whether JSON has at most `maxValues` values and few levels. Counts before parsing; texts are skipped. */
export function isShallow(json: string, maxValues: number): boolean {
  let [depth, values, isText] = [0, 0, false];
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (isText) {
      if (unit === BACKSLASH) at += 1;
      else if (unit === QUOTE) isText = false;
    } else if (unit === QUOTE) isText = true;
    else if (OPENING.has(unit)) depth += 1;
    else if (CLOSING.has(unit)) depth -= 1;
    else if (unit === COMMA) values += 1;
    if (depth > MAX_DEPTH || values > maxValues) return false;
  }
  return true;
}
