import type { Clock } from '../core/clock.js';
import type { Config } from '../core/config/index.js';
import type { SecretBox } from '../core/crypto/index.js';
import { forbidden, notFound } from '../core/errors/index.js';
import type { Download, Upload } from './object-storage.js';

/** A query as Express gives it: a repeated parameter is a list. */
export type LinkQuery = Readonly<Record<string, unknown>>;

/**
 * URLs of our own for the files on our disk. The signature covers all parameters, and whether the URL is for an upload
 * or a download.
 */
export class DiskLinks {
  constructor(
    private readonly config: Pick<Config, 'publicBaseUrl'>,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  upload({ key, contentType, size }: Upload, seconds: number): string {
    const query = { type: contentType, size: String(size), expires: this.#end(seconds) };
    return this.#link('upload', `/storage/uploads/${key}`, query);
  }

  download({ name, contentType, fileName }: Download, seconds: number): string {
    const query = { type: contentType, file_name: fileName, expires: this.#end(seconds) };
    return this.#link('download', `/storage/objects/${name}`, query);
  }

  /**
   * Reads the signed parameters of an upload's URL.
   * @throws ApiError 404 for one that we have not signed; 403 when its time is over
   */
  readUpload(key: string, query: LinkQuery): Upload {
    const { type, size } = this.#read('upload', `/storage/uploads/${key}`, query, ['type', 'size', 'expires']);
    return { key, contentType: type, size: Number(size) };
  }

  /** Reads the URL of a download, as `readUpload` reads that of an upload. */
  readDownload(name: string, query: LinkQuery): Download {
    const read = this.#read('download', `/storage/objects/${name}`, query, ['type', 'file_name', 'expires']);
    return { name, contentType: read.type, fileName: read.file_name };
  }

  #end(seconds: number): string {
    return String(Math.floor(this.clock.now().getTime() / 1000) + seconds);
  }

  #link(purpose: string, path: string, query: Record<string, string>): string {
    const signature = this.secrets.sign(`storage ${purpose}`, signedText(path, query));
    return `${this.config.publicBaseUrl}${path}?${new URLSearchParams({ ...query, signature }).toString()}`;
  }

  #read<K extends string>(
    purpose: string,
    path: string,
    query: LinkQuery,
    names: readonly (K | 'expires')[],
  ): Record<K | 'expires', string> {
    const text = (name: string): string => (typeof query[name] === 'string' ? query[name] : '');
    const values = Object.fromEntries(names.map((name) => [name, text(name)])) as Record<K | 'expires', string>;
    if (!this.secrets.isSigned(`storage ${purpose}`, signedText(path, values), text('signature'))) {
      throw notFound('file');
    }
    if (this.clock.now().getTime() >= Number(values.expires) * 1000) {
      throw forbidden('This URL has expired; request a new one.');
    }
    return values;
  }
}

/** The signed text. JSON, so that no two URLs have the same text. */
function signedText(path: string, query: Readonly<Record<string, string>>): string {
  return JSON.stringify([path, ...Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
