import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { isSame } from './is-same.js';
import { uniqueBytes } from '../random.js';

/** Prefix of sealed texts; no JSON begins like this. */
const SEALED = 'sealed:';

/**
 * AES-256-GCM for secrets at rest, and signatures of values that we hand out ourselves. Stored form: 1 byte length of
 * the key id, key id, 12 bytes nonce, 16 bytes tag, ciphertext. The key id lets keys be rotated: the first key of
 * ENCRYPTION_KEY seals and signs. Every listed key opens values and verifies signatures.
 */
export class SecretBox {
  readonly #keys = new Map<string, Buffer>();
  readonly #current: string;
  /** Keys of the hashes, by key id and purpose. */
  readonly #macKeys = new Map<string, Buffer>();

  /** @param keys `<64 hex>` (key id "1") or `id:<64 hex>,id:<64 hex>…` */
  constructor(keys: string) {
    const pairs = keys.split(',').map((entry): [string, string] => {
      const at = entry.indexOf(':');
      return at < 0 ? ['1', entry] : [entry.slice(0, at), entry.slice(at + 1)];
    });
    for (const [id, hex] of pairs) this.#keys.set(id, Buffer.from(hex, 'hex'));
    this.#current = pairs[0]?.[0] ?? '1';
  }

  /** The ids of all keys, the first one's first. */
  get keyIds(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** Beginning of all values sealed under the first key, and of no others. */
  get prefix(): Buffer {
    return Buffer.from(`${String.fromCharCode(this.#current.length)}${this.#current}`, 'latin1');
  }

  /**
   * @param context bound to the ciphertext (for example `endpoint:<id>`), so a sealed value cannot be moved to another
   *   row
   */
  seal(plain: string, context: string, keyId = this.#current): Buffer {
    const id = Buffer.from(keyId, 'latin1');
    const nonce = uniqueBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key(keyId), nonce);
    cipher.setAAD(Buffer.from(context, 'utf8'));
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([id.length]), id, nonce, cipher.getAuthTag(), sealed]);
  }

  /** Beginning of texts that `sealText` sealed under the first key. */
  get textPrefix(): string {
    return `${SEALED}${this.#current}:`;
  }

  /** Seals like `seal`, for columns of text: `sealed:<key id>:<base64>`. */
  sealText(plain: string, context: string): string {
    return `${this.textPrefix}${this.seal(plain, context).toString('base64')}`;
  }

  /** Opens a text of `sealText`; returns text from before the column was sealed unchanged. @throws Error as `open` */
  openText(text: string, context: string): string {
    if (!text.startsWith(SEALED)) return text;
    return this.open(Buffer.from(text.slice(text.lastIndexOf(':') + 1), 'base64'), context);
  }

  /** Whether the key that sealed a value is among the keys. */
  hasKeyOf(box: Buffer): boolean {
    return this.#keys.has(keyIdOf(box));
  }

  /** @throws Error when the key id is unknown, the value was altered, or it was sealed for another context */
  open(box: Buffer, context: string): string {
    const keyId = keyIdOf(box);
    const at = 1 + keyId.length;
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.#key(keyId),
      box.subarray(at, at + 12),
      // Without this length, a tag cut to 4 bytes is accepted, which can be guessed.
      { authTagLength: 16 },
    );
    decipher.setAAD(Buffer.from(context, 'utf8'));
    decipher.setAuthTag(box.subarray(at + 12, at + 28));
    return Buffer.concat([decipher.update(box.subarray(at + 28)), decipher.final()]).toString('utf8');
  }

  /**
   * Returns a stand-in for a text that others must not learn, even by trying all possible texts (such as tax ids).
   * HMAC-SHA-256 under a key of its own for each purpose. When another key becomes the first, the result changes: use
   * it for short-lived data only.
   * @param purpose one of a few names in the code
   */
  mac(purpose: string, text: string): Buffer {
    return this.#mac(this.#current, purpose, text);
  }

  /**
   * Returns a signature (base64url) that only this service can make.
   * @param purpose as in `mac`: a signature for one purpose is invalid for another
   */
  sign(purpose: string, text: string): string {
    return this.mac(purpose, text).toString('base64url');
  }

  /**
   * Returns whether `sign` made the signature for this purpose and text, under any of the keys. Compares texts: several
   * base64url spellings stand for the same bytes, and only one of them was made.
   */
  isSigned(purpose: string, text: string, signature: string): boolean {
    return [...this.#keys.keys()].some((id) => isSame(this.#mac(id, purpose, text).toString('base64url'), signature));
  }

  #mac(id: string, purpose: string, text: string): Buffer {
    const name = `${id} ${purpose}`;
    let key = this.#macKeys.get(name);
    if (!key) {
      // The keys themselves encrypt, and a key must have one use only.
      key = Buffer.from(hkdfSync('sha256', this.#key(id), '', `recebe mac ${purpose}`, 32));
      this.#macKeys.set(name, key);
    }
    return createHmac('sha256', key).update(text, 'utf8').digest();
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id);
    if (!key) throw new Error(`ENCRYPTION_KEY has no key with the id "${id}"`);
    return key;
  }
}

function keyIdOf(box: Buffer): string {
  return box.subarray(1, 1 + (box[0] ?? 0)).toString('latin1');
}
